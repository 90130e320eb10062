import { commandLine } from '../../kernel/command-line.ts'
import { counted, freshStart, quote, times } from '../../kernel/text.ts'
import { MAX_INTERRUPTIONS } from '../definition/bound.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { isChecklistItem } from '../definition/steps.ts'
import { type Effect, type Observation, type StepResultSeen, stepFolder } from './observation.ts'
import {
  isExhausted,
  isInStep,
  isRejected,
  OUT_OF_BUDGET,
  promptsLeft,
  stepArchiveName,
  stepAt,
  stepLine,
  stepResultFile,
  tellsPrevious,
  where,
  withBatch,
  withStepEnded,
  withWork,
} from './position.ts'
import { end, isPrompted, type WorkflowState, withTransition, workedMs } from './state.ts'
import type { StepInWork } from './state-fields.ts'

/** `observe`: observe and call `advance` again. */
export type Command = 'prompt' | 'wait' | 'finish' | 'observe'
export type Advance = Readonly<{ state: WorkflowState; command: Command; effects: readonly Effect[] }>

export function only(state: WorkflowState, command: Command): Advance {
  return { state, command, effects: [] }
}

export function orWait(state: WorkflowState, given: Advance): Advance {
  return given.command === 'wait' ? only(state, 'wait') : given
}

/** `steps`: undefined for the phase's own prompt. */
export function prompt(state: WorkflowState, seen: Observation, steps?: readonly StepInWork[]): Advance {
  if (state.stopRequestedMs !== undefined) return only(end(state, 'stopped', seen.nowMs), 'finish')
  if (!seen.mayPrompt) return only(state, 'wait')
  const size = Math.max(1, steps?.length ?? 1)
  const spent = spentBudget(state, size, seen)
  if (spent !== undefined) return only(end(state, 'stalled', seen.nowMs, spent), 'finish')
  const previousArtifact = tellsPrevious(state) ? seen.previousArtifact : state.previousArtifact
  const due = { ...state, previousArtifact }
  const work = steps?.map((step) => ({ ...where(due, step), detail: stepLine(due, step.step) })) ?? [where(due)]
  const asked = work.reduce((one, each) => withTransition(one, { event: 'prompt', ...each }, seen.nowMs), due)
  const numbers = new Set(steps?.map(({ step }) => step))
  const inWork = asked.inWork.map((one) => ({ ...one, out: numbers.has(one.step) }))
  const prompted: WorkflowState = {
    ...asked,
    inWork,
    stage: 'prompted',
    promptedMs: seen.nowMs,
    repeats: 0,
    prompts: state.prompts + size,
    promptId: seen.promptId,
    shells: seen.shells ?? [],
    heardPromptId: undefined,
    approval: isRejected(state) ? state.approval : undefined,
  }
  return only(prompted, 'prompt')
}

function spentBudget(state: WorkflowState, size: number, seen: Observation): string | undefined {
  const { maxPrompts, maxMinutes } = state.definition
  if (maxPrompts !== undefined && size > promptsLeft(state)) {
    const more = size === 1 ? '' : `, and ${size} more were due`
    return outOfBudget(`${counted(state.prompts, 'prompt')} of at most ${maxPrompts} (max_prompts)${more}`, seen)
  }
  const isLate = maxMinutes !== undefined && workedMs(state, seen.nowMs) >= maxMinutes * 60_000
  return isLate ? outOfBudget(`${counted(maxMinutes, 'minute')} of work (max_minutes)`, seen) : undefined
}

function outOfBudget(spent: string, seen: Observation): string {
  return `${OUT_OF_BUDGET}: ${spent}. A resume does not renew it: ${freshStart(commandOfRun('start', seen))}`
}

/** The caller's project is not known here, so this has no `--root`. */
export function commandOfRun(word: string, { task }: Observation): string {
  return commandLine(['workflow', word, task], undefined)
}

/** Limited, because it is the same attempt. */
export function goesOutAgain({ interruptions }: WorkflowState, { interrupted }: Observation): boolean {
  return interrupted === true && interruptions < MAX_INTERRUPTIONS
}

export function promptOnceMore(state: WorkflowState, seen: Observation): Advance {
  const again = { ...state, interruptions: state.interruptions + 1 }
  return prompt(again, seen, isInStep(state) ? state.inWork.filter(({ out }) => out) : undefined)
}

/** The part for steps. A transition takes one result or sends a batch. Only the end of a batch gives steps up. */

export function advanceSteps(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  if (!isPrompted(state)) return betweenBatches(state, phase, seen)
  for (const [index, step] of state.inWork.entries()) {
    const result = seen.stepResults[index]
    if (step.out && isThere(result) && !isEarly(result, seen)) return takeResult(state, phase, step, result, seen)
  }
  if (goesOutAgain(state, seen)) return promptOnceMore(state, seen)
  const missing = state.inWork.find(({ out }) => out)
  if (!seen.returned || missing === undefined) return only(state, 'wait')
  return stepFailed(state, phase, missing, `${stepResultFile(phase, missing.step)} is missing`, seen, [])
}

type ResultThere = Exclude<StepResultSeen, { readonly kind: 'absent' }>

function isThere(result: StepResultSeen | undefined): result is ResultThere {
  return result !== undefined && result.kind !== 'absent'
}

