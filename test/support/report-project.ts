/** Fills a project with markers and runs of past days, as the journal and the states tell of them. */

import { formatJournalEntry, type JournalEntry } from '../../src/project/journal-entry.ts'
import { type Definition, readDefinition } from '../../src/run/definition/definition.ts'
import { enter, newState, pauseClock, type WorkflowState, withTransition } from '../../src/run/machine/state.ts'
import { historyFields, type Transition } from '../../src/run/machine/state-fields.ts'
import { formatState } from '../../src/run/machine/state-file.ts'
import type { Project } from './project.ts'

const MINUTE = 60_000

/** A definition with a loop, a way that skips a phase, and a phase of steps. */
export function reportDefinition(name = 'research to release'): Definition {
  const phase = (id: string, more: object): object => ({
    ...{ id, gate: 'strict', max_attempts: 3, max_visits: 3, max_step_attempts: 3, on_exhausted: 'skip' },
    ...more,
  })
  const at = (artifact: string): object => ({ prompt: 'p', artifact })
  const steps = ['parser', 'command line', 'documentation', 'tests']
  const check = { run: 'npm test' }
  const definition = readDefinition({
    name,
    phases: [
      phase('research', { ...at('research.md'), next: { pass: 'plan', fail: 'plan' } }),
      phase('plan', { ...at('plan.json'), next: { pass: 'implement', fail: 'research', verdict: '/ok' } }),
      phase('implement', { steps, step_prompt: 'p', next: { pass: 'review', fail: 'review' } }),
      phase('review', { ...at('review.json'), check, next: { pass: 'end', fail: 'implement', verdict: '/passed' } }),
    ],
  })
  if (definition === undefined) throw new Error('the definition is not sound')
  return definition
}

/** A run that went through its phases once; its outcome is `completed`, `stalled`, or undefined while it runs. */
export function reportRun(
  startMs: number,
  outcome: 'completed' | 'stalled' | undefined,
  definition = reportDefinition(),
): WorkflowState {
  let nowMs = startMs
  let state = newState(definition, { id: `wf_${startMs}`, nowMs, parentSession: 's', hostSession: 'session-of-a-host' })
  const later = (minutes: number): number => {
    nowMs += minutes * MINUTE
    return nowMs
  }
  const note = (transition: Transition, minutes: number): void => {
    state = withTransition(state, transition, later(minutes))
    if (transition.event === 'prompt') state = { ...state, prompts: state.prompts + 1 }
  }
  for (const phase of definition.phases) {
    if (phase.id !== state.phase) state = enter(state, phase, later(0.1))
    if (phase.steps?.kind === 'list') {
      for (const step of phase.steps.steps.keys()) {
        note({ event: 'prompt', phase: phase.id, visit: 1, step: step + 1, attempt: 1 }, 0.1)
        if (step === 1) {
          const detail = 'step-result.json says success: false: the parser does not read empty lines'
          note({ event: 'step-failed', phase: phase.id, visit: 1, step: step + 1, attempt: 1, detail }, 4)
          note({ event: 'prompt', phase: phase.id, visit: 1, step: step + 1, attempt: 2 }, 0.1)
        }
        note({ event: 'step-done', phase: phase.id, visit: 1, step: step + 1, attempt: 1 }, 5 + step)
        const endedSteps = [...state.endedSteps, { step, attempts: 1, outcome: 'done' as const }]
        state = { ...state, totalSteps: phase.steps.steps.length, endedSteps }
      }
      if (outcome === undefined) return state
    } else {
      note({ event: 'prompt', phase: phase.id, visit: 1, attempt: 1 }, 0.1)
      if (phase.id === 'review' && outcome === 'stalled') {
        note({ event: 'retry', phase: phase.id, attempt: 1, detail: 'the check `npm test` failed (exit code 1)' }, 6)
        const why = 'phase "review": 3 attempts failed'
        note({ event: 'end', phase: phase.id, outcome, detail: why }, 1)
        return { ...pauseClock(state, nowMs), active: false, outcome, why }
      }
      note({ event: 'pass', phase: phase.id, visit: 1 }, 9)
    }
  }
  note({ event: 'end', phase: 'review', outcome: 'completed' }, 0.1)
  return { ...pauseClock(state, nowMs), active: false, outcome: 'completed' }
}

/** The lines of the journal for a marker that began at `startMs`. */
export function markerLines(task: string, startMs: number, kind: 'cleared' | 'capped' | 'waited' | 'open'): string {
  const markerId = `pf_${String(startMs).slice(-12).padStart(12, '0')}`
  const of = { task, markerId, hostSession: 'session-of-a-host', agent: 'main' }
  const at = (minutes: number, entry: Omit<JournalEntry, 'task'>): string =>
    formatJournalEntry({ ...of, ...entry }, startMs + minutes * MINUTE)
  const start = at(0, { event: 'create' })
  const block = (minutes: number, count: number): string => at(minutes, { event: 'block', count })
  switch (kind) {
    case 'cleared':
      return (
        start +
        block(6, 1) +
        at(7, { event: 'step', detail: 'done: update status' }) +
        at(9, { event: 'check', detail: 'failed: npm test (exit code 1; 12 s)' }) +
        at(14, { event: 'clear', outcome: 'cleared', detail: 'checks passed: `npm test` (11 s)' })
      )
    case 'waited':
      return (
        start +
        at(4, { event: 'wait', detail: 'go-ahead to deploy' }) +
        at(21, { event: 'wait-end', detail: 'go-ahead to deploy' }) +
        at(25, { event: 'clear', outcome: 'cleared' })
      )
    case 'capped':
      return start + block(5, 1) + block(6, 2) + block(8, 3) + at(9, { event: 'cap', outcome: 'capped', count: 3 })
    case 'open':
      return start + block(3, 1)
  }
}

export function writeRun(project: Project, task: string, state: WorkflowState): void {
  project.write(`specs/${task}/workflow/state.json`, formatState(state))
  const history = state.history.map((entry) => `${JSON.stringify(historyFields(entry))}\n`).join('')
  project.write(`specs/${task}/workflow/history.jsonl`, history)
}

/** Writes a pending or abandoned marker that the journal knows. */
export function writeMarker(project: Project, task: string, startMs: number, more: object, abandoned = false): void {
  const file = abandoned ? '.postflight-abandoned' : '.postflight-pending'
  const marker = {
    id: `pf_${String(startMs).slice(-12).padStart(12, '0')}`,
    ...{ session_id: 'sess_1', cc_session_id: 'session-of-a-host', agent_id: 'main', skill: 'skill-implement' },
    ...{ operation: 'implement', reason: 'Postflight pending', created: new Date(startMs).toISOString() },
    ...more,
  }
  project.write(`specs/${task}/${file}`, `${JSON.stringify(marker)}\n`)
}
