import fc from 'fast-check'

/** Limits for mutants: a property has 150 ms, and ends with its first counterexample, which is not shrunk. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), interruptAfterTimeLimit: 150, endOnFailure: true })
