import type { ErrorArguments } from '../../kernel/errors.ts'
import { type Definition, reachedFrom, type Ways } from '../definition/definition.ts'
import { END } from '../definition/definition-limits.ts'
import { isFailing, type Phase, targetsOf } from '../definition/phase-fields.ts'
import type { Observation } from './observation.ts'
import {
  currentPhase,
  isExhausted,
  isResumable,
  needsApproval,
  rejectedBecause,
  where,
  withPhaseSkipped,
  withStepEnded,
  withWork,
} from './position.ts'
import {
  countElapsed,
  end,
  enter,
  hasBegun,
  limitGranted,
  pauseClock,
  type Runner,
  visitsOf,
  type WorkflowState,
  withdrawn,
  withTransition,
} from './state.ts'
import type { StepInWork } from './state-fields.ts'
import { attemptsFailed, givesUpTooMany } from './step-machine.ts'

/** A person's changes to a run. Pure. */

export function requestStop(state: WorkflowState, nowMs: number): WorkflowState {
  if (!state.active || state.stopRequestedMs !== undefined) return state
  return { ...withTransition(state, { event: 'stop-request', phase: state.phase }, nowMs), stopRequestedMs: nowMs }
}

export function abortState(state: WorkflowState, nowMs: number): WorkflowState {
  return isResumable(state) ? end(state, 'aborted', nowMs) : state
}

export function settleState(state: WorkflowState): WorkflowState {
  const isDone = state.outcome === 'completed' && state.skips === 0
  return state.active || state.settled || isDone ? state : { ...state, settled: true }
}

export function haltState(state: WorkflowState, why: string, nowMs: number): WorkflowState {
  return state.active ? end(state, 'stopped', nowMs, why) : state
}

/** Makes a released run resumable here again. */
export function returnState(state: WorkflowState, why: string, nowMs: number): WorkflowState {
  const returned = { event: 'end', phase: state.phase, outcome: 'stopped', detail: why } as const
  return { ...withTransition(state, returned, nowMs), outcome: 'stopped', why }
}

/** Raises limits instead of resetting counts, so that no archived attempt is overwritten. */
export function resumeState(state: WorkflowState, who: Runner, seen: Pick<Observation, 'nowMs' | 'artifact'>) {
  const phase = currentPhase(state)
  const resumed: WorkflowState = {
    // The client may have ended after the last transition.
    ...withTransition(pauseClock(state, state.updatedMs), { event: 'resume', phase: state.phase }, seen.nowMs),
    ...sessionsAfter(state, who),
    active: true,
    outcome: undefined,
    why: undefined,
    settled: false,
    stopRequestedMs: undefined,
    wait: undefined,
    clockSinceMs: needsApproval({ ...state, active: true }) ? undefined : seen.nowMs,
    // A run that used up its visits may enter each phase once more.
    visitsGranted: state.visitsGranted + (state.outcome === 'failed' ? 1 : 0),
  }
  if (state.outcome === 'failed' && seen.artifact.kind === 'valid') {
    const { verdict, reason } = seen.artifact
    // The verdict still exists and would end the run again.
    if (isFailing(phase.next, verdict) && phase.next.fail === END) {
      return limitGranted(enter(resumed, phase, seen.nowMs, { phase: phase.id, verdict, reason }))
    }
  }
  const inWork = state.inWork.map((step) =>
    !state.active && isExhausted(step) ? { ...step, maxAttempts: step.maxAttempts + phase.maxStepAttempts } : step,
  )
  const phaseSpent = state.phaseAttempts >= state.maxPhaseAttempts
  const maxPhaseAttempts = state.maxPhaseAttempts + (phaseSpent ? phase.maxAttempts : 0)
  return limitGranted({ ...resumed, inWork, maxPhaseAttempts })
}

/** No hook drives a run without a session. */
function sessionsAfter(state: WorkflowState, who: Runner): Runner {
  if (who.hostSession !== undefined) return who
  return { hostSession: state.hostSession, parentSession: who.parentSession ?? state.parentSession }
}

