import { resumeSharedLine } from '../../kernel/command-line.ts'
import { messageOf } from '../../kernel/errors.ts'
import { inLine, oneLine, quote } from '../../kernel/text.ts'
import { formatAge, toIso } from '../../kernel/time.ts'
import { type CommandContext, findCommandRoot } from '../../project/command-context.ts'
import { newRootFolder } from '../../project/new-task-folder.ts'
import { taskFolderBelow } from '../../project/task-folders.ts'
import { isResumable, needOf } from '../../run/machine/position.ts'
import { RUN_OUTCOMES } from '../../run/machine/state-fields.ts'
import { gitCall } from '../../run/shared/publish-run.ts'
import { type RemoteCall, requireRemote } from '../../run/shared/ref-store.ts'
import { folderOfShare, holderWords, shareOf } from '../../run/shared/share-record.ts'
import { isHeldBy, type RemoteRun, readRuns, type UnreadableRun } from '../../run/shared/take-run.ts'
import { locationText } from '../../run/store/active-runs.ts'
import * as field from '../../views/documents.ts'
import type { Result } from '../command.ts'
import { withRemote } from '../runs.ts'

export async function sharedStatus(context: CommandContext, remote: string, isVerdict: boolean) {
  const { paint } = context
  const root = findCommandRoot(context) ?? newRootFolder(context)
  const call = await requireRemote(gitCall(root), remote)
  const { runs, lost } = await withRemote(context, () => readRuns(call))
  const rows = runs.map((run) => rowOf(context, call, run))
  const clean = runs.every((run) => 'state' in run && !isResumable(run.state))
  return {
    exitCode: isVerdict && !clean ? 1 : 0,
    data: { remote, clean, runs: rows, lost },
    lines: [
      ...(rows.length === 0 ? [`no shared runs in ${remote}`] : []),
      ...rows.flatMap(({ message, fix, needs }) => [
        `${needs === null ? paint.red('✗') : needs === 'nothing' ? paint.green('✓') : paint.yellow('●')} ${message}`,
        ...(fix === null ? [] : [`  → ${fix}`]),
      ]),
      ...lost.map((ref) => `${paint.yellow('!')} ${ref} keeps what was not published before a takeover`),
    ],
  } satisfies Result<typeof sharedDocument>
}

type Row = field.DocumentOf<typeof sharedDocument>['runs'][number]

const UNREADABLE = {
  task: null,
  name: null,
  phase: null,
  outcome: null,
  needs: null,
  machine: null,
  session: null,
  since: null,
  here: false,
  updated_at: null,
  fix: null,
} as const

function rowOf(context: CommandContext, { root, project }: RemoteCall, run: RemoteRun | UnreadableRun): Row {
  if ('problem' in run) return { ...UNREADABLE, id: run.run, message: `${run.run}: ${messageOf(run.problem)}` }
  const { remote, holder, state } = run
  const isHere = isHeldBy(shareOf(folderOfShare(root, holder.path, run.run), run.run), run)
  const { task } = taskFolderBelow(root, holder.path)
  const need = needOf(state)
  const age = formatAge(Math.max(0, context.nowMs - holder.sinceMs))
  const facts = [
    oneLine(state.name, 80),
    state.active ? locationText(state) : (state.outcome ?? ''),
    ...(need.kind === 'approval' ? ['waits for approval'] : []),
    ...(need.kind === 'wait' ? [`waits for: ${quote(need.wait.for, 500)}`] : []),
    holder.machine === undefined
      ? `released ${age} ago`
      : isHere
        ? `held here for ${age}`
        : `held by ${holderWords(holder)} for ${age}`,
  ]
  const isOwn = holder.project === project
  const isFree = holder.machine === undefined && isOwn && isResumable(state)
  const message = [inLine(`${isOwn ? '' : (holder.project ?? './')}${task}`), ...facts, run.run].join(' · ')
  return {
    id: run.run,
    task,
    name: state.name,
    phase: state.phase,
    outcome: state.outcome ?? null,
    needs: need.kind,
    machine: holder.machine ?? null,
    session: holder.session ?? null,
    since: toIso(holder.sinceMs),
    here: isHere,
    updated_at: toIso(state.updatedMs),
    message,
    fix: isFree ? resumeSharedLine(run.run, remote, context.rootOption) : null,
  }
}

export const sharedDocument = () =>
  field.object({
    remote: field.text('The git remote.'),
    clean: field.flag('True if every run in it is completed or aborted. With --exit-code, the exit code is 1 if not.'),
    runs: field.objects({
      id: field.text('The id of the run: its ref is refs/postflight/{id}.'),
      task: field.optionalText('Name of the task folder; null for a run that cannot be read.'),
      name: field.optionalText('Name of the workflow.'),
      phase: field.optionalText('The current phase.'),
      outcome: field.optional(field.oneOf(RUN_OUTCOMES), 'Null while it runs.'),
      needs: field.optional(
        field.oneOf(['approval', 'stop', 'wait', 'prompt', 'resume', 'nothing']),
        'What it needs to continue.',
      ),
      machine: field.optionalText('The machine that holds it; null if it was released.'),
      session: field.optionalText('The session there.'),
      since: field.optionalText('Since when it has been held, or released. ISO 8601.'),
      here: field.flag('True if this project holds it.'),
      updated_at: field.optionalText('The last change of the run. ISO 8601.'),
      message: field.text('The same as a sentence, or why it cannot be read.'),
      fix: field.optionalText('The command that continues it here.'),
    }),
    lost: field.described(
      field.texts('A ref.'),
      'Refs that keep what a machine had not published when another one took its run.',
    ),
  })
