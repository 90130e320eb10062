import { MAX_INTERRUPTIONS } from '../definition/bound.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'
import type { RunOutcome } from './history.ts'
import { tellsPrevious } from './need.ts'
import type { Effect, Observation } from './observation.ts'
import { isInStep, promptsLeft, stepLine, where } from './position.ts'
import { pauseClock, type WorkflowState, withTransition, workedMs } from './state.ts'
import type { StepInWork } from './state-fields.ts'

/** `observe`: observe and call `advance` again. */
export type Command =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'finish' }
  | { readonly kind: 'observe' }

export interface Advance {
  readonly state: WorkflowState
  readonly command: Command
  readonly effects: readonly Effect[]
}

export function only(state: WorkflowState, kind: Command['kind']): Advance {
  return { state, command: { kind }, effects: [] }
}

export function orWait(state: WorkflowState, given: Advance): Advance {
  return given.command.kind === 'wait' ? only(state, 'wait') : given
}

export function end(state: WorkflowState, outcome: RunOutcome, nowMs: number, why?: string): WorkflowState {
  const detail = why === undefined ? {} : { detail: why }
  const ended = withTransition(
    pauseClock(state, nowMs),
    { event: 'end', phase: state.phase, outcome, ...detail },
    nowMs,
  )
  return { ...ended, active: false, outcome, why, stopRequestedMs: undefined }
}

export interface Asked {
  /** Undefined for the phase's own prompt. */
  readonly steps?: readonly StepInWork[]
  readonly effects?: readonly Effect[]
}

export function prompt(state: WorkflowState, seen: Observation, { steps, effects = [] }: Asked): Advance {
  if (state.stopRequestedMs !== undefined) return only(end(state, 'stopped', seen.nowMs), 'finish')
  if (!seen.mayPrompt) return only(state, 'wait')
  const size = Math.max(1, steps?.length ?? 1)
  const spent = spentBudget(state, size, seen.nowMs)
  if (spent !== undefined) return only(end(state, 'stalled', seen.nowMs, spent), 'finish')
  const previousArtifact = tellsPrevious(state) ? seen.previousArtifact : state.previousArtifact
  const due = { ...state, previousArtifact }
  const asked =
    steps === undefined
      ? withTransition(due, { event: 'prompt', ...where(due) }, seen.nowMs)
      : steps.reduce(
          (one, step) =>
            withTransition(one, { event: 'prompt', ...where(due, step), detail: stepLine(due, step.step) }, seen.nowMs),
          due,
        )
  const numbers = new Set(steps?.map(({ step }) => step))
  const inWork = asked.inWork.map((one) => ({ ...one, out: numbers.has(one.step) }))
  return {
    state: {
      ...{ ...asked, inWork },
      ...{ stage: 'prompted', promptedMs: seen.nowMs, repeats: 0, prompts: state.prompts + size },
      ...{ promptId: seen.promptId, shells: seen.shells ?? [], heardPromptId: undefined },
      approval: undefined,
    },
    command: { kind: 'prompt' },
    effects,
  }
}

function spentBudget(state: WorkflowState, size: number, nowMs: number): string | undefined {
  const { maxPrompts, maxMinutes } = state.definition
  if (maxPrompts !== undefined && size > promptsLeft(state)) {
    return WORKFLOW_TEXT.promptsSpent(state.prompts, size, maxPrompts)
  }
  const isLate = maxMinutes !== undefined && workedMs(state, nowMs) >= maxMinutes * 60_000
  return isLate ? WORKFLOW_TEXT.minutesSpent(maxMinutes) : undefined
}

/** Limited, because it is the same attempt. */
export function goesOutAgain({ interruptions }: WorkflowState, { interrupted }: Observation): boolean {
  return interrupted === true && interruptions < MAX_INTERRUPTIONS
}

export function promptOnceMore(state: WorkflowState, seen: Observation): Advance {
  const again = { ...state, interruptions: state.interruptions + 1 }
  const steps = isInStep(state) ? state.inWork.filter(({ out }) => out) : undefined
  return prompt(again, seen, steps === undefined ? {} : { steps })
}
