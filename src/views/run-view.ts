import * as z from 'zod/mini'
import { resumeSharedLine } from '../kernel/command-line.ts'
import { approval, counted, inLine, oneLine, quote } from '../kernel/text.ts'
import { formatAge, toIso } from '../kernel/time.ts'
import type { CommandContext } from '../project/command-context.ts'
import { runCommandLine, type TaskFolder } from '../project/task-folder.ts'
import { runBound } from '../run/definition/bound.ts'
import { type PhaseStatus, phaseStatuses, shownStatus } from '../run/machine/picture.ts'
import {
  currentPhase,
  isFromBefore,
  isResumable,
  needOf,
  skippedText,
  stepLine,
  where,
} from '../run/machine/position.ts'
import { phaseMs, visitsOf, type WorkflowState } from '../run/machine/state.ts'
import { type HistoryEntry, RUN_OUTCOMES } from '../run/machine/state-fields.ts'
import { isApprovalDue } from '../run/machine/steering.ts'
import { shareOf } from '../run/shared/share-record.ts'
import { progress, stepsInWork } from '../run/store/active-runs.ts'
import { listedIn } from '../run/store/observe-run.ts'
import { hasRunFile } from '../run/store/run-file.ts'
import * as field from './documents.ts'

export const runDocument = () => {
  const phase = field.object({
    id: field.text("The phase's id."),
    state: field.oneOf(['done', 'running', 'failed', 'skipped', 'waiting']),
    visits: field.count('The number of times it was entered.'),
    max_visits: field.count('The number of times it may be entered.'),
    artifact: field.optionalText('The file that it must produce, as a path in the task folder.'),
    gate: field.oneOf(['strict', 'advisory']),
    duration_ms: field.count('The time for which the run worked on it.'),
  })
  return field.object({
    id: field.text('The id of the run.'),
    task: field.task,
    name: field.text('Name of the workflow.'),
    active: field.flag('True while it runs.'),
    outcome: field.optional(field.oneOf(RUN_OUTCOMES)),
    why: field.optionalText('Why it ended as it did, in words.'),
    phase: field.text('The current phase.'),
    step: field.optionalCount('The current step, from 1; null between steps.'),
    in_work: field.described(
      field.list(field.count('From 1.')),
      'The steps that have begun and not ended: one, or several in parallel.',
    ),
    total_steps: field.count('The number of steps of this phase.'),
    attempt: field.count('The current attempt, from 1.'),
    last_failure: field.optionalText('Why the last attempt failed.'),
    stop_requested: field.flag('True if no further prompt goes out: it stops when its agent ends its turn.'),
    wait: field.wait(),
    approval: field.optionalObject('The approval by a person that this phase needs.', {
      standing: field.oneOf(['asked', 'approved', 'rejected']),
      note: field.optionalText('The note of an approval, or the reason for a rejection.'),
    }),
    host_session: field.optionalText('The session that drives it.'),
    parent_session_id: field.optionalText('The session that its prompts belong to.'),
    prompts: field.count('The number of prompts sent so far.'),
    prompt_bound: field.optionalCount(
      'The maximum number of its prompts, those sent included; null once it has ended.',
    ),
    started_at: field.text('ISO 8601.'),
    updated_at: field.text('ISO 8601.'),
    age_ms: field.described(z.int(), 'Time since the last change.'),
    run_file: field.flag("True if the run's file exists in specs/.postflight/running/, by which the hook finds it."),
    shared: field.optionalObject('The remote that the run is shared with.', {
      remote: field.text('The git remote.'),
      published_at: field.optionalText('ISO 8601; null before the first publish.'),
      is_published: field.flag('False if the run has changed since, or was never published.'),
      problem: field.optionalText('Why the last publish failed.'),
    }),
    phases: field.list(phase),
  })
}

export type RunDocument = field.DocumentOf<typeof runDocument>

export function runExitCode({ active, outcome }: Pick<WorkflowState, 'active' | 'outcome'>): 0 | 1 {
  return active || outcome === 'completed' ? 0 : 1
}

