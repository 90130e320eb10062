const ONE_SHOT = ['run', 'github']

/** Their value is the next word (`opencode --help`, 1.18.34). */
const WITH_VALUE = [
  ...['--log-level', '--port', '--hostname', '--mdns-domain', '--cors', '--model', '-m', '--session', '-s'],
  ...['--prompt', '--agent'],
]

/** `opencode run` ends when the main session is first idle (1.18.34). */
export function isOneShot(argv: readonly string[]): boolean {
  const words = argv.slice(2)
  const command = words.find((word, index) => !word.startsWith('-') && !WITH_VALUE.includes(words[index - 1] ?? ''))
  return command !== undefined && ONE_SHOT.includes(command)
}

/**
 * `opencode run` has no screen and ends before its log is written; `opencode --mini` shows no toasts, but prints stdout
 * above its prompt (1.18.34).
 */
export type Screen = 'stderr' | 'scrollback' | 'toast'

export function screenOf(argv: readonly string[]): Screen {
  if (isOneShot(argv)) return 'stderr'
  return argv.slice(2).includes('--mini') ? 'scrollback' : 'toast'
}
