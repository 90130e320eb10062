import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { MAIN_AGENT } from '../../hosts/payload.ts'
import { messageOf, PostflightError } from '../../kernel/errors.ts'
import { MARKER_FILE, RUN_ID_FILE } from '../../kernel/files.ts'
import { forEveryOne } from '../../kernel/values.ts'
import type { Marker } from '../../marker/marker.ts'
import { changeMarker, readMarker, requireReadable } from '../../marker/marker-store.ts'
import { announcedWait, formatWait, waitsLeft } from '../../marker/marker-wait.ts'
import { isUnowned, markerDisplayPath } from '../../marker/stored-marker.ts'
import { displayPath, recordInJournal, requireTaskFolder } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import * as field from '../../views/documents.ts'
import { callerOf, type Identity } from '../caller.ts'
import { type Declaration, HOST_SESSION, lineOf, type Run, TASK } from '../command.ts'

/** docs/design.md, "Waiting". */

const PURPOSE_LIMIT = 500

export const declaration = {
  free: true,
  description: 'announce that you are stopping to wait for a person or for background work',
  examples: ['wait 259 --for "go-ahead to deploy"', 'wait 259 --for "the build to finish"'],
  declare: (command) =>
    command
      .argument(...TASK)
      .requiredOption('--for <text>', 'what you wait for', lineOf('--for', PURPOSE_LIMIT))
      .option(...HOST_SESSION),
} satisfies Declaration

export const document = () =>
  field.object({
    id: field.optionalText("The marker's id; the run's if only a run waits."),
    path: field.text("The absolute path of the marker, or of the run's state."),
    task: field.task,
    for: field.text('What the agent waits for.'),
    count: field.count('The number of prompts at which the marker has waited, this one included.'),
  })

export const run: Run<typeof declaration, typeof document> = async (context, [task], options) => {
  const caller = callerOf(context, options)
  if (caller.session === undefined) throw new PostflightError('session-unknown')
  const folder = requireTaskFolder(context, task, 'marker', caller.session)
  const hasRun = kindAt(path.join(folder.path, RUN_ID_FILE)) !== undefined
  const runs = hasRun ? await import('../../run/store/active-runs.ts') : undefined
  const announcers: (() => ReturnType<typeof waitOfMarker> | undefined)[] = [
    () =>
      hasRun && requireReadable(readMarker(folder)) === undefined
        ? undefined
        : waitOfMarker(folder, options.for, caller),
    () => runs?.announceRunWait(folder, caller, options.for),
  ]
  const failures: unknown[] = []
  const waits = forEveryOne(announcers, failures, (announce) => announce() ?? [])
  const [first] = waits
  if (first === undefined) throw failures[0] ?? new PostflightError('marker-none', { folder: folder.relative })
  for (const failure of failures) context.note(`postflight: ${messageOf(failure)}`)
  const { session: hostSession, agent } = caller
  const markerId = first.id ?? undefined
  recordInJournal(context, folder, { event: 'wait', markerId, hostSession, agent, detail: options.for })
  const lines = waits.map((one) => `waiting ${displayPath(context, one.path)}${one.id === null ? '' : `  ${one.id}`}`)
  const until = waits.some(({ left }) => left === 'here-only')
    ? 'that was the tenth wait, the limit: it allows stops only at the prompt where the tenth wait began'
    : 'the stops of this prompt are allowed; the wait ends with the next message, or when the background work ends'
  return {
    data: { id: first.id, path: first.path, task: folder.task, for: options.for, count: first.count },
    // The hook learns from these lines at which prompt the agent waits, so --quiet keeps them.
    lines: [...lines, `  ${until}`],
    essential: lines,
  }
}

function waitOfMarker(folder: TaskFolder, purpose: string, caller: Identity) {
  const { plan, marker } = changeMarker(folder, (present) => {
    const why = whyRefused(present, caller)
    if (why !== undefined) {
      throw new PostflightError('wait-refused', { path: markerDisplayPath(folder), task: taskWord(folder), why })
    }
    const { wait: before, waits: used = 0 } = present
    const wait = announcedWait(purpose, before, used)
    return { fields: { wait: formatWait(wait) }, count: wait.count, left: waitsLeft(before, used) }
  })
  const { count, left } = plan
  return { id: marker.id ?? null, path: path.join(folder.path, MARKER_FILE), count, left }
}

function whyRefused(marker: Marker, { session, agent, isSubagent }: Identity) {
  if (isUnowned(marker)) return 'unowned'
  if (marker.hostSession !== session) return 'other-session'
  if (isSubagent || (agent !== undefined && agent !== MAIN_AGENT)) return 'by-sub-agent'
  if (marker.agentType !== undefined || (marker.agent !== undefined && marker.agent !== MAIN_AGENT)) return 'sub-agent'
  return waitsLeft(marker.wait, marker.waits ?? 0) === 'no' ? 'limit' : undefined
}
