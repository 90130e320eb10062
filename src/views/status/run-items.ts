import { commandLine } from '../../kernel/command-line.ts'
import { messageOf } from '../../kernel/error-messages.ts'
import { inLine, oneLine, shellWord } from '../../kernel/text.ts'
import { formatAge } from '../../kernel/time.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { runStatus } from '../../run/machine/picture.ts'
import { needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { isApprovalDue } from '../../run/machine/steering.ts'
import { shareOf } from '../../run/shared/share-record.ts'
import { locationText } from '../../run/store/active-runs.ts'
import { findRunFiles, isOfRun } from '../../run/store/run-file.ts'
import { readState } from '../../run/store/state-store.ts'
import { type StatusKind, PROJECT_STATUS_TEXT as TEXT, VERDICT_TEXT } from '../status-messages.ts'
import type { StatusItem } from './status-items.ts'

export interface CompletedRun {
  readonly kind: 'completed'
  readonly task: string
  readonly host_session: string | null
}

export function runItems(
  context: CommandContext,
  root: string,
  folders: readonly TaskFolder[],
): (StatusItem | CompletedRun)[] {
  const readers = folders.map((folder) => ({ folder, read: readEarly(folder) }))
  // After the states: a run file is made before its state becomes active.
  const files = findRunFiles(root)
  return readers.flatMap(({ folder, read }) => {
    const { task, relative } = folder
    try {
      const state = read()
      if (state === undefined || (!state.active && state.settled)) return []
      const kind = runStatus(state)
      if (kind === 'completed') return { kind, task, host_session: state.hostSession ?? null }
      const isLost = state.active && !files.some((file) => isOfRun(file, folder, state.id))
      return itemOf(context, kind, folder, state, isLost)
    } catch (error) {
      const message = messageOf(error)
      const sentence = VERDICT_TEXT.problem(task, message)
      return { kind: 'unusable', task, path: inLine(relative), host_session: null, message, sentence, fix: null }
    }
  })
}

function readEarly(folder: TaskFolder): () => WorkflowState | undefined {
  try {
    const state = readState(folder)
    return () => state
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function itemOf(
  { nowMs, rootOption }: CommandContext,
  kind: StatusKind,
  folder: TaskFolder,
  state: WorkflowState,
  isLost: boolean,
): StatusItem {
  const path = inLine(folder.relative)
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], rootOption)
  const facts = [
    oneLine(state.name, 80),
    state.active && locationText(state),
    state.active && state.stopRequestedMs !== undefined && TEXT.stopping,
    state.wait !== undefined && TEXT.waitsFor(state.wait.for),
    isApprovalDue(state) && TEXT.needsApproval,
    state.why !== undefined && oneLine(state.why, 300),
    isLost && TEXT.noRunFile,
    TEXT.lastChange(formatAge(Math.max(0, nowMs - state.updatedMs))),
    TEXT.session(state.hostSession ?? null),
  ]
  return {
    task: folder.task,
    path,
    kind,
    host_session: state.hostSession ?? null,
    message: TEXT.item(kind, path, facts),
    sentence: sentenceOf(kind, folder.task, state),
    fix: isLost ? command('workflow', 'resume') : runFixFor(kind, state, folder, command),
  }
}

function sentenceOf(kind: StatusKind, task: string, state: WorkflowState): string {
  if (kind === 'waiting') {
    const need = needOf(state)
    const what = need.kind === 'wait' ? TEXT.waitsFor(need.wait.for) : TEXT.needsApproval
    return VERDICT_TEXT.runWaits(task, state.name, what)
  }
  return VERDICT_TEXT.run(task, kind, state.name, state.active ? locationText(state) : state.why)
}

function runFixFor(
  kind: StatusKind,
  state: WorkflowState,
  folder: TaskFolder,
  command: (...words: string[]) => string,
): string {
  const remote = shareOf(folder, state.id)?.remote ?? 'origin'
  const ofRun = (word: string): string => command('workflow', word)
  const need = needOf(state)
  if (need.kind === 'approval') {
    return TEXT.fixes.approval(`${inLine(folder.relative)}/${need.artifact}`, ofRun('approve'), ofRun('reject'))
  }
  if (kind === 'running' || kind === 'waiting') return TEXT.fixes.running(ofRun('status'), ofRun('resume'))
  const clear = command('clear')
  if (kind === 'skipped') return TEXT.fixes.skipped(ofRun('history'), clear)
  if (kind === 'aborted') return TEXT.fixes.aborted(ofRun('history'), ofRun('start'), clear)
  if (kind === 'moved') return TEXT.fixes.moved(`${ofRun('resume')} --shared ${shellWord(remote)}`, clear)
  // Without budget, its reason says how to begin a new run.
  return TEXT.fixes.over(need.kind === 'resume' ? ofRun('resume') : undefined, clear)
}
