/** Recognizes an OpenCode process that ends as soon as its session is idle. */

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
