import { parsePayload } from '../../src/hosts/all-hosts.ts'
import type { Moment, Payload } from '../../src/hosts/payload.ts'
import type { CommandReader } from '../../src/kernel/command-line.ts'
import { type Marker, parseMarker } from '../../src/marker/marker.ts'
import type { FileTimes } from '../../src/marker/stored-marker.ts'
import type { TaskFolder } from '../../src/project/task-folder.ts'
import type { SeenMarker } from '../../src/stop/plan.ts'
import type { BlockedMarker } from '../../src/stop/reason.ts'

/** Markers and payloads for tests, made by the parsers and never by hand. */

export const NOW_MS = Date.parse('2026-01-18T12:00:00Z')

export type Fields = Readonly<Record<string, unknown>>

/** The marker of the original pattern, as an unquoted heredoc of a skill writes it. */
export const PATTERN_MARKER = `{
  "session_id": "sess_1736700000_abc123",
  "skill": "skill-lean-research",
  "task_number": 259,
  "operation": "research",
  "reason": "Postflight pending: status update, artifact linking, git commit",
  "created": "2026-01-18T10:00:00Z",
  "stop_hook_active": false
}
`

/** The same from a quoted heredoc (`<< 'EOF'`): the variables stay, and `$task_number` is not JSON. */
export const PATTERN_MARKER_QUOTED = `{
  "session_id": "$session_id",
  "skill": "skill-lean-research",
  "task_number": $task_number,
  "operation": "research",
  "reason": "Postflight pending: status update, artifact linking, git commit",
  "created": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "stop_hook_active": false
}
`

export function marker(fields: Fields = {}): Marker {
  return parseMarker(JSON.stringify(fields))
}

export function payload(fields: Fields = {}, readEnd?: Parameters<typeof parsePayload>[2]): Payload {
  return parsePayload(JSON.stringify(fields), 0, readEnd)
}

/** A stop of sub-agent `a1` in session `s1`. */
export function subagentStop(fields: Fields = {}): Payload {
  return payload({ hook_event_name: 'SubagentStop', session_id: 's1', agent_id: 'a1', ...fields })
}

/** A stop of the main conversation of session `s1`. */
export function mainStop(fields: Fields = {}): Payload {
  return payload({ hook_event_name: 'Stop', session_id: 's1', ...fields })
}

export function blocked(fields: Fields = {}, more: Partial<Omit<BlockedMarker, 'marker'>> = {}): BlockedMarker {
  const task = more.task ?? '259_prove_completeness'
  const about = { task, path: `specs/${task}/.postflight-pending`, isDone: false, root: undefined, count: 1 }
  const stop = { shells: [], checkingSinceMs: undefined, mayWait: false, endingTool: undefined }
  return { marker: marker(fields), ...about, ...stop, ...more }
}

/** The error that a call throws. It throws itself if the call does not. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** The times of a file that was last changed at `timeMs`. */
export function changedAt(timeMs: number): FileTimes {
  return { modifiedMs: timeMs, changedMs: timeMs }
}

export function stopOf(payload: Payload, sessionBornMs?: number): Moment {
  return { payload, nowMs: NOW_MS, sessionBornMs, startMs: NOW_MS }
}

/** A task folder of the project `/home/me/p`, or of another root. */
export function taskFolder(task = '259_prove_completeness', root = '/home/me/p'): TaskFolder {
  return { root, path: `${root}/specs/${task}`, task, relative: `specs/${task}` }
}

const DONE = `done-${'0'.repeat(16)}`

/** Of a definition of done. */
export const DONE_FOLDER: TaskFolder = { ...taskFolder(DONE), relative: `specs/.postflight/${DONE}` }

/** A shell that finds `/home/me/p` itself, and has `postflight` on its PATH. */
export const READER: CommandReader = {
  foundRoot: '/home/me/p',
  findForm: () => ({ onPath: true, byNpx: false, script: '/opt/postflight.js' }),
}

export function seen(fields: Fields = {}, more: Partial<Extract<SeenMarker, { kind: 'marker' }>> = {}): SeenMarker {
  const read = marker(fields)
  return {
    kind: 'marker',
    folder: taskFolder(),
    fileName: '.postflight-pending',
    marker: read,
    text: JSON.stringify(fields),
    identity: { id: read.id, file: 'f1-1' },
    times: changedAt(NOW_MS),
    spent: 0,
    ...more,
  }
}
