import { commandLine } from '../../kernel/command-line.ts'
import { messageOf } from '../../kernel/errors.ts'
import { freshStart, inLine, oneLine, quote, shellWord } from '../../kernel/text.ts'
import { formatAge } from '../../kernel/time.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { runCommandLine, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { shownStatus } from '../../run/machine/picture.ts'
import { needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { isApprovalDue } from '../../run/machine/steering.ts'
import { shareOf } from '../../run/shared/share-record.ts'
import { locationText } from '../../run/store/active-runs.ts'
import { hasRunFile, type ListedRunFiles } from '../../run/store/run-file.ts'
import { readState } from '../../run/store/state-store.ts'
import { problemSentence, type StatusItem, type StatusKind, sessionFact, statusItem, taskName } from './status-items.ts'

export type CompletedRun = Readonly<{ kind: 'completed'; task: string; host_session: string | null }>

export function runItems(context: CommandContext, folders: readonly TaskFolder[]): (StatusItem | CompletedRun)[] {
  const listed: ListedRunFiles = new Map()
  return folders.flatMap((folder) => {
    const { task, relative } = folder
    try {
      const state = readState(folder)
      if (state === undefined || (!state.active && state.settled)) return []
      const kind = shownStatus(state)
      if (kind === 'completed') return { kind, task, host_session: state.hostSession ?? null }
      // After the state: a run file is made before its state becomes active.
      const isLost = state.active && !hasRunFile(folder, state.id, listed)
      return itemOf(context, kind, folder, state, isLost)
    } catch (error) {
      const message = messageOf(error)
      const sentence = `${taskName(task)}: ${problemSentence(message)}`
      return { kind: 'unusable', task, path: inLine(relative), host_session: null, message, sentence, fix: null }
    }
  })
}

function itemOf(
  { nowMs, rootOption }: CommandContext,
  kind: StatusKind,
  folder: TaskFolder,
  state: WorkflowState,
  isLost: boolean,
) {
  const session = state.hostSession ?? null
  const facts = [
    oneLine(state.name, 80),
    state.active && locationText(state),
    state.active && state.stopRequestedMs !== undefined && 'stopping',
    state.wait !== undefined && `waits for ${quote(state.wait.for)}`,
    isApprovalDue(state) && 'waits for approval',
    state.why !== undefined && oneLine(state.why, 300),
    isLost && 'no run file, so hooks ignore it',
    `last change ${formatAge(Math.max(0, nowMs - state.updatedMs))} ago`,
    sessionFact(session),
  ]
  const place = { task: folder.task, path: inLine(folder.relative), session }
  const fix = isLost ? runCommandLine(folder, 'resume', rootOption) : fixOf(kind, state, folder, rootOption)
  return statusItem(kind, place, facts, sentenceOf(kind, folder.task, state), fix)
}

function sentenceOf(kind: StatusKind, task: string, state: WorkflowState): string {
  const workflow = `${taskName(task)}: its workflow "${oneLine(state.name, 80)}"`
  if (kind === 'waiting') {
    const need = needOf(state)
    return `${workflow} waits for ${need.kind === 'wait' ? quote(need.wait.for) : 'approval'}.`
  }
  const detail = state.active ? locationText(state) : state.why
  return `${workflow} ${OUTCOMES[kind] ?? kind}${detail === undefined ? '' : ` (${quote(detail)})`}.`
}

const OUTCOMES: Partial<Record<StatusKind, string>> = {
  running: 'is still running',
  stopped: 'was stopped',
  aborted: 'was aborted',
  moved: 'goes on elsewhere',
  skipped: 'was completed with skips',
}

function fixOf(kind: StatusKind, state: WorkflowState, folder: TaskFolder, rootOption: string | undefined) {
  const remote = shareOf(folder, state.id)?.remote ?? 'origin'
  const ofRun = (word: string): string => runCommandLine(folder, word, rootOption)
  const need = needOf(state)
  if (need.kind === 'approval') {
    const file = quote(`${inLine(folder.relative)}/${need.artifact}`)
    return `read ${file}, then ${ofRun('approve')}, or ${ofRun('reject')} --reason TEXT`
  }
  if (kind === 'running' || kind === 'waiting') {
    return `${ofRun('status')}; to continue it in another session: ${ofRun('resume')}`
  }
  const clear = commandLine(['clear', taskWord(folder)], rootOption)
  if (kind === 'skipped') return `${ofRun('history')} shows what was skipped. If that is all right: ${clear}`
  if (kind === 'aborted') {
    return `${ofRun('history')} shows what was done; ${freshStart(ofRun('start'))}. To list it no longer: ${clear}`
  }
  if (kind === 'moved') {
    const resume = `${ofRun('resume')} --shared ${shellWord(remote)}`
    return `to continue it here: ${resume}. To remove it from this list: ${clear}`
  }
  // Once the budget is spent, its reason says how to begin a new run.
  const resume = need.kind === 'resume' ? `to continue it: ${ofRun('resume')}; ` : ''
  return `${resume}if it is no longer wanted: ${clear}`
}
