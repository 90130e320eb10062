import fc from 'fast-check'
import { COMMAND_SENTENCES } from '../../src/kernel/command-errors.ts'
import { addSentences } from '../../src/kernel/error-messages.ts'

// As commands and plugins do when they start.
addSentences(COMMAND_SENTENCES)

/** `FC_SEED=1` makes property tests repeat themselves, so that coverage does not vary. */
const seed = process.env.FC_SEED
if (seed !== undefined && seed !== '') fc.configureGlobal({ seed: Number(seed) })
