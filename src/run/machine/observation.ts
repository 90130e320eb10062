import type { ChecklistItem, Step } from '../definition/steps.ts'

/** The observations of a driver in a task folder, its effects there, and the names in its archive, as data for the machine. */

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

/** The folder of archived step results. */
export const STEP_RESULTS_FOLDER = 'step-results'

/** The folder of artifacts from earlier visits. */
export const ARTIFACTS_FOLDER = 'artifacts'

/** An effect that moves a file to the archive. */
type ArchiveEffect = Exclude<Effect, { kind: 'tick' }>

/** The folder of a visit's step results: the phase's own for the first visit, one level deeper for later ones. */
export function stepFolder(phase: string, visit: number): string {
  return visit <= 1 ? `${STEP_RESULTS_FOLDER}/${phase}` : `${STEP_RESULTS_FOLDER}/${phase}/visit-${visit}`
}

/** The name in the archive of the artifact of a visit. */
export function archivedName(visit: number, artifact: string): string {
  return `${visit}-${artifact.slice(artifact.lastIndexOf('/') + 1)}`
}

/** True for such a name, of any visit. If it was taken, it has a number before its extension. */
export function isArchivedName(name: string, artifact: string): boolean {
  const plain = name.replace(/^\d+-/, '0-')
  return [plain, plain.replace(/\.\d+(?=(?:\.[^.]*)?$)/, '')].includes(archivedName(0, artifact))
}

/** The folder in the task folder, and the name, to which an effect moves its file. If that is taken, it gets a number. */
export function archivePlace(effect: ArchiveEffect): { readonly folder: string; readonly name: string } {
  return effect.kind === 'archive-step'
    ? { folder: stepFolder(effect.phase, effect.visit), name: effect.name }
    : { folder: `${ARTIFACTS_FOLDER}/${effect.phase}`, name: archivedName(effect.visit, effect.artifact) }
}
