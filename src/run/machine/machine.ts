import { findPhase } from '../definition/definition.ts'
import { END } from '../definition/definition-limits.ts'
import { isFailing, targetAfter } from '../definition/next.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { MAX_STEP_LENGTH, type Step } from '../definition/steps.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'
import { isIdle } from './agent-stop.ts'
import { askForApproval, awaitsApproval, visitPutAside } from './need.ts'
import { type Effect, isTooEarly, type Observation } from './observation.ts'
import { currentPhase, isInStep, where } from './position.ts'
import type { Command } from './prompting.ts'
import { type Advance, end, goesOutAgain, only, orWait, prompt, promptOnceMore } from './prompting.ts'
import { enter, HISTORY_KEPT, visitsOf, type WorkflowState, withTransition } from './state.ts'
import { advanceSteps, strays } from './step-machine.ts'

/**
 * The machine: `(state, observation) → (state, command, effects)`. It is pure: the files on disk come in as data, and the
 * moves of files go out as data. A driver observes, calls `advance`, performs the effects, writes the state, and only then
 * acts on the command. For `observe` it begins again, with the phase that was entered.
 *
 * Effects precede the state that follows from them, and each can be repeated, so that the same observation leads to the
 * same state after a crash between the two. For this reason a step's result that is already in the archive under the
 * current attempt's name counts as the result of this attempt.
 */

/**
 * Performs one transition, or none. It never throws for a state that `parseState` returned. A run that was asked to stop
 * does not wait for an agent that has nothing to do.
 */
export function advance(state: WorkflowState, seen: Observation): Advance {
  if (!state.active) return only(state, 'finish')
  const advanced = advanceActive(state, seen)
  const next = advanced.state
  if (advanced.command.kind !== 'wait' || next.stopRequestedMs === undefined || !isIdle(next)) return advanced
  return { ...only(end(next, 'stopped', seen.nowMs), 'finish'), effects: advanced.effects }
}

function advanceActive(state: WorkflowState, seen: Observation): Advance {
  const phase = currentPhase(state)
  if (state.clearing) return clearArtifact(state, phase)
  if (state.stopRequestedMs !== undefined && !state.begun) return only(end(state, 'stopped', seen.nowMs), 'finish')
  if (awaitsApproval(state)) return only(state, 'wait')
  // An artifact from before the phase was entered counts: so a run continues after a crash.
  if (!state.begun && phase.artifact !== undefined && seen.artifact.kind === 'valid' && !isTooEarly(seen)) {
    return pass(state, phase, seen.artifact, seen)
  }
  if (!state.stepsKnown) return learnSteps(state, phase, seen)
  if (isInStep(state)) return advanceSteps(state, phase, seen)
  return advancePhase(state, phase, seen)
}

/**
 * Archives the old artifact of a phase that is entered again, or a rejected one, so that it does not count as a new one. The state on disk
 * already says that the phase was entered: in a phase that leads to itself, this artifact is what led here.
 */
function clearArtifact(state: WorkflowState, phase: Phase): Advance {
  const visit = visitPutAside(state)
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
  const isDone = phase.steps?.kind === 'checklist' && seen.steps.steps.length === 0
  const steps = isDone ? reasonAsStep(state) : seen.steps.steps
  return only({ ...state, stepsKnown: true, totalSteps: steps.length, takenSteps: steps }, 'observe')
}

/**
 * The one step of a visit to a checklist without open tasks: the reason why the phase was entered. None if nothing is
 * wrong: at a first visit, or after a verdict that passes and gives no reason.
 */
function reasonAsStep({ ledBy, phase, visits }: WorkflowState): Step[] {
  if (ledBy === undefined) return []
  const { verdict = 'pass', reason } = ledBy
  const isSentBack = verdict !== 'pass'
  if (reason !== undefined) return isSentBack || Number(visits[phase]) > 1 ? [reason.slice(0, MAX_STEP_LENGTH)] : []
  return isSentBack ? [WORKFLOW_TEXT.sentBack(ledBy.phase, verdict)] : []
}

/** True without an artifact, and with an invalid one from before the prompt that asks to fix it. */
function isNothingLeft({ promptedMs }: WorkflowState, { artifact }: Observation): boolean {
  if (artifact.kind !== 'invalid') return artifact.kind === 'absent'
  return artifact.changedMs !== undefined && promptedMs !== undefined && artifact.changedMs < promptedMs
}

