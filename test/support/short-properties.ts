import fc from 'fast-check'

/**
 * Limits for mutants: a property has 150 ms, and ends with its first counterexample, which is not shrunk. The seed is
 * fixed, so that a mutant has the same result in every run.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1, interruptAfterTimeLimit: 150, endOnFailure: true })
