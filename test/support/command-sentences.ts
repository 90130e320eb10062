import { COMMAND_SENTENCES } from '../../src/kernel/command-errors.ts'
import { addSentences } from '../../src/kernel/errors.ts'

// As commands and plugins do when they start.
addSentences(COMMAND_SENTENCES)
