import fc from 'fast-check'

/** For mutants: a property has 150 ms for its runs, and ends with its first counterexample, which is not shrunk. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), interruptAfterTimeLimit: 150, endOnFailure: true })
