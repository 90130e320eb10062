import fc from 'fast-check'

/** `FC_SEED=1` makes property tests repeat themselves: coverage is then a figure, not a draw. */
const seed = process.env.FC_SEED
if (seed !== undefined && seed !== '') fc.configureGlobal({ seed: Number(seed) })
