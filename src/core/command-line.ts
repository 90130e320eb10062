import { shellWord } from './text.ts'

/** Commands that are printed for an agent or a person to type. */

/** How an agent or a person can start the CLI from where they are. */
export interface CommandForm {
  /** Whether `postflight` is found on the PATH. */
  readonly onPath: boolean
  /** The CLI's own file, for where it is not. */
  readonly script: string
}

/** Where printed commands will be typed. */
export interface CommandReader {
  /** The root that a command finds there by itself. */
  readonly foundRoot: string | undefined
  /** Searches the PATH, so it is asked only where a fallback may be printed. */
  readonly findForm: () => CommandForm
}

/** The `--root` that a printed command needs; undefined where the reader's folder leads to the root by itself. */
export function rootOptionFor({ foundRoot }: CommandReader, root: string): string | undefined {
  return root === foundRoot ? undefined : root
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
