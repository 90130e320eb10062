import type { ChecklistItem, Step } from '../definition/step.ts'

/** The observations of a driver in a task folder, and its effects there, as data for the machine. */

/** The artifact of the current phase. */
export type ArtifactSeen =
  | { readonly kind: 'absent' }
  /** `changedMs` is the file's last change; undefined if it is not a file. */
  | { readonly kind: 'invalid'; readonly why: string; readonly changedMs?: number | undefined }
  /** `verdict` and `reason` are the values at the pointers of `next`; undefined if the phase has none. */
  | { readonly kind: 'valid'; readonly verdict?: string | undefined; readonly reason?: string | undefined }

/** The result of the current attempt at a step. */
export type StepResultSeen =
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly why: string; readonly archived: boolean }
  | { readonly kind: 'result'; readonly success: boolean; readonly summary?: string; readonly archived: boolean }

/** The steps from an artifact. */
export type StepsSeen =
  | { readonly kind: 'list'; readonly steps: readonly Step[] }
  | { readonly kind: 'none'; readonly why: string }

/** The observation of a driver, for the current phase of a state. */
export interface Observation {
  readonly nowMs: number
  readonly artifact: ArtifactSeen
  /** The results of the steps in progress (`withHandOut`), in their order there. */
  readonly stepResults: readonly StepResultSeen[]
  /** The step results that belong to no step in progress, in a phase with several steps at once. */
  readonly strayResults?: readonly string[] | undefined
  /** Undefined unless the steps are still unknown. */
  readonly steps: StepsSeen | undefined
  /** The archived artifact of the phase's last visit, as a path in the task folder; undefined if there is none. */
  readonly previousArtifact?: string | undefined
  /** True if the agent with the prompt has stopped, so that a missing result counts as a failed attempt. */
  readonly returned: boolean
  /**
   * Which results are taken at this stop; all of them if it is undefined. `passing`: an agent stops that did not get
   * the prompt, so a failing result may be a draft, and is judged when the agent with the prompt comes back.
   * `complete`: the agent with the prompt goes on although shells are running that may still write, so an unreadable
   * result may be half-written.
   */
  readonly takes?: 'passing' | 'complete' | undefined
  /** True if the prompt did not reach the agent, or the user interrupted it: a missing result does not count. */
  readonly interrupted?: boolean
  /** The host's id of the prompt in whose chain of stops a prompt goes out now, and the shells that run there. */
  readonly promptId?: string | undefined
  readonly shells?: readonly string[]
  /** True if a prompt may be given out. It is false for a driver that only reconciles. */
  readonly mayPrompt: boolean
}

/** True for a failing verdict that may be a draft. */
export function isTooEarly({ artifact, takes }: Observation): boolean {
  return takes === 'passing' && artifact.kind === 'valid' && artifact.verdict === 'fail'
}

/** A change on disk before the state is written. Each can be repeated. */
export type Effect =
  | {
      readonly kind: 'archive-step'
      readonly phase: string
      readonly visit: number
      /** The file in the task folder, and its name in the archive. */
      readonly file: string
      readonly name: string
    }
  | { readonly kind: 'archive-artifact'; readonly phase: string; readonly visit: number; readonly artifact: string }
  /** Ticks an item of a checklist. */
  | { readonly kind: 'tick'; readonly artifact: string; readonly item: ChecklistItem }