/** The same attempt again, for a run that another session resumed. */
export function promptAgain(state: WorkflowState): WorkflowState {
  return { ...state, stage: withdrawn(state), inWork: state.inWork.map((step) => ({ ...step, out: false })) }
}

/** Whether a person must approve, even if the run was stopped since. */
export function isApprovalDue(state: WorkflowState): boolean {
  return isResumable(state) && state.approval?.standing === 'asked'
}

export function approveState(state: WorkflowState, note: string | undefined, nowMs: number): WorkflowState {
  return judged(state, 'approved', note, nowMs)
}

/** Counts as an attempt. The next turn archives the artifact and asks again. */
export function rejectState(state: WorkflowState, reason: string, nowMs: number): WorkflowState {
  const phaseAttempts = state.phaseAttempts + 1
  const why = rejectedBecause(reason)
  const rejected: WorkflowState = {
    ...judged(state, 'rejected', reason, nowMs),
    phaseAttempts,
    lastFailure: why,
    stage: hasBegun(state) ? 'archiving-rejected' : 'archiving',
  }
  const isLast = state.active && phaseAttempts >= state.maxPhaseAttempts
  return isLast ? end(rejected, 'stalled', nowMs, attemptsFailed(phaseAttempts, why)) : rejected
}

function judged(state: WorkflowState, standing: 'approved' | 'rejected', note: string | undefined, nowMs: number) {
  const noted = withTransition(state, { event: standing, ...where(state), detail: note }, nowMs)
  return { ...(state.active ? countElapsed(noted, nowMs) : noted), approval: { standing, note } }
}

export type Steered = { readonly state: WorkflowState } | { readonly refusal: ErrorArguments['run-step']['status'] }

/** Grants all attempts again, but keeps their count: see `resumeState`. */
export function retryStep(state: WorkflowState, step: number, nowMs: number): Steered {
  const refusal = refusalOf(state, step)
  if (refusal !== undefined) return { refusal }
  const ended = state.endedSteps.find((one) => one.step === step)
  if (ended === undefined) {
    const spent = state.inWork.find((one) => one.step === step && isExhausted(one))
    return spent === undefined ? { refusal: 'not-ended' } : { state: again(state, spent, nowMs) }
  }
  if (ended.outcome === 'done') return { refusal: 'done' }
  const others = state.endedSteps.filter((one) => one !== ended)
  const reopened = withWork(state, state.inWork, others)
  const counted = { ...reopened, skips: Math.max(0, state.skips - 1), phaseSkips: Math.max(0, state.phaseSkips - 1) }
  return { state: again(counted, { step, attempts: ended.attempts, failure: undefined }, nowMs) }
}

function again(state: WorkflowState, work: Omit<StepInWork, 'maxAttempts' | 'out'>, nowMs: number) {
  const granted = { ...work, maxAttempts: work.attempts + currentPhase(state).maxStepAttempts, out: false }
  const others = state.inWork.filter((one) => one.step !== work.step)
  const inWork = [...others, granted].sort((one, other) => one.step - other.step)
  const noted = withTransition(state, { event: 'step-again', ...where(state, granted) }, nowMs)
  const reopened = withWork(noted, inWork)
  if (state.approval?.standing !== 'asked') return reopened
  // The approval is asked for again once the step has ended.
  return { ...(state.active ? countElapsed(reopened, nowMs) : reopened), approval: undefined }
}

/** A result that the agent still writes does not count. */
export function skipStep(state: WorkflowState, step: number, nowMs: number): Steered {
  const refusal = refusalOf(state, step)
  if (refusal !== undefined) return { refusal }
  const ended = state.endedSteps.find((one) => one.step === step)
  if (ended !== undefined) return ended.outcome === 'done' ? { refusal: 'done' } : { state }
  if (givesUpTooMany(state, currentPhase(state))) return { refusal: 'too-many' }
  const work = state.inWork.find((one) => one.step === step)
  const ending = { step, attempts: work?.attempts ?? 0 }
  const entry = { event: 'step-skipped', ...where(state, ending), detail: 'skipped by a person' } as const
  const skipped = withStepEnded(withTransition(state, entry, nowMs), { ...ending, outcome: 'skipped' })
  // Its failure says nothing about the next step. In a batch the last failure may be another step's.
  return { state: work?.failure === state.lastFailure ? { ...skipped, lastFailure: undefined } : skipped }
}

