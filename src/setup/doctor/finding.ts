/** The findings of `doctor`. */

/** A finding. With `ok` it says what was checked. `fix` is a command, or what to do by hand. */
export interface DoctorFinding {
  readonly check: 'settings' | 'hook' | 'plugin' | 'cli' | 'root' | 'git' | 'marker' | 'done' | 'workflow'
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

/** A finding without a problem. */
export function good(check: DoctorFinding['check'], what: string): DoctorFinding {
  return { check, ok: true, what, fix: null }
}

/** A problem with its fix. */
export function bad(check: DoctorFinding['check'], what: string, fix: string): DoctorFinding {
  return { check, ok: false, what, fix }
}
