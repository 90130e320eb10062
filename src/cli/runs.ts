import os from 'node:os'
import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import { argumentsOf, asPostflightError, messageOf, PostflightError } from '../kernel/errors.ts'
import { RUN_SHARE_FILE } from '../kernel/files.ts'
import { oneLine, quote, shellWord } from '../kernel/text.ts'
import { variable } from '../kernel/values.ts'
import { since } from '../marker/check-messages.ts'
import { type CommandContext, recordInJournal, requireTaskFolder } from '../project/command-context.ts'
import { runCommandLine, type TaskFolder, taskWord } from '../project/task-folder.ts'
import { endEntries } from '../run/drive.ts'
import type { Runner, WorkflowState } from '../run/machine/state.ts'
import type { Machine } from '../run/shared/publish-run.ts'
import { refuseMoved, shareOf } from '../run/shared/share-record.ts'
import type { ChangedRun } from '../run/store/run.ts'
import { readState, requireState } from '../run/store/state-store.ts'
import { notPublished, runData, runLines } from '../views/run-view.ts'

export function requireRunFolder(context: CommandContext, task: string): TaskFolder {
  return requireTaskFolder(context, task, 'workflow')
}

export function runnerOf(context: CommandContext, options: Partial<Runner>): Runner {
  const hostSession = options.hostSession ?? context.session
  return { hostSession, parentSession: options.parentSession ?? hostSession }
}

export function checkIsRunning({ nowMs }: CommandContext, check: { readonly run: string; readonly sinceMs: number }) {
  return `the check \`${quote(check.run, 200)}\` has been running since ${since(check.sinceMs, nowMs)}: wait for it to end, then try again`
}

export async function changeRun(
  context: CommandContext,
  task: string,
  change: (folder: TaskFolder, nowMs: number) => ChangedRun,
  furtherLines: (state: WorkflowState, before: WorkflowState, folder: TaskFolder) => string[] = () => [],
) {
  const folder = requireRunFolder(context, task)
  const { before, state } = change(folder, context.nowMs)
  recordInJournal(context, folder, ...endEntries(folder, before, state))
  await publishChange(context, folder)
  return runResult(context, folder, state, furtherLines(state, before, folder))
}

export function runResult(context: CommandContext, folder: TaskFolder, state: WorkflowState, more: string[] = []) {
  const data = runData(folder, state, context.nowMs)
  return { data, lines: [...runLines(context, folder, state, data), ...more] }
}

export function machineOf({ environment, nowMs, rootOption }: CommandContext): Machine {
  const name = oneLine(variable(environment, 'POSTFLIGHT_MACHINE')?.trim() || os.hostname(), 100)
  return { name, nowMs, rootOption }
}

const NOTE_AFTER_MS = 5_000

export async function withRemote<Result>({ note }: CommandContext, work: () => Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => note('waiting for the git remote (30 s at most)'), NOTE_AFTER_MS)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}

/** A failure is a note on stderr: the run continues here. */
export async function publishChange(context: CommandContext, folder: TaskFolder): Promise<void> {
  // Most runs are not shared, and git and child processes take time to load.
  if (kindAt(path.join(folder.path, RUN_SHARE_FILE)) === undefined) return
  const { publishRun } = await import('../run/shared/publish-run.ts')
  try {
    await withRemote(context, () => publishRun(folder, machineOf(context)))
  } catch (error) {
    const failed = argumentsOf(error, 'not-published')
    if (failed !== undefined) context.note(notPublished(context, folder, `${failed.detail}${failed.advice}`))
    else if (asPostflightError(error).code === 'share-unreadable') context.note(messageOf(error))
    else throw error
  }
}

/** Before another run takes its folder: hooks, which do not publish, may have ended this one. A failure is a note. */
export async function publishEnd(context: CommandContext, folder: TaskFolder): Promise<void> {
  const state = readState(folder)
  const share = state === undefined ? undefined : shareOf(folder, state.id)
  if (state === undefined || share === undefined || state.active || share.sequence >= state.sequence) return
  const { publishRun } = await import('../run/shared/publish-run.ts')
  try {
    await withRemote(context, () => publishRun(folder, machineOf(context)))
  } catch (error) {
    if (asPostflightError(error).code === 'workflow-moved') return context.note(messageOf(error, context.rootOption))
    // Its advice would be about the next run in this folder.
    const detail = argumentsOf(error, 'not-published')?.detail ?? messageOf(error)
    context.note(`the end of the earlier run (${state.outcome}) was not published: ${quote(detail)}`)
    if (share.commit === '') return
    const { removalCommand } = await import('../run/shared/ref-store.ts')
    const root = context.rootOption === undefined ? undefined : folder.root
    // Another machine may have taken it since.
    const remove = removalCommand(share.remote, state.id, root, share.commit)
    context.note(`if it still shows as running in ${share.remote}, \`${remove}\` removes it there`)
  }
}

/** Shares the run first if `shareWith` is the name of a remote. */
export async function publishNow(context: CommandContext, folder: TaskFolder, shareWith?: string): Promise<string[]> {
  const { publishRun, shareRun } = await import('../run/shared/publish-run.ts')
  const machine = machineOf(context)
  if (shareWith !== undefined) await withRemote(context, () => shareRun(folder, shareWith, machine))
  const state = requireState(folder)
  refuseMoved(folder, state)
  const remote = await withRemote(context, () => publishRun(folder, machine))
  if (remote === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
  return [
    `published to ${remote} as refs/postflight/${state.id}. Everyone who can read that repository can now read the run: all prompts and inputs, artifacts, step results, receipts and history`,
    `  and the name of this machine: ${machine.name} (POSTFLIGHT_MACHINE changes it)`,
    `  after \`${runCommandLine(folder, 'release', context.rootOption)}\` here, ${elsewhere(folder, remote)}`,
  ]
}

export function elsewhere(folder: TaskFolder, remote: string): string {
  const resume = runCommandLine(folder, 'resume', undefined)
  return `another machine continues it with \`${resume} --shared${remote === 'origin' ? '' : ` ${shellWord(remote)}`}\``
}