function refusalOf({ stepsKnown, totalSteps }: WorkflowState, step: number) {
  if (!stepsKnown || totalSteps === 0) return 'no-steps'
  return step < 0 || step >= totalSteps ? 'unknown' : undefined
}

/**
 * Allows each phase one more visit. Bypassed phases count as skipped. The refusal `approval`: `phase` needs an approval
 * that this would bypass.
 */
export function enterFrom(state: WorkflowState, phase: Phase, nowMs: number) {
  const { definition, phase: current } = state
  if (visitsOf(state, phase.id) === 0) return { refusal: { kind: 'not-entered' as const } }
  const granted = { ...state, visitsGranted: state.visitsGranted + 1 }
  if (phase.id === current) return { state: limitGranted(enter(granted, phase, nowMs)) }
  const ways = forwardWays(definition)
  const isPassedOver = (id: string): boolean => !isCertain(ways, phase.id, id)
  const isRefused = ({ id, approve }: Phase): boolean => {
    if (!approve || !isPassedOver(id)) return false
    if (id === current && state.approval?.standing === 'approved') return false
    if (id === current && isApprovalDue(state)) return true
    if (leadsTo(ways, current, id) && leadsTo(ways, id, phase.id)) return true
    const isAhead = Object.hasOwn(state.unfinished, id) || isCertain(ways, current, id)
    return isAhead && !leadsTo(ways, phase.id, id)
  }
  const unapproved = definition.phases.find(isRefused)
  if (unapproved !== undefined) return { refusal: { kind: 'approval' as const, phase: unapproved.id } }
  const skipped = wayTo(ways, current, phase.id).filter(isPassedOver)
  const how = `resume --from ${phase.id}`
  const left: WorkflowState = { ...granted, unfinished: { ...state.unfinished, [current]: 'open' } }
  const noted = skipped.reduce((one, id) => withPhaseSkipped(one, id, nowMs, how), left)
  return { state: limitGranted(enter(noted, phase, nowMs)) }
}

function passingWays({ phases }: Definition): Ways {
  return new Map(phases.map(({ id, next }) => [id, next.cases === undefined ? [next.pass] : targetsOf(next)]))
}

/** Whether the run must do the phase, perhaps again, if no verdict fails. The current phase is not ahead. */
export function aheadOf({ definition, phase }: WorkflowState): (id: string) => boolean {
  const ways = passingWays(definition)
  const reached = reachedFrom(phase, ways)
  return (id) => id !== phase && reached.has(id) && isCertain(ways, phase, id)
}

/** Leaves out failing verdicts that end the run or form a loop. */
function forwardWays(definition: Definition): Ways {
  const { phases } = definition
  const passing = passingWays(definition)
  const isLoop = (from: string, fail: string) => from === fail || reachedFrom(fail, passing, from).has(from)
  return new Map(
    phases.map(({ id, next }) => [
      id,
      next.cases !== undefined || (next.fail !== END && !isLoop(id, next.fail)) ? targetsOf(next) : [next.pass],
    ]),
  )
}

/** Whether every way to the end leads through the phase. */
function isCertain(ways: Ways, from: string, id: string): boolean {
  return id === from || !reachedFrom(from, { get: (one) => ways.get(one)?.filter((target) => target !== id) }).has(END)
}

function leadsTo(ways: Ways, from: string, to: string): boolean {
  return from === to || reachedFrom(from, ways, to).has(to)
}

/** From `from` to the phase before `to`; empty if no way leads there. */
function wayTo(ways: Ways, from: string, to: string): string[] {
  const before = reachedFrom(from, ways, to)
  const way: string[] = []
  for (let id = before.get(to); id !== undefined; id = id === from ? undefined : before.get(id)) way.unshift(id)
  return way
}
