import { WORKFLOW_TEXT } from '../messages/runs.ts'
import { MAX_INTERRUPTIONS } from './bound.ts'
import { findPhase } from './definition.ts'
import { END } from './definition-limits.ts'
import { type Effect, isTooEarly, type Observation, type StepResultSeen, type Verdict } from './observation.ts'
import type { RunOutcome } from './outcome.ts'
import type { Phase } from './phase-fields.ts'
import { currentPhase, isInStep, stepArchiveName, where } from './position.ts'
import { enter, visitsOf, type WorkflowState, withTransition } from './state.ts'

/**
 * The machine: `(state, observation) → (state, command, effects)`. It is pure: the files on disk come in as data, and the
 * moves of files go out as data. A driver observes, calls `advance`, performs the effects, writes the state, and only then
 * acts on the command. For `observe` it begins again, with the phase that was entered.
 *
 * Effects precede the state that follows from them, and each can be repeated, so that the same observation leads to the
 * same state after a crash between the two. For this reason a step's result that is already in the archive under the
 * current attempt's name counts as the result of this attempt.
 */

/** The next action of the driver. `observe`: it observes again and calls `advance` once more. */
export type Command =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'finish' }
  | { readonly kind: 'observe' }

/** The result of `advance`. */
export interface Advance {
  readonly state: WorkflowState
  readonly command: Command
  readonly effects: readonly Effect[]
}

/** Performs one transition, or none. It never throws for a state that `parseState` returned. */
export function advance(state: WorkflowState, seen: Observation): Advance {
  if (!state.active) return only(state, 'finish')
  const phase = currentPhase(state)
  if (state.clearing) return clearArtifact(state, phase)
  if (state.stopRequestedMs !== undefined && !state.begun) return only(end(state, 'stopped', seen.nowMs), 'finish')
  // An artifact from before the phase was entered counts: so a run continues after a crash.
  if (!state.begun && phase.artifact !== undefined && seen.artifact.kind === 'valid' && !isTooEarly(seen)) {
    return pass(state, phase, seen.artifact, seen.nowMs)
  }
  if (!state.stepsKnown) return learnSteps(state, phase, seen)
  if (state.currentStep < state.totalSteps) return advanceStep(state, phase, seen)
  return advancePhase(state, phase, seen)
}

/**
 * Archives the old artifact of a phase that is entered again, so that it does not count as a new one. The state on disk
 * already says that the phase was entered: in a phase that leads to itself, this artifact is what led here.
 */
function clearArtifact(state: WorkflowState, phase: Phase): Advance {
  const visit = visitsOf(state, phase.id) - 1
  const effects: Effect[] =
    phase.artifact === undefined ? [] : [{ kind: 'archive-artifact', phase: phase.id, visit, artifact: phase.artifact }]
  return { state: { ...state, clearing: false }, command: { kind: 'observe' }, effects }
}

function learnSteps(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  if (phase.steps?.kind === 'list') {
    return only({ ...state, stepsKnown: true, totalSteps: phase.steps.steps.length }, 'observe')
  }
  // This observation did not include the steps.
  if (seen.steps === undefined) return only(state, 'wait')
  if (seen.steps.kind === 'none') return only(end(state, 'stalled', seen.nowMs, seen.steps.why), 'finish')
  const { steps } = seen.steps
  return only({ ...state, stepsKnown: true, totalSteps: steps.length, takenSteps: steps }, 'observe')
}

function advanceStep(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  const { stepResult } = seen
  if (!state.prompted) {
    // No prompt has asked for this result. One in the archive belongs to this attempt, from before a resume.
    if (stepResult.kind === 'absent' || !stepResult.archived)
      return prompt(state, seen, strayEffects(state, stepResult))
  }
  if (stepResult.kind === 'absent') {
    if (goesOutAgain(state, seen)) return promptOnceMore(state, seen)
    return seen.returned ? stepFailed(state, phase, WORKFLOW_TEXT.noStepResult, seen, []) : only(state, 'wait')
  }
  const passes = stepResult.kind === 'result' && stepResult.success
  const isEarly = seen.takes === 'passing' ? !passes : seen.takes === 'complete' && stepResult.kind === 'invalid'
  if (isEarly && !stepResult.archived) return only(state, 'wait')
  const effects = stepResult.archived ? [] : [archiveStep(state, stepArchiveName(state))]
  if (stepResult.kind === 'invalid') return stepFailed(state, phase, stepResult.why, seen, effects)
  if (!stepResult.success) {
    return stepFailed(state, phase, stepResult.summary ?? WORKFLOW_TEXT.stepSaysFailed, seen, effects)
  }
  const done = withTransition(state, { event: 'step-done', ...where(state) }, seen.nowMs)
  return { state: nextStep(done, undefined), command: { kind: 'observe' }, effects }
}

