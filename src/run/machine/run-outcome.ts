/** The outcomes of a run. */

export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted'] as const

/** The outcome of a run. */
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** The outcomes after which a run can be resumed. */
const RESUMABLE: readonly (string | undefined)[] = ['stopped', 'stalled', 'failed'] satisfies RunOutcome[]

/** True for an outcome after which a run can be resumed. */
export function isResumableOutcome(outcome: string | undefined): boolean {
  return RESUMABLE.includes(outcome)
}
