import * as z from 'zod/mini'

/** Options of the phase reminder. */
export interface PhaseReminderOptions {
  /** The agents that are reminded (the agent of the conversation that drives a run, whichever it is). */
  readonly agents?: readonly string[] | undefined
  /** The advice after the run's phase, step and artifact. */
  readonly text?: string | undefined
}

export const PHASE_REMINDER: z.ZodMiniType<PhaseReminderOptions> = z.strictObject({
  agents: z.optional(z.array(z.string())),
  text: z.optional(z.string()),
})
