import { commandLine } from '../../core/command-line.ts'
import { counted } from '../../core/messages/phrases.ts'
import { DRIVER_TEXT } from '../../core/messages/runs.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import { inLine, oneLine } from '../../core/text.ts'
import { formatAge, toIso } from '../../core/time.ts'
import { promptBound } from '../../core/workflow/bound.ts'
import type { HistoryEntry } from '../../core/workflow/history.ts'
import { isInStep } from '../../core/workflow/machine.ts'
import { type PhaseStanding, phaseStandings } from '../../core/workflow/mermaid.ts'
import { visitsOf, type WorkflowState } from '../../core/workflow/state.ts'
import { readMarker } from '../../io/marker-file.ts'
import type { RunDocument } from '../documents/workflow/run.ts'
import type { Painter } from '../report.ts'

/** A run as `status` and `history` show it. */

/** The run as data. */
export function runData(folder: TaskFolder, state: WorkflowState, nowMs: number): RunDocument {
  const standings = phaseStandings(state)
  return {
    task: folder.task,
    name: state.name,
    active: state.active,
    outcome: state.outcome ?? null,
    why: state.why ?? null,
    phase: state.phase,
    step: isInStep(state) ? state.currentStep + 1 : null,
    total_steps: state.totalSteps,
    attempt: (isInStep(state) ? state.stepAttempts : state.phaseAttempts) + 1,
    last_failure: state.lastFailure ?? null,
    stop_requested: state.stopRequestedMs !== undefined,
    host_session: state.hostSession ?? null,
    parent_session_id: state.parentSession ?? null,
    prompts: state.prompts,
    prompt_bound: promptBound(state.definition),
    started_at: toIso(state.startedMs),
    updated_at: toIso(state.updatedMs),
    age_ms: Math.round(nowMs - state.updatedMs),
    marker: hasMarker(folder),
    phases: state.definition.phases.map((phase, index) => ({
      id: phase.id,
      state: standings[index] ?? 'waiting',
      visits: visitsOf(state, phase.id),
      max_visits: phase.maxVisits,
      artifact: phase.artifact ?? null,
      gate: phase.gate,
    })),
  }
}

/** True when the hook would find the run. */
function hasMarker(folder: TaskFolder): boolean {
  const marker = readMarker(folder)
  return marker?.kind === 'marker' && marker.marker.workflow
}

/** The picture: a line for the run, one for each phase, and what is wrong. */
export function runLines(folder: TaskFolder, state: WorkflowState, nowMs: number, paint: Painter): string[] {
  const name = (text: string): string => oneLine(text, 120)
  const standings = phaseStandings(state)
  const head = [
    `${paint.bold(inLine(folder.relative))}  ${name(state.name)}`,
    state.active
      ? state.stopRequestedMs === undefined
        ? 'running'
        : 'stopping after this phase'
      : (state.outcome ?? ''),
    `${counted(state.prompts, 'prompt')}, at most ${promptBound(state.definition)}`,
    `last change ${formatAge(Math.max(0, nowMs - state.updatedMs))} ago`,
  ]
  return [
    head.join(' · '),
    ...state.definition.phases.map((phase, index) => {
      const standing = standings[index] ?? 'waiting'
      const visits = visitsOf(state, phase.id)
      const facts = [
        phase.artifact === undefined ? '' : name(phase.artifact),
        phase.gate === 'advisory' ? 'advisory' : '',
        visits > 1 ? `visit ${visits} of ${phase.maxVisits}` : '',
        phase.id === state.phase && standing !== 'done' ? progress(state) : '',
      ]
      return `  ${sign(standing, paint)} ${phase.id.padEnd(16)} ${facts.filter((fact) => fact !== '').join(' · ')}`.trimEnd()
    }),
    ...(state.why === undefined ? [] : [`  ${paint.yellow('!')} ${oneLine(state.why, 500)}`]),
    ...(state.active && state.lastFailure !== undefined
      ? [`  ${paint.yellow('!')} the last attempt: ${oneLine(state.lastFailure, 500)}`]
      : []),
    ...(state.active && state.hostSession !== undefined ? [`  ${DRIVER_TEXT.drives(state.hostSession)}`] : []),
    ...(state.active && !hasMarker(folder)
      ? [
          `  ${paint.yellow('!')} its marker is missing, so no hook finds it: \`${commandLine(['workflow', 'resume', taskWord(folder)], undefined)}\` puts it back`,
        ]
      : []),
  ]
}

/** Where a run is, in words. */
export function placeText(state: WorkflowState): string {
  return `phase ${state.phase}, ${progress(state)}`
}

function progress(state: WorkflowState): string {
  if (isInStep(state)) {
    return `step ${state.currentStep + 1} of ${state.totalSteps}, attempt ${Math.min(state.stepAttempts + 1, state.maxStepAttempts)} of ${state.maxStepAttempts}`
  }
  return `attempt ${Math.min(state.phaseAttempts + 1, state.maxPhaseAttempts)} of ${state.maxPhaseAttempts}`
}

function sign(standing: PhaseStanding, paint: Painter): string {
  switch (standing) {
    case 'done':
      return paint.green('✓')
    case 'running':
      return paint.yellow('▶')
    case 'failed':
      return paint.red('✗')
    case 'waiting':
      return '·'
  }
}

/** A transition on one line. */
export function historyLine(entry: HistoryEntry): string {
  const facts = [
    entry.visit === undefined || entry.visit === 1 ? '' : `visit ${entry.visit}`,
    entry.step === undefined ? '' : `step ${entry.step}`,
    entry.attempt === undefined ? '' : `attempt ${entry.attempt}`,
    entry.outcome ?? '',
    entry.detail === undefined ? '' : oneLine(entry.detail, 300),
  ]
  const rest = facts.filter((fact) => fact !== '').join(', ')
  return inLine(`${toIso(entry.timeMs)}  ${entry.event.padEnd(12)} ${entry.phase}${rest === '' ? '' : `  ${rest}`}`)
}
