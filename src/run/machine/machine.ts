import { ARTIFACTS_FOLDER } from '../../kernel/files.ts'
import { times } from '../../kernel/text.ts'
import { findPhase } from '../definition/definition.ts'
import { END } from '../definition/definition-limits.ts'
import { isFailing, type Phase, targetAfter } from '../definition/phase-fields.ts'
import { MAX_STEP_LENGTH, type Step } from '../definition/steps.ts'
import { isIdle } from './agent-stop.ts'
import { archivedName, artifactFault, type Effect, isTooEarly, type Observation } from './observation.ts'
import {
  askForApproval,
  currentPhase,
  isInStep,
  needsApproval,
  skippedText,
  visitPutAside,
  where,
  withPhaseSkipped,
} from './position.ts'
import {
  end,
  enter,
  hasBegun,
  isArchiving,
  isPrompted,
  visitsOf,
  type WorkflowState,
  withdrawn,
  withTransition,
} from './state.ts'
import { HISTORY_KEPT } from './state-fields.ts'
import {
  type Advance,
  advanceSteps,
  attemptsFailed,
  commandOfRun,
  goesOutAgain,
  only,
  orWait,
  prompt,
  promptOnceMore,
  strays,
} from './step-machine.ts'

/**
 * The machine: `(state, observation) → (state, command, effects)`, without disk access. Effects precede their state and
 * can be repeated. So after a crash between them, an archived step result with the current attempt's name counts.
 */

/** Never throws for a state from `parseState`. A run that was asked to stop does not wait for an idle agent. */
export function advance(state: WorkflowState, seen: Observation): Advance {
  if (!state.active) return only(state, 'finish')
  const advanced = advanceActive(state, seen)
  const next = advanced.state
  if (advanced.command !== 'wait' || next.stopRequestedMs === undefined || !isIdle(next)) return advanced
  return { ...only(end(next, 'stopped', seen.nowMs), 'finish'), effects: advanced.effects }
}

function advanceActive(state: WorkflowState, seen: Observation): Advance {
  const phase = currentPhase(state)
  if (isArchiving(state)) return clearArtifact(state, phase)
  if (state.stopRequestedMs !== undefined && !hasBegun(state)) return only(end(state, 'stopped', seen.nowMs), 'finish')
  if (needsApproval(state)) return only(state, 'wait')
  // An older artifact counts: so a run continues after a crash.
  if (!hasBegun(state) && phase.artifact !== undefined && seen.artifact.kind === 'valid' && !isTooEarly(seen)) {
    return pass(state, phase, seen.artifact, seen)
  }
  if (!state.stepsKnown) return learnSteps(state, phase, seen)
  return isInStep(state) ? advanceSteps(state, phase, seen) : advancePhase(state, phase, seen)
}

/** Archives the old or rejected artifact. The state is already in the phase: if it leads to itself, this led here. */
function clearArtifact(state: WorkflowState, { id, artifact: file }: Phase): Advance {
  const folder = `${ARTIFACTS_FOLDER}/${id}`
  const effects: Effect[] =
    file === undefined
      ? []
      : [{ kind: 'archive-artifact', file, folder, name: archivedName(visitPutAside(state), file) }]
  return { state: { ...state, stage: hasBegun(state) ? 'between-prompts' : 'entered' }, command: 'observe', effects }
}

function learnSteps(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  if (phase.steps?.kind === 'list') {
    return only({ ...state, stepsKnown: true, totalSteps: phase.steps.steps.length }, 'observe')
  }
  if (seen.steps === undefined) return only(state, 'wait')
  if (seen.steps.kind === 'none') {
    // No prompt asks for the list again.
    const why = `${seen.steps.fix}, then run \`${commandOfRun('resume', seen)}\``
    return only(end(state, 'stalled', seen.nowMs, why), 'finish')
  }
  const isDone = phase.steps?.kind === 'checklist' && seen.steps.steps.length === 0
  const steps = isDone ? reasonAsStep(state) : seen.steps.steps
  return only({ ...state, stepsKnown: true, totalSteps: steps.length, takenSteps: steps }, 'observe')
}

/** Without open tasks, the one step is the reason for the visit. */
function reasonAsStep({ ledBy, phase, visits }: WorkflowState): Step[] {
  if (ledBy === undefined) return []
  const { verdict = 'pass', reason } = ledBy
  const isSentBack = verdict !== 'pass'
  if (reason !== undefined) return isSentBack || Number(visits[phase]) > 1 ? [reason.slice(0, MAX_STEP_LENGTH)] : []
  return isSentBack ? [`the verdict of phase "${ledBy.phase}" was "${verdict}": find out why, and fix it`] : []
}

/** An invalid artifact from before the prompt counts as none. */
function isNothingLeft({ promptedMs }: WorkflowState, { artifact }: Observation): boolean {
  if (artifact.kind !== 'invalid') return artifact.kind === 'absent'
  return artifact.changedMs !== undefined && promptedMs !== undefined && artifact.changedMs < promptedMs
}