/** True for a prompt that was interrupted. It is the same attempt, so the number of times is limited. */
function goesOutAgain({ interruptions }: WorkflowState, { interrupted }: Observation): boolean {
  return interrupted === true && interruptions < MAX_INTERRUPTIONS
}

/** True without an artifact, and with an invalid one from before the prompt, which was to mend it. */
function isNothingLeft({ promptedMs }: WorkflowState, { artifact }: Observation): boolean {
  if (artifact.kind !== 'invalid') return artifact.kind === 'absent'
  return artifact.changedMs !== undefined && promptedMs !== undefined && artifact.changedMs < promptedMs
}

function promptOnceMore(state: WorkflowState, seen: Observation): Advance {
  return prompt({ ...state, interruptions: state.interruptions + 1 }, seen, [])
}

/** Archives a result from before its prompt under another name. It does not count. */
function strayEffects(state: WorkflowState, result: StepResultSeen): Effect[] {
  if (result.kind === 'absent' || result.archived) return []
  return [archiveStep(state, `early-${stepArchiveName(state)}`)]
}

function archiveStep(state: WorkflowState, name: string): Effect {
  return { kind: 'archive-step', phase: state.phase, visit: visitsOf(state, state.phase), name }
}

function stepFailed(
  state: WorkflowState,
  phase: Phase,
  why: string,
  seen: Observation,
  effects: readonly Effect[],
): Advance {
  const failed = withTransition(state, { event: 'step-failed', ...where(state), detail: why }, seen.nowMs)
  const attempts = state.stepAttempts + 1
  if (attempts < state.maxStepAttempts) {
    const again = { ...failed, stepAttempts: attempts, prompted: false, lastFailure: why }
    return { state: again, command: { kind: 'observe' }, effects }
  }
  const isTooMany = givesUpTooMany(state, phase)
  if (phase.onExhausted === 'stop' || isTooMany) {
    const last = WORKFLOW_TEXT.stepExhausted(state.currentStep + 1, attempts, why)
    const text = isTooMany ? WORKFLOW_TEXT.tooManyFailed(state.phaseSkips + 1, state.totalSteps, last) : last
    const spent = { ...failed, stepAttempts: attempts, prompted: false, lastFailure: why }
    return { state: end(spent, 'failed', seen.nowMs, text), command: { kind: 'finish' }, effects }
  }
  const skipped = withTransition(failed, { event: 'step-skipped', ...where(state), detail: why }, seen.nowMs)
  const goingOn = { ...nextStep(skipped, why), skips: state.skips + 1, phaseSkips: state.phaseSkips + 1 }
  return { state: goingOn, command: { kind: 'observe' }, effects }
}

/** True if the phase would give up more steps than it may, or all of them: then nothing of it was done. */
function givesUpTooMany({ phaseSkips, totalSteps }: WorkflowState, { maxSkips }: Phase): boolean {
  return phaseSkips + 1 === totalSteps || (maxSkips !== undefined && phaseSkips >= maxSkips)
}

function nextStep(state: WorkflowState, lastFailure: string | undefined): WorkflowState {
  const { maxStepAttempts } = currentPhase(state)
  return {
    ...state,
    currentStep: state.currentStep + 1,
    stepAttempts: 0,
    maxStepAttempts,
    prompted: false,
    // The next step starts without a failure; only the phase's own prompt shows the last one.
    lastFailure: state.currentStep + 1 < state.totalSteps ? undefined : lastFailure,
  }
}

