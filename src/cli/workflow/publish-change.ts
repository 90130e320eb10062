import os from 'node:os'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { asPostflightError, messageOf } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { RUN_SHARE_FILE } from '../../kernel/files.ts'
import { oneLine } from '../../kernel/text.ts'
import { variable } from '../../kernel/values.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { STATUS_TEXT } from '../../run/run-messages.ts'
import type { Machine } from '../../run/shared/publish-run.ts'
import { refuseMoved, SHARED_TEXT } from '../../run/shared/share-record.ts'
import { requireState } from '../../run/store/state-store.ts'

export function machineOf({ environment, nowMs }: CommandContext): Machine {
  return { name: oneLine(variable(environment, 'POSTFLIGHT_MACHINE')?.trim() || os.hostname(), 100), nowMs }
}

const NOTE_AFTER_MS = 5_000

export async function withRemote<Result>({ note }: CommandContext, work: () => Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => note(SHARED_TEXT.waits), NOTE_AFTER_MS)
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
  const { publishRun } = await import('../../run/shared/publish-run.ts')
  const published = await withRemote(context, () => publishRun(folder, machineOf(context))).catch((error: unknown) => {
    if (asPostflightError(error).code !== 'share-unreadable') throw error
    context.note(messageOf(error))
  })
  if (published?.problem === undefined) return
  const publish = commandLine(['workflow', 'publish', taskWord(folder)], context.rootOption)
  context.note(STATUS_TEXT.notPublished(published.problem, publish))
}

export async function publishNow(context: CommandContext, folder: TaskFolder, remote?: string): Promise<string[]> {
  const { publishRun, shareRun } = await import('../../run/shared/publish-run.ts')
  const machine = machineOf(context)
  if (remote !== undefined) await withRemote(context, () => shareRun(folder, remote, machine))
  const state = requireState(folder)
  refuseMoved(folder, state)
  const published = await withRemote(context, () => publishRun(folder, machine))
  if (published === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
  const { problem: detail } = published
  if (detail !== undefined) {
    throw new PostflightError('not-published', { task: taskWord(folder), remote: published.remote, detail })
  }
  const resume = commandLine(['workflow', 'resume', taskWord(folder)], undefined)
  return [
    SHARED_TEXT.readable(published.remote, state.id),
    `  ${SHARED_TEXT.machine(machine.name)}`,
    `  ${SHARED_TEXT.elsewhere(`${resume} --shared${published.remote === 'origin' ? '' : ` ${published.remote}`}`)}`,
  ]
}
