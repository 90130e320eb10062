export interface DoctorFinding {
  readonly check: 'settings' | 'hook' | 'plugin' | 'cli' | 'root' | 'git' | 'marker' | 'done' | 'workflow'
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

export function good(check: DoctorFinding['check'], what: string): DoctorFinding {
  return { check, ok: true, what, fix: null }
}

export function bad(check: DoctorFinding['check'], what: string, fix: string): DoctorFinding {
  return { check, ok: false, what, fix }
}
