import { isOneShot } from './one-shot.ts'

/**
 * Where the user reads a notice. `stderr`: `opencode run` has no screen, and ends before its log is written. `scrollback`:
 * `opencode --mini` shows no toasts, and prints above its prompt what is written to stdout. `toast`: everywhere else, where
 * a terminal interface may be attached (all 1.18.34).
 */
export type Screen = 'stderr' | 'scrollback' | 'toast'

/** The screen of a process with these arguments. */
export function screenOf(argv: readonly string[]): Screen {
  if (isOneShot(argv)) return 'stderr'
  return argv.slice(2).includes('--mini') ? 'scrollback' : 'toast'
}
