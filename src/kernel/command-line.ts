import { shellWord } from './text.ts'

export interface CommandForm {
  readonly onPath: boolean
  /** Whether npx finds the CLI in the project. */
  readonly byNpx: boolean
  /** Whether only the agent's shell has it on its PATH. */
  readonly byPlugin?: boolean
  readonly script: string
}

export interface CommandReader {
  readonly foundRoot: string | undefined
  /** Searches the PATH, so it is called only if a fallback may be printed. */
  readonly findForm: () => CommandForm
}

export function rootOptionFor({ foundRoot }: CommandReader, root: string): string | undefined {
  return root === foundRoot ? undefined : root
}

export function commandLine(words: readonly string[], root: string | undefined): string {
  return ['postflight', ...withRoot(words, root)].map(shellWord).join(' ')
}

export function resumeSharedLine(run: string, remote: string, root: string | undefined): string {
  return `${commandLine(['workflow', 'resume', run], root)} --shared ${shellWord(remote)}`
}

export function fallbackLine(
  { onPath, byNpx, script }: CommandForm,
  words: readonly string[],
  root: string | undefined,
): string | undefined {
  if (onPath) return undefined
  const starts = byNpx ? ['npx', '--no-install', 'postflight'] : ['node', script]
  return [...starts, ...withRoot(words, root)].map(shellWord).join(' ')
}

export const fallbackNote = (line: string): string => `(where \`postflight\` is not on the PATH: ${line})`

/** For a person, whose terminal has the PATH that the hooks inherit. */
export function personNote({ findForm }: CommandReader, words: readonly string[], root: string | undefined): string {
  const form = findForm()
  const line = fallbackLine({ ...form, onPath: form.onPath && !form.byPlugin }, words, root)
  return line === undefined ? '' : ` ${fallbackNote(line)}`
}

function withRoot(words: readonly string[], root: string | undefined): string[] {
  const option = root === undefined ? [] : ['--root', root]
  // The name of a folder may begin with a dash.
  const dash = words.findIndex((word) => word.startsWith('-'))
  return dash === -1 ? [...words, ...option] : [...words.slice(0, dash), ...option, '--', ...words.slice(dash)]
}
