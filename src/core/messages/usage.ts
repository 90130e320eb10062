/** What is wrong with a command line. */

/** Whole sentences for errors of usage; `help` is the command that prints the right help text. */
export const USAGE_TEXT = {
  missingCommand: (help: string): string => `Missing command: \`${help}\` lists them.`,
  /** What the parser of the command line says, which begins with a small letter. */
  parserSays: (says: string, help: string): string =>
    `${says.charAt(0).toUpperCase()}${says.slice(1).replace(/[.]$/, '')}. See \`${help}\`.`,
  hookAlone: 'Start the hook as `postflight hook`, without another command.',
} as const

/** What the value of an option must be: the middle of `--option …, not "value".` */
export const OPTION_EXPECTATIONS = {
  oneLine: 'must be one line of text',
  atMostCharacters: (limit: number): string => `must have at most ${limit} characters`,
  atMostTimes: (limit: number): string => `can be given at most ${limit} times`,
  subAgent: 'must name a sub-agent where --agent-type is given',
  wholeNumber: 'takes a whole number',
} as const