export function runData(folder: TaskFolder, state: WorkflowState, nowMs: number): RunDocument {
  const statuses = phaseStatuses(state)
  const { step, attempt } = where(state)
  return {
    id: state.id,
    task: folder.task,
    name: state.name,
    active: state.active,
    outcome: state.outcome ?? null,
    why: state.why ?? null,
    phase: state.phase,
    step: step ?? null,
    in_work: stepsInWork(state),
    total_steps: state.totalSteps,
    attempt,
    last_failure: state.lastFailure ?? null,
    stop_requested: state.stopRequestedMs !== undefined,
    wait: state.wait === undefined ? null : { for: oneLine(state.wait.for, 500), count: state.wait.count },
    approval:
      state.approval === undefined ? null : { standing: state.approval.standing, note: state.approval.note ?? null },
    host_session: state.hostSession ?? null,
    parent_session_id: state.parentSession ?? null,
    prompts: state.prompts,
    prompt_bound: runBound(state, listedIn(folder)) ?? null,
    started_at: toIso(state.startedMs),
    updated_at: toIso(state.updatedMs),
    age_ms: Math.round(nowMs - state.updatedMs),
    run_file: hasRunFile(folder, state.id),
    shared: sharedData(folder, state),
    phases: state.definition.phases.map((phase, index) => ({
      id: phase.id,
      state: statuses[index] ?? 'waiting',
      visits: visitsOf(state, phase.id),
      max_visits: phase.maxVisits + state.visitsGranted,
      artifact: phase.artifact ?? null,
      gate: phase.gate,
      duration_ms: phaseMs(state, phase.id, nowMs),
    })),
  }
}

function sharedData(folder: TaskFolder, { id, sequence }: WorkflowState): RunDocument['shared'] {
  const share = shareOf(folder, id)
  if (share === undefined) return null
  const { remote, publishedMs, problem } = share
  return {
    remote,
    published_at: publishedMs === undefined ? null : toIso(publishedMs),
    is_published: publishedMs !== undefined && problem === undefined && share.sequence >= sequence,
    problem: problem ?? null,
  }
}

function sharedNotes(context: CommandContext, folder: TaskFolder, state: WorkflowState): string[] {
  const { nowMs, rootOption, paint } = context
  const share = shareOf(folder, state.id)
  if (share === undefined) return []
  const { remote, publishedMs, problem } = share
  if (state.outcome === 'moved') {
    const resume = resumeSharedLine(state.id, remote, rootOption)
    return [`→ \`${resume}\` continues it here, unless another machine holds it`]
  }
  const changed = share.sequence < state.sequence ? ', changed since' : ''
  const published =
    publishedMs === undefined
      ? 'not published yet'
      : `published ${formatAge(Math.max(0, nowMs - publishedMs))} ago${changed}`
  const shared = `shared with ${remote}: ${published}`
  return problem === undefined ? [shared] : [shared, `${paint.yellow('!')} ${notPublished(context, folder, problem)}`]
}

export function notPublished({ rootOption }: CommandContext, folder: TaskFolder, problem: string): string {
  const publish = runCommandLine(folder, 'publish', rootOption)
  return `not published: ${quote(problem)}. The next command of the run tries again, or \`${publish}\``
}

