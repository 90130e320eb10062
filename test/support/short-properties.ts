import fc from 'fast-check'

/**
 * Limits for mutants: a property has 40 ms, and ends with its first counterexample, which is not shrunk. The seed is fixed, so
 * that a mutant has the same fate in every run.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1, interruptAfterTimeLimit: 40, endOnFailure: true })
