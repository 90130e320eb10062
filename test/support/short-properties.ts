import { vi } from 'vitest'

process.env.FUZZ_SEED = '1'

/**
 * Properties for mutants: at most 15 runs of each, always the same ones, without shrinking. A limit in ms would not do: on a
 * busy machine a property would fail without a run, as if it had noticed the mutant.
 */
vi.mock('fast-check', async (importOriginal) => {
  const original = await importOriginal<typeof import('fast-check')>()
  original.configureGlobal({ seed: 1, numRuns: 15, endOnFailure: true })
  const assert = ((property, parameters) =>
    original.assert(property, {
      ...parameters,
      numRuns: Math.min(parameters?.numRuns ?? 15, 15),
    })) as typeof original.assert
  return { ...original, assert, default: { ...original.default, assert } }
})
