import { oneLine } from '../../kernel/text.ts'
import type { Phase } from '../../run/definition/phase-fields.ts'
import { stepAsText } from '../../run/definition/steps.ts'
import { phaseStatuses, shownStatus } from '../../run/machine/picture.ts'
import { needOf } from '../../run/machine/position.ts'
import { phaseMs, visitsOf, type WorkflowState, workedMs } from '../../run/machine/state.ts'
import type { HistoryEntry, TransitionEvent } from '../../run/machine/state-fields.ts'
import { type ReportRun, type Span, type StoryEvent, type Tone, toneOf } from './story.ts'

const TRANSITIONS: Readonly<Record<TransitionEvent, readonly [words: string, tone?: Tone]>> = {
  start: ['started'],
  enter: ['entered'],
  prompt: ['prompt sent'],
  retry: ['attempt failed', 'warn'],
  'step-done': ['done', 'good'],
  'step-failed': ['failed', 'warn'],
  'step-skipped': ['given up', 'bad'],
  pass: ['passed', 'good'],
  fail: ['verdict: fail', 'warn'],
  warn: ['continued without a valid artifact', 'warn'],
  approval: ['waits for approval', 'wait'],
  approved: ['approved', 'good'],
  rejected: ['rejected', 'warn'],
  'step-again': ['starts again with all its attempts'],
  'phase-skipped': ['skipped'],
  'stop-request': ['stop requested', 'wait'],
  resume: ['resumed'],
  end: ['ended'],
}

export function runStory({ state, history }: ReportRun, nowMs: number) {
  const visits = visitStories(history, state, nowMs)
  const statuses = phaseStatuses(state)
  return {
    name: oneLine(state.name, 120),
    status: shownStatus(state),
    why: state.why === undefined ? undefined : oneLine(state.why, 500),
    waitsFor: waitsFor(state),
    session: state.hostSession === undefined ? undefined : oneLine(state.hostSession, 80),
    startMs: state.startedMs,
    endMs: state.active ? Math.max(nowMs, state.startedMs) : state.updatedMs,
    workedMs: workedMs(state, nowMs),
    prompts: state.prompts,
    skips: state.skips,
    /** A person has accepted how it ended. */
    settled: !state.active && state.settled,
    phases: state.definition.phases.map((phase, index) => ({
      id: phase.id,
      status: statuses[index] ?? 'waiting',
      check: phase.check.run === undefined ? undefined : oneLine(phase.check.run, 200),
      visits: visitsOf(state, phase.id),
      prompts: visits.reduce((sum, visit) => sum + (visit.phase === phase.id ? visit.prompts : 0), 0),
      workedMs: phaseMs(state, phase.id, nowMs),
      steps: visitSteps(phase, state, history),
    })),
    visits,
    events: history.map(eventOf),
    definition: state.definition,
  }
}

export type RunStory = Readonly<ReturnType<typeof runStory>>
export type PhaseStory = RunStory['phases'][number]

function waitsFor(state: WorkflowState): string | undefined {
  const need = needOf(state)
  if (need.kind === 'approval') return `a person to approve the result of ${oneLine(need.phase, 60)}`
  return need.kind === 'wait' ? oneLine(need.wait.for, 300) : undefined
}

function eventOf({ timeMs, event, phase, step, attempt = 1, outcome, verdict, detail }: HistoryEntry): StoryEvent {
  const where = [oneLine(phase, 60), step !== undefined && `step ${step}`, attempt !== 1 && `attempt ${attempt}`]
  const rest = [
    outcome,
    verdict !== undefined && `verdict ${oneLine(verdict, 60)}`,
    detail !== undefined && oneLine(detail, 300),
  ]
  const [what, tone = 'plain'] = TRANSITIONS[event]
  const because = rest.filter(Boolean).join(': ')
  const words = `${where.filter(Boolean).join(', ')}: ${what}${because && ` (${because})`}`
  return { timeMs, tone: outcome === undefined ? tone : toneOf(outcome), words }
}

type Visit = Span & Readonly<{ phase: string; prompts: number; result: 'passed' | 'failed' | 'running' | 'stuck' }>

function visitStories(history: readonly HistoryEntry[], state: WorkflowState, nowMs: number): Visit[] {
  const visits: Visit[] = []
  let open: Omit<Visit, 'endMs'> | undefined
  const close = (endMs: number, result: Visit['result']): void => {
    if (open !== undefined) visits.push({ ...open, result, endMs: Math.max(endMs, open.startMs) })
    open = undefined
  }
  for (const [index, { event, phase, timeMs, outcome }] of history.entries()) {
    // `resume --from` leaves the phase that it resumes at once.
    if (event === 'enter' && history[index - 1]?.event === 'resume') open = undefined
    if (event === 'enter' || (event === 'resume' && open === undefined)) {
      close(timeMs, open?.result === 'failed' ? 'failed' : 'passed')
      open = { phase, startMs: timeMs, prompts: 0, result: 'running' }
    } else if (open !== undefined && event === 'prompt') open = { ...open, prompts: open.prompts + 1 }
    else if (open !== undefined && event === 'fail') open = { ...open, result: 'failed' }
    else if (event === 'end') close(timeMs, outcome === 'completed' ? 'passed' : 'stuck')
  }
  close(state.active ? nowMs : state.updatedMs, state.active ? 'running' : 'stuck')
  return visits
}

function visitSteps(phase: Phase, state: WorkflowState, history: readonly HistoryEntry[]) {
  const own = history.filter(({ phase: id }) => id === phase.id)
  // The beginning of the history may be missing.
  const starts = [...own.keys()].filter((at) => at === 0 || own[at]?.event === 'enter')
  const visits = starts.map((from, at) => {
    return { visit: own[from]?.visit ?? at + 1, entries: own.slice(from, starts[at + 1]) }
  })
  const last = visitsOf(state, phase.id)
  if (!visits.some(({ visit }) => visit === last)) visits.push({ visit: last, entries: [] })
  return visits
    .map(({ visit, entries }) => ({ visit, steps: stepStories(phase, visit === last, state, entries) }))
    .filter(({ steps }) => steps.length > 0)
}

function stepStories(phase: Phase, isLast: boolean, state: WorkflowState, own: readonly HistoryEntry[]) {
  const listed = phase.steps?.kind === 'list' ? phase.steps.steps : undefined
  const names = listed ?? (isLast && phase.id === state.phase ? state.takenSteps : undefined) ?? []
  const reached = own.reduce((most, { step }) => Math.max(most, step ?? 0), 0)
  return Array.from({ length: Math.max(names.length, reached) }, (_, index) => {
    const entries = own.filter(({ step }) => step === index + 1)
    const name = names[index]
    // Only the definition and the current visit still have the whole text.
    const text = name === undefined ? entries.find(({ event }) => event === 'prompt')?.detail : stepAsText(name)
    const last = entries.findLast(({ event }) => STEP_RESULTS[event] !== undefined)
    const result = (last && STEP_RESULTS[last.event]) ?? 'open'
    return {
      number: index + 1,
      name: text === undefined ? undefined : oneLine(text, 160),
      attempts: entries.filter(({ event }) => event === 'prompt').length,
      result,
      durationMs: result === 'open' ? undefined : entries[0] && last && last.timeMs - entries[0].timeMs,
    }
  })
}

const STEP_RESULTS: Partial<Readonly<Record<TransitionEvent, 'done' | 'skipped' | 'failed' | 'open'>>> = {
  prompt: 'open',
  'step-done': 'done',
  'step-skipped': 'skipped',
  'step-failed': 'failed',
  'step-again': 'open',
}
