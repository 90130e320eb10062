import { shellWord } from './text.ts'

/** Command lines that are printed for an agent or a person to type. */

/** The ways to start the CLI from a reader's shell. */
export interface CommandForm {
  /** True if `postflight` is on the PATH. */
  readonly onPath: boolean
  /** True if the reader's project depends on this package, so that npx finds the CLI there. */
  readonly byNpx: boolean
  /** The CLI's own file, for a shell that finds it in neither way. */
  readonly script: string
}

/** The shell in which printed commands will be typed. */
export interface CommandReader {
  /** The root that a command finds there without `--root`. */
  readonly foundRoot: string | undefined
  /** Searches the PATH, so it is called only if a fallback may be printed. */
  readonly findForm: () => CommandForm
}

/** The `--root` that a printed command needs; undefined if the command finds the root without it. */
export function rootOptionFor({ foundRoot }: CommandReader, root: string): string | undefined {
  return root === foundRoot ? undefined : root
}

/** A command line to print: `postflight clear 259_x`, with `--root` if one is given. */
export function commandLine(words: readonly string[], root: string | undefined): string {
  return ['postflight', ...withRoot(words, root)].map(shellWord).join(' ')
}

/** The command that stops a task's run at once. */
export function stopNowLine(task: string, root: string | undefined): string {
  return `${commandLine(['workflow', 'stop', task], root)} --now`
}

/** The same command for a shell without `postflight` on the PATH; undefined if it is there. */
export function fallbackLine(
  { onPath, byNpx, script }: CommandForm,
  words: readonly string[],
  root: string | undefined,
): string | undefined {
  if (onPath) return undefined
  const starts = byNpx ? ['npx', '--no-install', 'postflight'] : ['node', script]
  return [...starts, ...withRoot(words, root)].map(shellWord).join(' ')
}

function withRoot(words: readonly string[], root: string | undefined): string[] {
  const option = root === undefined ? [] : ['--root', root]
  // The name of a folder may begin with a dash.
  const dash = words.findIndex((word) => word.startsWith('-'))
  return dash === -1 ? [...words, ...option] : [...words.slice(0, dash), ...option, '--', ...words.slice(dash)]
}
