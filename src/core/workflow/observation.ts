/** What a driver sees in a task folder, and what it does there, as data for the machine. */

/** The artifact of the current phase. */
export type ArtifactSeen =
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly why: string }
  /** `verdict` is what the pointer of `next` found; undefined where none is asked for. */
  | { readonly kind: 'valid'; readonly verdict?: 'pass' | 'fail' | undefined }

/** The result of the current attempt at the current step. */
export type StepResultSeen =
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly why: string; readonly archived: boolean }
  | { readonly kind: 'result'; readonly success: boolean; readonly summary?: string; readonly archived: boolean }

/** Steps that are taken from an artifact. */
export type StepsSeen =
  | { readonly kind: 'list'; readonly steps: readonly string[] }
  | { readonly kind: 'none'; readonly why: string }

/** What a driver saw, for the phase that the state is in. */
export interface Observation {
  readonly nowMs: number
  readonly artifact: ArtifactSeen
  readonly stepResult: StepResultSeen
  /** Asked for only while the steps are not known. */
  readonly steps: StepsSeen | undefined
  /** True when whoever had the prompt has come back: what is not there now was not done. */
  readonly returned: boolean
  /** True when a prompt may be given out. A driver that only reconciles says false. */
  readonly mayPrompt: boolean
}

/** What a driver does on disk before it writes the state. Each may be done twice. */
export type Effect =
  | { readonly kind: 'archive-step'; readonly phase: string; readonly visit: number; readonly name: string }
  | { readonly kind: 'archive-artifact'; readonly phase: string; readonly visit: number; readonly artifact: string }
