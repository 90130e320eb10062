import { STEP_RESULTS_FOLDER } from '../../kernel/files.ts'
import { quote } from '../../kernel/text.ts'
import type { ChecklistItem, Step } from '../definition/steps.ts'
import { visitsOf, type WorkflowState } from './state.ts'

/** A driver's view of a task folder, and its changes there. */

export type ArtifactSeen =
  | { readonly kind: 'absent' }
  /** `changedMs`: undefined if it is not a file. */
  | { readonly kind: 'invalid'; readonly why: string; readonly changedMs?: number | undefined }
  /** Values at the pointers of `next`. */
  | { readonly kind: 'valid'; readonly verdict?: string | undefined; readonly reason?: string | undefined }

export type StepResultSeen =
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly why: string; readonly archived: boolean }
  | { readonly kind: 'result'; readonly success: boolean; readonly summary?: string; readonly archived: boolean }

export type StepsSeen = Readonly<{ kind: 'list'; steps: readonly Step[] } | { kind: 'none'; fix: string }>

export function artifactFault(seen: Exclude<ArtifactSeen, { kind: 'valid' }>, artifact: string): string {
  return seen.kind === 'invalid' ? seen.why : `${quote(artifact)} is missing`
}

export function noStepsFile(name: string): StepsSeen {
  return { kind: 'none', fix: `${quote(name)}, which lists the steps, is missing: create it` }
}

export interface StopCircumstances {
  readonly nowMs: number
  /** Whether the prompt's agent has stopped: then a missing result is a failed attempt. */
  readonly returned: boolean
  /**
   * Undefined: takes all results. `passing`: another agent stops, so a failing result may be a draft. `complete`:
   * shells may still write, so an unreadable result may be half-written.
   */
  readonly takes?: 'passing' | 'complete' | undefined
  /** Whether the prompt was interrupted or did not arrive. */
  readonly interrupted?: boolean
  /** The host's id of the prompt whose chain of stops this is. */
  readonly promptId?: string | undefined
  readonly shells?: readonly string[]
  readonly mayPrompt: boolean
}

export interface Observation extends StopCircumstances {
  /** The `<task>` of a command. */
  readonly task: string
  readonly artifact: ArtifactSeen
  /** In the order of the steps in progress (`withBatch`). */
  readonly stepResults: readonly StepResultSeen[]
  readonly strayResults?: readonly string[] | undefined
  /** Undefined if the steps are known. */
  readonly steps: StepsSeen | undefined
  /** Path in the task folder. */
  readonly previousArtifact?: string | undefined
}

export function isTooEarly({ artifact, takes }: Observation): boolean {
  return takes === 'passing' && artifact.kind === 'valid' && artifact.verdict === 'fail'
}

/** A repeatable change on disk, made before the state is written. To archive moves `file` to `folder`. */
export type Effect =
  | Readonly<{ kind: 'archive-step' | 'archive-artifact'; file: string; folder: string; name: string }>
  | Readonly<{ kind: 'tick'; artifact: string; item: ChecklistItem }>

export function stepFolder(state: WorkflowState): string {
  const { phase } = state
  const visit = visitsOf(state, phase)
  return visit <= 1 ? `${STEP_RESULTS_FOLDER}/${phase}` : `${STEP_RESULTS_FOLDER}/${phase}/visit-${visit}`
}

export function archivedName(visit: number, artifact: string): string {
  return `${visit}-${artifact.slice(artifact.lastIndexOf('/') + 1)}`
}

/** Archiving adds a number before the extension if the name is taken. */
export function isArchivedName(name: string, artifact: string): boolean {
  const plain = name.replace(/^\d+-/, '0-')
  return [plain, plain.replace(/\.\d+(?=(?:\.[^.]*)?$)/, '')].includes(archivedName(0, artifact))
}
