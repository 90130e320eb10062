/** The outcomes of a run. */

export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted'] as const

/** How a run ended. */
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** Outcomes from which a run can be taken up again. */
const RESUMABLE: readonly (string | undefined)[] = ['stopped', 'stalled', 'failed'] satisfies RunOutcome[]

/** True for an outcome from which a run can be taken up again. */
export function isResumableOutcome(outcome: string | undefined): boolean {
  return RESUMABLE.includes(outcome)
}
