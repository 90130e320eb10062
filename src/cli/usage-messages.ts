import { counted, cut, oneLine, QUOTE_LIMIT } from '../kernel/text.ts'

export const USAGE_TEXT = {
  missingCommand: (help: string): string => `Missing command: \`${help}\` lists the commands.`,
  missingOption: (option: string, help: string): string => `Missing option ${option}. See \`${help}\`.`,
  parserSays: (says: string, help: string): string =>
    `${says.charAt(0).toUpperCase()}${says.slice(1).replace(/[.]$/, '')}. See \`${help}\`.`,
  meantOption: (word: string, option: string): string =>
    `Task "${oneLine(word, QUOTE_LIMIT)}" does not exist: did you mean ${option}?`,
  didYouMean: (names: readonly string[]): string =>
    `(Did you mean ${names.length > 1 ? `one of ${names.join(', ')}` : names[0]}?)`,
  mainHasNoType:
    'Give --agent main or --agent-type, not both: only sub-agents have a type, so such a marker would block no stop.',
  hookAlone: 'Start the hook as `postflight hook`, without another command.',
} as const

/** The middle of `--option …, not "value".` */
export const OPTION_EXPECTATIONS = {
  oneLine: 'must be one line of text',
  atMostCharacters: (limit: number): string => `must have at most ${limit} characters`,
  atMostTimes: (limit: number): string => `can be given at most ${limit} times`,
  roomForChecks: (present: number, limit: number): string =>
    `can add at most ${counted(limit - present, 'check')} to this marker, which has ${present} (the limit is ${limit})`,
  oneOf: (names: readonly string[]): string => `must be one of ${names.join(', ')}`,
  wholeNumber: 'takes a whole number',
  remote: 'takes the name of a git remote (write the task before it)',
  stepNumber: 'takes the number of a step, from 1',
  seconds: (largest: number): string => `takes a number of seconds from 1 to ${largest}`,
  failures: (names: readonly string[]): string => `takes PHASE:COUNT or PHASE/STEP:COUNT (${among(names)})`,
  phaseCase: (names: readonly string[]): string => `takes PHASE=CASE (${among(names)})`,
  phaseSteps: (names: readonly string[], limit: number): string =>
    `takes PHASE=COUNT with at most ${limit} steps (${among(names)})`,
  input: 'takes NAME=VALUE, with the name of an input of the workflow',
  stepCheck: 'takes NAME=COMMAND, with the name of a step of the checklist',
} as const

function among(names: readonly string[]): string {
  return names.length === 0 ? 'this workflow has no such phase' : cut(names.join(', '), 500)
}
