import { shellWord } from './text.ts'

/** How an agent or a person can start the CLI from where they are. */
export interface CommandForm {
  /** Whether `postflight` is found on the PATH. */
  readonly onPath: boolean
  /** The CLI's own file, for where it is not. */
  readonly script: string
}

/**
 * A command line to print: `postflight clear 259_x`, with `--root` where the root would not be found from the agent's
 * folder.
 */
export function commandLine(words: readonly string[], root: string | undefined): string {
  return ['postflight', ...withRoot(words, root)].map(shellWord).join(' ')
}

/** The same through Node and the CLI's own file; undefined where `postflight` is on the PATH. */
export function fallbackLine(
  form: CommandForm,
  words: readonly string[],
  root: string | undefined,
): string | undefined {
  return form.onPath ? undefined : ['node', form.script, ...withRoot(words, root)].map(shellWord).join(' ')
}

function withRoot(words: readonly string[], root: string | undefined): string[] {
  const option = root === undefined ? [] : ['--root', root]
  // A folder may be called -rf.
  const dash = words.findIndex((word) => word.startsWith('-'))
  return dash === -1 ? [...words, ...option] : [...words.slice(0, dash), ...option, '--', ...words.slice(dash)]
}