function advancePhase(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  // Without an artifact the phase is done after its steps.
  if (phase.artifact === undefined) return pass(state, phase, {}, seen.nowMs)
  if (isTooEarly(seen)) return only(state, 'wait')
  if (seen.artifact.kind === 'valid') return pass(state, phase, seen.artifact, seen.nowMs)
  const why = seen.artifact.kind === 'invalid' ? seen.artifact.why : WORKFLOW_TEXT.noArtifact(phase.artifact)
  if (!state.prompted) {
    const known = seen.artifact.kind === 'invalid' && state.lastFailure === undefined ? why : state.lastFailure
    return prompt(state, seen, [], known)
  }
  if (!seen.returned) return only(state, 'wait')
  if (isNothingLeft(state, seen) && goesOutAgain(state, seen)) return promptOnceMore(state, seen)
  const attempts = state.phaseAttempts + 1
  const failed = withTransition(state, { event: 'retry', ...where(state), detail: why }, seen.nowMs)
  const counted = { ...failed, phaseAttempts: attempts, prompted: false, lastFailure: why }
  if (attempts < state.maxPhaseAttempts) return only(counted, 'observe')
  if (phase.gate === 'strict') {
    return only(end(counted, 'stalled', seen.nowMs, WORKFLOW_TEXT.exhausted(attempts, why)), 'finish')
  }
  const goingOn = { ...counted, skips: state.skips + 1 }
  const warned = withTransition(goingOn, { event: 'warn', ...where(state), detail: why }, seen.nowMs)
  // A missing or invalid artifact has no verdict, which counts as a failing one.
  return pass(warned, phase, phase.next.verdict === undefined ? {} : { verdict: 'fail', reason: why }, seen.nowMs)
}

/** Gives out a prompt that shows `lastFailure`; or stops, if that was requested and this would begin another piece of work. */
function prompt(
  state: WorkflowState,
  seen: Observation,
  effects: readonly Effect[],
  lastFailure = state.lastFailure,
): Advance {
  // A prompt that was interrupted goes out again, so its work is begun.
  const isAnother = !state.prompted && (isInStep(state) ? state.stepAttempts : state.phaseAttempts) === 0
  if (state.stopRequestedMs !== undefined && isAnother) return only(end(state, 'stopped', seen.nowMs), 'finish')
  if (!seen.mayPrompt) return only(state, 'wait')
  const previousArtifact = state.begun ? state.previousArtifact : seen.previousArtifact
  const due = { ...state, lastFailure, previousArtifact }
  const asked = withTransition(due, { event: 'prompt', ...where(state) }, seen.nowMs)
  return {
    state: {
      ...{ ...asked, prompted: true, promptedMs: seen.nowMs, repeats: 0, begun: true, prompts: state.prompts + 1 },
      ...{ promptId: seen.promptId, shells: seen.shells ?? [], cameBack: false },
    },
    command: { kind: 'prompt' },
    effects,
  }
}

/** The verdict of a phase that is over, and the reason for it. */
interface Judged {
  readonly verdict?: Verdict | undefined
  readonly reason?: string | undefined
}

function pass(state: WorkflowState, phase: Phase, { verdict, reason }: Judged, nowMs: number): Advance {
  const failed = verdict === 'fail'
  const target = failed ? phase.next.fail : phase.next.pass
  const passed = withTransition(
    state,
    { event: failed ? 'fail' : 'pass', phase: phase.id, ...(reason !== undefined && { detail: reason }) },
    nowMs,
  )
  if (target === END) {
    const outcome = failed ? 'failed' : 'completed'
    const gaps = state.skips === 0 ? undefined : WORKFLOW_TEXT.wentOnWithout(state.skips)
    return only(end(passed, outcome, nowMs, failed ? WORKFLOW_TEXT.endedOnFail(phase.id) : gaps), 'finish')
  }
  const next = findPhase(state.definition, target)
  if (next === undefined || visitsOf(state, target) >= next.maxVisits + state.visitsGranted) {
    const why = WORKFLOW_TEXT.visitsSpent(target, visitsOf(state, target))
    return only(end(state, 'failed', nowMs, why), 'finish')
  }
  return only(enter(passed, next, nowMs, { phase: phase.id, verdict, reason }), 'observe')
}

function end(state: WorkflowState, outcome: RunOutcome, nowMs: number, why?: string): WorkflowState {
  const detail = why === undefined ? {} : { detail: why }
  const ended = withTransition(state, { event: 'end', phase: state.phase, outcome, ...detail }, nowMs)
  return { ...ended, active: false, outcome, why, stopRequestedMs: undefined }
}

function only(state: WorkflowState, kind: Command['kind']): Advance {
  return { state, command: { kind }, effects: [] }
}
