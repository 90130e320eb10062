import { transitionWords } from '../messages/report.ts'
import { oneLine } from '../text.ts'
import type { HistoryEntry } from '../workflow/history.ts'
import { phaseStandings } from '../workflow/mermaid.ts'
import type { Phase } from '../workflow/phase-fields.ts'
import { visitsOf, type WorkflowState } from '../workflow/state.ts'
import type { PhaseStory, ReportRun, RunStory, StepStory, StoryEvent, Tone, VisitStory } from './report.ts'

/** Makes the story of a run from its state and its history. Pure. */

const TONES: Readonly<Record<string, Tone>> = {
  pass: 'good',
  'step-done': 'good',
  retry: 'warn',
  'step-failed': 'warn',
  'step-skipped': 'bad',
  fail: 'warn',
  warn: 'warn',
  'stop-request': 'wait',
}

/** The story of a run. */
export function runStory({ state, history }: ReportRun, nowMs: number): RunStory {
  const visits = visitStories(history, state, nowMs)
  const standings = phaseStandings(state)
  return {
    name: oneLine(state.name, 120),
    standing: standingOf(state),
    why: state.why === undefined ? undefined : oneLine(state.why, 500),
    waitsFor: state.active && state.wait !== undefined ? oneLine(state.wait.for, 300) : undefined,
    session: state.hostSession === undefined ? undefined : oneLine(state.hostSession, 80),
    startMs: state.startedMs,
    endMs: state.active ? Math.max(nowMs, state.startedMs) : state.updatedMs,
    prompts: state.prompts,
    skips: state.skips,
    phases: state.definition.phases.map((phase, index) =>
      phaseStory(phase, standings[index] ?? 'waiting', state, history, visits),
    ),
    visits,
    events: history.map(eventOf),
    definition: state.definition,
    state,
  }
}

function standingOf({ active, wait, outcome, skips }: WorkflowState): RunStory['standing'] {
  if (active) return wait === undefined ? 'running' : 'waiting'
  if (outcome === 'completed') return skips > 0 ? 'skipped' : 'completed'
  return outcome ?? 'stopped'
}

function eventOf({ timeMs, event, phase, step, attempt, outcome, detail }: HistoryEntry): StoryEvent {
  const rest = [outcome, detail === undefined ? undefined : oneLine(detail, 300)].filter((one) => one !== undefined)
  const tone = event === 'end' ? (outcome === 'completed' ? 'good' : 'bad') : (TONES[event] ?? 'plain')
  return {
    timeMs,
    tone,
    words: transitionWords(event, { phase: oneLine(phase, 60), step, attempt }, rest.join(': ') || undefined),
  }
}

/** The visits of phases, in their order. A run that was stopped and resumed goes on in a visit of the same phase. */
function visitStories(history: readonly HistoryEntry[], state: WorkflowState, nowMs: number): VisitStory[] {
  const visits: VisitStory[] = []
  let open: Omit<VisitStory, 'endMs'> | undefined
  const close = (endMs: number, result: VisitStory['result']): void => {
    if (open !== undefined) visits.push({ ...open, result, endMs: Math.max(endMs, open.startMs) })
    open = undefined
  }
  for (const { event, phase, visit, timeMs, outcome } of history) {
    if (event === 'enter' || (event === 'resume' && open === undefined)) {
      close(timeMs, open?.result === 'failed' ? 'failed' : 'passed')
      open = { phase, visit: visit ?? visitsOf(state, phase), startMs: timeMs, prompts: 0, result: 'running' }
    } else if (open !== undefined && event === 'prompt') open = { ...open, prompts: open.prompts + 1 }
    else if (open !== undefined && event === 'fail') open = { ...open, result: 'failed' }
    else if (event === 'end') close(timeMs, outcome === 'completed' ? 'passed' : 'stuck')
  }
  close(state.active ? nowMs : state.updatedMs, state.active ? 'running' : 'stuck')
  return visits
}

function phaseStory(
  phase: Phase,
  standing: PhaseStory['standing'],
  state: WorkflowState,
  history: readonly HistoryEntry[],
  visits: readonly VisitStory[],
): PhaseStory {
  const own = visits.filter((visit) => visit.phase === phase.id)
  return {
    id: phase.id,
    standing,
    artifact: phase.artifact === undefined ? undefined : oneLine(phase.artifact, 120),
    check: phase.check.run === undefined ? undefined : oneLine(phase.check.run, 200),
    visits: visitsOf(state, phase.id),
    prompts: own.reduce((sum, { prompts }) => sum + prompts, 0),
    durationMs: own.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0),
    steps: stepStories(phase, state, history),
  }
}

/** The steps of a phase's last visit. */
function stepStories(phase: Phase, state: WorkflowState, history: readonly HistoryEntry[]): StepStory[] {
  const entered = history.findLastIndex(({ event, phase: id }) => event === 'enter' && id === phase.id)
  const own = history.slice(entered + 1).filter(({ phase: id, step }) => id === phase.id && step !== undefined)
  const listed = phase.steps?.kind === 'list' ? phase.steps.steps : undefined
  const names = listed ?? (phase.id === state.phase ? state.takenSteps : undefined) ?? []
  const reached = own.reduce((most, { step }) => Math.max(most, step ?? 0), 0)
  return Array.from({ length: Math.max(names.length, reached) }, (_, index) => {
    const entries = own.filter(({ step }) => step === index + 1)
    const name = names[index]
    return stepStory(index + 1, name === undefined ? undefined : oneLine(name, 160), entries)
  })
}

function stepStory(number: number, name: string | undefined, entries: readonly HistoryEntry[]): StepStory {
  const last = entries.findLast(({ event }) => event.startsWith('step-'))
  const first = entries[0]
  return {
    number,
    name,
    attempts: entries.filter(({ event }) => event === 'prompt').length,
    result:
      last === undefined
        ? 'open'
        : last.event === 'step-done'
          ? 'done'
          : last.event === 'step-skipped'
            ? 'skipped'
            : 'failed',
    durationMs: first === undefined || last === undefined ? undefined : last.timeMs - first.timeMs,
  }
}
