/** What the arguments of an OpenCode process say about it. */

const ONE_SHOT = ['run', 'github']

/** Options that take the next word as their value (`opencode --help`, 1.18.34). */
const WITH_VALUE = [
  ...['--log-level', '--port', '--hostname', '--mdns-domain', '--cors', '--model', '-m', '--session', '-s'],
  ...['--prompt', '--agent'],
]

/**
 * True for `opencode run`: its process ends when the main session is first idle, so a prompt that is sent then is lost
 * (1.18.34). `argv` is the process's.
 */
export function isOneShot(argv: readonly string[]): boolean {
  const words = argv.slice(2)
  const command = words.find((word, index) => !word.startsWith('-') && !WITH_VALUE.includes(words[index - 1] ?? ''))
  return command !== undefined && ONE_SHOT.includes(command)
}

/**
 * Where the user reads a notice. `stderr`: `opencode run` has no screen, and ends before its log is written. `scrollback`:
 * `opencode --mini` shows no toasts, and prints above its prompt what is written to stdout. `toast`: everywhere else, where
 * a terminal interface may be attached (all 1.18.34).
 */
export type Screen = 'stderr' | 'scrollback' | 'toast'

export function screenOf(argv: readonly string[]): Screen {
  if (isOneShot(argv)) return 'stderr'
  return argv.slice(2).includes('--mini') ? 'scrollback' : 'toast'
}