function betweenBatches(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  if (state.inWork.length > 0 && state.inWork.every(isExhausted)) return giveUpSpent(state, phase, seen, [])
  const filled = withBatch(state, phase)
  const early: Effect[] = []
  for (const [index, step] of filled.inWork.entries()) {
    const result = seen.stepResults[index]
    if (!isThere(result)) continue
    // No prompt asked for this result, unless it is archived: then it is from before a resume.
    if (result.archived) return takeResult(filled, phase, step, result, seen)
    early.push(archiveStep(state, stepResultFile(phase, step.step), `early-${stepArchiveName(step)}`))
  }
  // After a crash, others may be sent again. A retry by a person may exceed `parallel`.
  const steps = filled.inWork.filter((step) => !isExhausted(step)).slice(0, phase.parallel)
  const given = prompt(filled, seen, steps)
  // No later prompt would archive unrequested results.
  const effects = [...strays(state, seen), ...(given.command === 'prompt' ? early : [])]
  return orWait(state, { ...given, effects })
}

function isEarly(result: ResultThere, { takes }: Observation): boolean {
  if (result.archived) return false
  if (takes === 'passing') return result.kind !== 'result' || !result.success
  return takes === 'complete' && result.kind === 'invalid'
}

function takeResult(state: WorkflowState, phase: Phase, step: StepInWork, result: ResultThere, seen: Observation) {
  const file = stepResultFile(phase, step.step)
  const effects = result.archived ? [] : [archiveStep(state, file, stepArchiveName(step))]
  if (result.kind === 'invalid') return stepFailed(state, phase, step, result.why, seen, effects)
  if (!result.success) {
    return stepFailed(state, phase, step, result.summary ?? `${file} says that the step failed`, seen, effects)
  }
  const done = withTransition(state, { event: 'step-done', ...where(state, step) }, seen.nowMs)
  const ended = withStepEnded(done, { step: step.step, attempts: step.attempts + 1, outcome: 'done' })
  return giveUpSpent({ ...ended, lastFailure: undefined }, phase, seen, [...effects, ...tick(state, phase, step)])
}

function tick(state: WorkflowState, { steps }: Phase, { step }: StepInWork): Effect[] {
  const item = stepAt(state, step)
  return steps?.kind === 'checklist' && isChecklistItem(item) ? [{ kind: 'tick', artifact: steps.artifact, item }] : []
}

function archiveStep(state: WorkflowState, file: string, name: string): Effect {
  return { kind: 'archive-step', file, folder: stepFolder(state), name }
}

export function strays(state: WorkflowState, { strayResults = [] }: Observation): Effect[] {
  return strayResults.map((file) => archiveStep(state, file, `stray-${file}`))
}

function stepFailed(
  state: WorkflowState,
  phase: Phase,
  step: StepInWork,
  why: string,
  seen: Observation,
  effects: readonly Effect[],
): Advance {
  const failed = withTransition(state, { event: 'step-failed', ...where(state, step), detail: why }, seen.nowMs)
  const changed = { ...step, attempts: step.attempts + 1, out: false, failure: why }
  const inWork = state.inWork.map((one) => (one.step === step.step ? changed : one))
  return giveUpSpent({ ...withWork(failed, inWork), lastFailure: why }, phase, seen, effects)
}

function giveUpSpent(state: WorkflowState, phase: Phase, seen: Observation, effects: readonly Effect[]): Advance {
  let next = state
  for (const spent of isPrompted(state) ? [] : state.inWork.filter(isExhausted)) {
    const why = spent.failure ?? ''
    const isTooMany = givesUpTooMany(next, phase)
    if (phase.onExhausted === 'stop' || isTooMany) {
      const last = `step ${spent.step + 1} failed ${times(spent.attempts)}${lastFailure(spent.attempts, why)}`
      const text = isTooMany ? tooManyFailed(next, last) : last
      const ended = end(next, 'failed', seen.nowMs, text)
      return { state: ended, command: 'finish', effects: [...effects, ...strays(state, seen)] }
    }
    const attempt = { step: spent.step, attempts: spent.attempts - 1 }
    const skipped = withTransition(next, { event: 'step-skipped', ...where(next, attempt), detail: why }, seen.nowMs)
    const ended = withStepEnded(skipped, { step: spent.step, attempts: spent.attempts, outcome: 'skipped' })
    next = { ...ended, lastFailure: isInStep(ended) ? undefined : why }
  }
  const last = isInStep(next) ? [] : strays(state, seen)
  return { state: next, command: 'observe', effects: [...effects, ...last] }
}

export function attemptsFailed(attempts: number, why: string): string {
  return `${counted(attempts, 'attempt')} failed${lastFailure(attempts, why)}`
}

function lastFailure(attempts: number, why: string): string {
  return `${attempts === 1 ? '' : ', most recently'}: ${quote(why)}`
}

function tooManyFailed({ phaseSkips, totalSteps }: WorkflowState, last: string): string {
  const failed = phaseSkips + 1
  if (totalSteps === 1) return last
  if (failed === totalSteps) return `all ${totalSteps} steps failed; ${last}`
  return `${failed} of ${totalSteps} steps failed, more than max_skips allows; ${last}`
}

export function givesUpTooMany({ phaseSkips, totalSteps }: WorkflowState, { maxSkips }: Phase): boolean {
  return phaseSkips + 1 === totalSteps || (maxSkips !== undefined && phaseSkips >= maxSkips)
}