export function runLines(context: CommandContext, folder: TaskFolder, state: WorkflowState, data: RunDocument) {
  const { rootOption, paint } = context
  const { active, outcome, why, lastFailure, hostSession, wait, skips, phaseSkips } = state
  const name = (text: string): string => oneLine(text, 120)
  const signs: Readonly<Record<PhaseStatus, string>> = {
    done: paint.green('✓'),
    running: paint.yellow('▶'),
    failed: paint.red('✗'),
    skipped: paint.yellow('–'),
    waiting: '·',
  }
  const command = (word: string): string => runCommandLine(folder, word, rootOption)
  const artifact = `${folder.relative}/${currentPhase(state).artifact ?? ''}`
  const warning = paint.yellow('!')
  // Those of this visit are listed below, if they can be tried again.
  const earlier = isResumable(state) ? skips - phaseSkips : skips
  const lastAttempt = isApprovalDue(state) ? 'the attempt before' : 'last attempt'
  const notes = [
    why !== undefined && `${warning} ${oneLine(why, 500)}`,
    active &&
      lastFailure !== undefined &&
      `${warning} ${isFromBefore(state) ? 'a file from before' : lastAttempt}: ${quote(lastFailure, 500)}`,
    // `why` counts those of a completed run.
    outcome !== 'completed' && earlier > 0 && `${warning} earlier, ${skippedText(earlier, command('history'))}`,
    ...givenUpNotes(state, command('retry'), context),
    active && hostSession !== undefined && `session ${quote(hostSession, 120)} drives it`,
    isApprovalDue(state) &&
      `${paint.yellow('→')} waits for approval: ${approval(artifact, command('approve'), command('reject'))}`,
    active &&
      data.stop_requested &&
      `→ no further prompt: it stops when its agent ends its turn; \`${command('stop')} --now\` stops it immediately`,
    active && wait !== undefined && `waits for: ${quote(wait.for, 500)}`,
    needOf(state).kind === 'resume' && `→ \`${command('resume')}\` continues it`,
    ...sharedNotes(context, folder, state),
    active &&
      !data.run_file &&
      `${warning} its run file is missing, so hooks ignore it; \`${command('resume')}\` restores it`,
  ]
  return [
    [
      `${paint.bold(inLine(folder.relative))}  ${name(state.name)}`,
      statusText(state),
      `${counted(data.prompts, 'prompt')}${data.prompt_bound === null ? '' : `, at most ${data.prompt_bound}`}`,
      `last change ${formatAge(Math.max(0, data.age_ms))} ago`,
    ].join(' · '),
    ...data.phases.map((phase) => {
      const facts = [
        phase.artifact !== null && name(phase.artifact),
        phase.state === 'skipped' && 'skipped',
        phase.gate === 'advisory' && 'advisory',
        phase.visits > 1 && `visit ${phase.visits} of ${phase.max_visits}`,
        phase.id === state.phase && phase.state !== 'done' && progress(state),
        phase.visits > 0 && formatAge(phase.duration_ms),
      ]
      return `  ${signs[phase.state]} ${phase.id.padEnd(16)} ${facts.filter(Boolean).join(' · ')}`.trimEnd()
    }),
    ...notes.filter((note) => note !== false).map((note) => `  ${note}`),
  ]
}

const MAX_GIVEN_UP = 8

function givenUpNotes(state: WorkflowState, retry: string, { paint }: CommandContext): string[] {
  const lost = isResumable(state) ? state.endedSteps.filter(({ outcome }) => outcome === 'skipped') : []
  if (lost.length === 0) return []
  const shown = lost.slice(0, MAX_GIVEN_UP).map(({ step }) => `${step + 1} ${stepLine(state, step)}`.trimEnd())
  const more = lost.length > shown.length ? ` and ${lost.length - shown.length} more` : ''
  const steps = quote(shown.join(', '), 500)
  return [`${paint.red('✗')} given up: ${steps}${more}; \`${retry} --step N\` tries one again`]
}

function statusText(state: WorkflowState): string {
  if (!state.active) return state.outcome ?? ''
  return state.stopRequestedMs === undefined ? shownStatus(state) : 'stopping'
}

export function historyLine(entry: HistoryEntry, phaseWidth: number): string {
  const { visit, step, attempt, outcome, verdict, detail } = entry
  const facts = [
    visit !== undefined && visit > 1 && `visit ${visit}`,
    step !== undefined && `step ${step}`,
    attempt !== undefined && `attempt ${attempt}`,
    outcome,
    verdict !== undefined && `verdict ${oneLine(verdict, 60)}`,
    detail !== undefined && oneLine(detail, 300),
  ]
  const rest = facts.filter(Boolean).join(', ')
  const phase = rest === '' ? entry.phase : `${entry.phase.padEnd(phaseWidth)}  ${rest}`
  return inLine(`${toIso(entry.timeMs)}  ${entry.event.padEnd(12)} ${phase}`)
}