function advancePhase(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  // Without an artifact the phase is done after its steps.
  if (phase.artifact === undefined) return pass(state, phase, {}, seen)
  if (isTooEarly(seen)) return only(state, 'wait')
  if (seen.artifact.kind === 'valid') return pass(state, phase, seen.artifact, seen)
  const why = seen.artifact.kind === 'invalid' ? seen.artifact.why : WORKFLOW_TEXT.noArtifact(phase.artifact)
  if (!state.prompted) {
    const known = seen.artifact.kind === 'invalid' && state.lastFailure === undefined ? why : state.lastFailure
    return orWait(state, prompt({ ...state, lastFailure: known }, seen, {}))
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
  const hasVerdict = phase.next.verdict !== undefined && phase.next.cases === undefined
  return pass(warned, phase, hasVerdict ? { verdict: 'fail', reason: why } : {}, seen)
}

/** The verdict of a phase that is over, and the reason for it. */
interface Judged {
  readonly verdict?: string | undefined
  readonly reason?: string | undefined
}

/** Leaves a phase that is over, unless a person must approve its artifact first. */
function pass(state: WorkflowState, phase: Phase, { verdict, reason }: Judged, seen: Observation): Advance {
  const { nowMs } = seen
  if (phase.approve && state.approval?.standing !== 'approved') return only(askForApproval(state, nowMs), 'wait')
  const failed = isFailing(phase.next, verdict)
  const target = targetAfter(phase.next, verdict)
  const passed = withTransition(
    state,
    {
      ...{ event: failed ? 'fail' : 'pass', phase: phase.id },
      ...(phase.next.cases !== undefined && verdict !== undefined && { verdict }),
      ...(reason !== undefined && { detail: reason }),
    },
    nowMs,
  )
  const left = (next: WorkflowState, kind: 'finish' | 'observe'): Advance => ({
    ...only(next, kind),
    effects: strays(state, seen),
  })
  if (target === END) {
    if (failed) return left(end(passed, 'failed', nowMs, WORKFLOW_TEXT.endedOnFail(phase.id)), 'finish')
    const counted = withOpenSkipped(passed, nowMs)
    const gaps = counted.skips === 0 ? undefined : WORKFLOW_TEXT.wentOnWithout(counted.skips)
    return left(end(counted, 'completed', nowMs, gaps), 'finish')
  }
  const next = findPhase(state.definition, target)
  if (next === undefined || visitsOf(state, target) >= next.maxVisits + state.visitsGranted) {
    const why = WORKFLOW_TEXT.visitsSpent(target, visitsOf(state, target))
    return left(end(state, 'failed', nowMs, why), 'finish')
  }
  return left(
    enter(passed, next, nowMs, { phase: phase.id, verdict, reason: state.approval?.note ?? reason }),
    'observe',
  )
}

/** The state at the end, where the phases that `resume --from` left open count as skipped. */
function withOpenSkipped(state: WorkflowState, nowMs: number): WorkflowState {
  const open = Object.keys(state.unfinished).filter((id) => state.unfinished[id] === 'open')
  return open.reduce((one, id) => {
    const noted = withTransition(one, { event: 'phase-skipped', phase: id, visit: visitsOf(one, id) }, nowMs)
    return { ...noted, unfinished: { ...one.unfinished, [id]: 'skipped' as const }, skips: one.skips + 1 }
  }, state)
}

/** The access to the disk that the loop needs. */
export interface WorkflowPorts {
  /** Observes the files of the current phase. */
  observe(state: WorkflowState): Observation
  /** Performs an effect. Repeating it changes nothing. */
  apply(effect: Effect): void
  /** Adds a state's newest transitions to the history on disk. The state itself is not written. */
  record(state: WorkflowState): void
  /** Writes the whole state to disk, and its newest transitions before it. */
  write(state: WorkflowState): void
  /** True when the driver must answer now: a stop hook has a time limit. */
  isOutOfTime(): boolean
}

/** One transition adds fewer entries to the history than this, plus one for each further step of a hand-out. */
const ENTRIES_AT_ONCE = 8

/** The result of the loop. */
export interface Reconciled {
  readonly state: WorkflowState
  readonly command: Exclude<Command['kind'], 'observe'>
  /** True if there was no time to go on. The command is then `wait`, and the next turn continues. */
  readonly unfinished: boolean
}

/**
 * Runs until there is a prompt to give out, nothing to do, or an end. `onDisk`: the state on disk, if it is not `start`.
 * When it returns, the state is on disk. A state is
 * written before the effects of the next transition, so that a crash at any point leaves a state that leads to the same
 * result. A state keeps only its last transitions, so they are recorded before that many have been added. (A state may be
 * large, and a run may have many finished phases to catch up with: writing each of these states would take too long.)
 */
export function reconcile(start: WorkflowState, ports: WorkflowPorts, onDisk = start): Reconciled {
  let state = start
  let written = onDisk
  let recorded = onDisk.sequence
  const flush = (): void => {
    if (state === written) return
    ports.write(state)
    written = state
    recorded = state.sequence
  }
  for (;;) {
    const { state: next, command, effects } = advance(state, ports.observe(state))
    // Written first: after a crash, only a file that this run was about to archive counts as an archived result.
    const archiving = effects.flatMap((effect) => (effect.kind === 'archive-step' ? effect.name : []))
    if (archiving.length > 0) state = { ...state, archiving }
    if (effects.length > 0) flush()
    for (const effect of effects) ports.apply(effect)
    state = next.archiving.length > 0 && next !== state ? { ...next, archiving: [] } : next
    if (state.sequence - recorded > HISTORY_KEPT - ENTRIES_AT_ONCE - currentPhase(state).parallel + 1) {
      ports.record(state)
      recorded = state.sequence
    }
    const unfinished = command.kind === 'observe' && ports.isOutOfTime()
    if (command.kind === 'observe' && !unfinished) continue
    flush()
    return { state, command: command.kind === 'observe' ? 'wait' : command.kind, unfinished }
  }
}
