import type { StdinRead } from '../../disk/stdin.ts'
import { MAX_ID_LENGTH } from '../../hosts/payload.ts'
import { oneLine } from '../../kernel/text.ts'
import { isJsonObject, jsonObjectIn } from '../../kernel/values.ts'
import { namedWork } from '../../marker/marker.ts'
import { type MarkerView, viewMarkers } from '../../marker/marker-view.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { findRoots, startFolders } from '../../project/root.ts'
import { SPECS_ITSELF, taskNumberOf } from '../../project/task-folder.ts'
import { DONE_WORD, isSessionFolderName } from '../../project/task-folders.ts'
import { eachRunFile } from '../../run/store/run-file.ts'
import * as field from '../../views/documents.ts'
import { type LineItem, statusLine } from '../../views/status-line.ts'
import type { Declaration, Run } from '../command.ts'

/** `hooks/postflight-hook StatusLine` answers without Node if there is nothing to show. */

export const declaration = {
  description: "print one short line for a host's status line, from the host's JSON on stdin",
  examples: ['statusline < status.json'],
  notes: [
    `\n\`postflight-hook StatusLine\` prints the same line, and does not start Node\nif there is nothing to show.`,
  ],
  declare: (command) => command,
} satisfies Declaration

export const document = () =>
  field.object({
    text: field.text('The line; empty if there is nothing to show.'),
    pending: field.count('The number of pending markers, those of other sessions included.'),
    waiting: field.count('The number of markers and runs that wait.'),
    running: field.count('The number of running workflows that do not wait.'),
    abandoned: field.count('The number of abandoned markers.'),
  })

/** A host sends its JSON at once. A terminal, or a program that sends nothing, must not delay the line. */
const PATIENCE_MS = 300

export const run: Run<typeof declaration, typeof document> = async (context) => {
  if (context.environment.POSTFLIGHT_DISABLE === '1') return resultOf([])
  const { session, folders } = hostState(await context.readInput?.(PATIENCE_MS))
  const roots = rootsOf(context, folders)
  const items = await Promise.all(roots.map((root) => itemsOf(root, session, context.nowMs)))
  return resultOf(items.flat())
}

function resultOf(items: readonly LineItem[]) {
  const text = statusLine(items)
  const count = (kind: LineItem['kind']): number => items.filter((item) => item.kind === kind).length
  return {
    data: {
      text,
      pending: count('pending'),
      waiting: count('waiting'),
      running: count('running'),
      abandoned: count('abandoned'),
    },
    lines: text === '' ? [] : [text],
  }
}

function hostState(read: StdinRead | undefined) {
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== ''
  const { session_id: session, cwd, workspace } = jsonObjectIn(read?.kind === 'text' ? read.text : '')
  const { current_dir: current, project_dir: project } = isJsonObject(workspace) ? workspace : {}
  return {
    session: isText(session) && session.length <= MAX_ID_LENGTH ? session : undefined,
    folders: [cwd, current, project].filter(isText),
  }
}

function rootsOf({ rootOption, environment, cwd }: CommandContext, folders: readonly string[]): string[] {
  if (rootOption !== undefined) return findRoots(startFolders({ option: rootOption, environment: {}, cwd }).slice(0, 1))
  return findRoots([...folders.map((path) => ({ from: 'payload-cwd', path })), ...startFolders({ environment, cwd })])
}

async function itemsOf(root: string, session: string | undefined, nowMs: number): Promise<LineItem[]> {
  const { markers } = viewMarkers(root, nowMs)
  // A marker that was left behind or bypassed needs no attention.
  const current = markers.filter(({ state }) => state !== 'expired' && state !== 'bypassed')
  const items = current.map((view) => markerItem(view, session))
  const runs = [...eachRunFile(root)].flatMap(({ folder }) => folder ?? [])
  if (runs.length === 0) return items
  // The code of runs takes 5 ms to load.
  const { runLineItems } = await import('../../views/status/run-line.ts')
  return [...items, ...runs.flatMap((folder) => runLineItems(folder, shortName(folder.task), session))]
}

function markerItem(view: MarkerView, session: string | undefined): LineItem {
  const task = shortName(view.task)
  const { host_session: owner } = view.owner
  const isOurs = owner === null || session === undefined || owner === session
  if (view.state === 'unreadable') return { kind: 'unusable', isOurs: true, text: `${task} unreadable` }
  if (view.state === 'abandoned') return { kind: 'abandoned', isOurs, text: `${task} abandoned` }
  if (view.wait !== null) return { kind: 'waiting', isOurs, text: `${task} waits: ${oneLine(view.wait.for, 40)}` }
  const { spent, limit } = view.continuations
  const done = view.steps.filter((step) => step.done).length
  const named = task === DONE_WORD ? undefined : namedWork(view).operation
  const operation = named === undefined ? '' : ` ${oneLine(named, 24)}`
  const facts = [
    `${task}${operation}`,
    ...(view.steps.length === 0 ? [] : [`${done}/${view.steps.length} steps`]),
    ...(spent === null || spent === 0 ? [] : [`blocked ${spent}/${limit}`]),
  ]
  return { kind: 'pending', isOurs, text: facts.join(', ') }
}

function shortName(task: string): string {
  if (isSessionFolderName(task)) return DONE_WORD
  return task === SPECS_ITSELF ? 'specs' : oneLine(String(taskNumberOf(task) ?? task), 30)
}
