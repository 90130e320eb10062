import fc from 'fast-check'

/** `FC_SEED=1` makes property tests repeat themselves, so that coverage does not vary. */
const seed = process.env.FC_SEED
if (seed !== undefined && seed !== '') fc.configureGlobal({ seed: Number(seed) })