function advancePhase(state: WorkflowState, phase: Phase, seen: Observation): Advance {
  if (phase.artifact === undefined) return pass(state, phase, {}, seen)
  if (isTooEarly(seen)) return only(state, 'wait')
  if (seen.artifact.kind === 'valid') return pass(state, phase, seen.artifact, seen)
  const why = artifactFault(seen.artifact, phase.artifact)
  if (!isPrompted(state)) {
    const known = seen.artifact.kind === 'invalid' && state.lastFailure === undefined ? why : state.lastFailure
    return orWait(state, prompt({ ...state, lastFailure: known }, seen))
  }
  if (!seen.returned) return only(state, 'wait')
  if (isNothingLeft(state, seen) && goesOutAgain(state, seen)) return promptOnceMore(state, seen)
  const attempts = state.phaseAttempts + 1
  const failed = withTransition(state, { event: 'retry', ...where(state), detail: why }, seen.nowMs)
  const tried = { ...failed, phaseAttempts: attempts, stage: withdrawn(failed), lastFailure: why }
  if (attempts < state.maxPhaseAttempts) return only(tried, 'observe')
  if (phase.gate === 'strict') return only(end(tried, 'stalled', seen.nowMs, attemptsFailed(attempts, why)), 'finish')
  const goingOn = { ...tried, skips: state.skips + 1 }
  const warned = withTransition(goingOn, { event: 'warn', ...where(state), detail: why }, seen.nowMs)
  // A missing or invalid artifact counts as a failing verdict.
  const hasVerdict = phase.next.verdict !== undefined && phase.next.cases === undefined
  return pass(warned, phase, hasVerdict ? { verdict: 'fail', reason: why } : {}, seen)
}

type Judged = Partial<Record<'verdict' | 'reason', string | undefined>>

function pass(state: WorkflowState, phase: Phase, { verdict, reason }: Judged, seen: Observation): Advance {
  const { nowMs } = seen
  if (phase.approve && state.approval?.standing !== 'approved') return only(askForApproval(state, nowMs), 'wait')
  const failed = isFailing(phase.next, verdict)
  const target = targetAfter(phase.next, verdict)
  const way = phase.next.cases === undefined ? undefined : verdict
  const event = failed ? 'fail' : 'pass'
  const passed = withTransition(state, { event, phase: phase.id, verdict: way, detail: reason }, nowMs)
  const left = (next: WorkflowState, kind: 'finish' | 'observe'): Advance => ({
    ...only(next, kind),
    effects: strays(state, seen),
  })
  if (target === END) {
    if (failed) {
      const why = `the verdict of phase "${phase.id}" was "fail", which ends the workflow`
      return left(end(passed, 'failed', nowMs, why), 'finish')
    }
    const open = Object.keys(passed.unfinished).filter((id) => passed.unfinished[id] === 'open')
    const completed = open.reduce((one, id) => withPhaseSkipped(one, id, nowMs), passed)
    return left(end(completed, 'completed', nowMs, skipsReason(completed, seen)), 'finish')
  }
  const next = findPhase(state.definition, target)
  if (next === undefined || visitsOf(state, target) >= next.maxVisits + state.visitsGranted) {
    const why = `phase "${target}" was already entered ${times(visitsOf(state, target))}, its limit (max_visits)`
    return left(end(state, 'failed', nowMs, why), 'finish')
  }
  const reasons = [reason, state.approval?.note].filter((one) => one !== undefined)
  const ledBy = { phase: phase.id, verdict, reason: reasons.length === 0 ? undefined : reasons.join('\n') }
  return left(enter(passed, next, nowMs, ledBy), 'observe')
}

function skipsReason({ skips }: WorkflowState, seen: Observation): string | undefined {
  return skips === 0 ? undefined : skippedText(skips, commandOfRun('history', seen))
}

export interface WorkflowPorts {
  observe(state: WorkflowState): Observation
  /** Must be repeatable. */
  apply(effect: Effect): void
  /** Writes the transitions after `written`, then the state. */
  write(state: WorkflowState, written: WorkflowState): void
  /** A stop hook has a time limit. */
  isOutOfTime?(): boolean
}

/** To copy a list that always grows would take too long. */
const MAX_UNWRITTEN = 1_000

/**
 * Writes the state before the next effects, so that a crash anywhere leads to the same result. Writing every state would
 * take too long. `unfinished`: whether time ran out; the next turn continues.
 */
export function reconcile(start: WorkflowState, ports: WorkflowPorts, onDisk = start) {
  let state = start
  let written = onDisk
  const flush = (): void => {
    if (state === written) return
    ports.write(state, written)
    written = state
  }
  for (;;) {
    if (state.history.length > MAX_UNWRITTEN) {
      flush()
      state = written = { ...state, history: state.history.slice(-HISTORY_KEPT) }
    }
    const { state: next, command, effects } = advance(state, ports.observe(state))
    // Written first: after a crash, only a file that this run was about to archive counts as an archived result.
    const archiving = effects.flatMap((effect) => (effect.kind === 'archive-step' ? effect.name : []))
    if (archiving.length > 0) state = { ...state, archiving }
    if (effects.length > 0) flush()
    for (const effect of effects) ports.apply(effect)
    state = next.archiving.length > 0 && next !== state ? { ...next, archiving: [] } : next
    const unfinished = command === 'observe' && ports.isOutOfTime?.() === true
    if (command === 'observe' && !unfinished) continue
    flush()
    return { state, command: command === 'observe' ? 'wait' : command, unfinished }
  }
}
