import path from 'node:path'
import { errorText } from '../disk/file-facts.ts'
import { namesLike } from '../disk/folders.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import { oneLine } from '../kernel/text.ts'
import { toIso } from '../kernel/time.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../project/task-folders.ts'
import { failureWords, markerProblem } from './check-messages.ts'
import { ABANDONED } from './clear-files.ts'
import { spentOf } from './given-up.ts'
import { CONTINUATION_LIMIT } from './loop-guard.ts'
import { type Marker, UNCHECKED } from './marker.ts'
import { readMarker } from './marker-file.ts'
import { isExpired, isUnowned, madeAtMs, markerDisplayPath } from './stored-marker.ts'

export interface MarkerView {
  state: 'pending' | 'bypassed' | 'expired' | 'abandoned' | 'unreadable'
  outcome: 'capped' | 'expired' | 'unchecked' | null
  task: string
  path: string
  relative_path: string
  id: string | null
  skill: string | null
  operation: string | null
  reason: string | null
  owner: { host_session: string | null; agent: string | null; agent_type: string | null }
  promised_at: string | null
  age_ms: number | null
  continuations: { spent: number | null; limit: number }
  steps: readonly { name: string; done: boolean }[]
  checks: readonly { run: string; step: string | null; failed: string | null }[]
  wait: { for: string; count: number } | null
  problems: string[]
}

/** Such a marker still blocks stops; one whose file cannot be opened does not. */
export function unparsedFaults({ state, promised_at: madeAt, problems }: MarkerView): string[] | undefined {
  if (state !== 'unreadable' || madeAt === null) return undefined
  return problems.filter((problem) => problem !== UNOWNED_PROBLEM)
}

export const UNOWNED_PROBLEM =
  "has no host session, so it blocks any sub-agent's stop and never the main conversation's"

const TEXT_LIMIT = 4000
const MAX_ABANDONED = 20

export function viewMarkers(root: string, nowMs: number, only?: TaskFolder) {
  const { folders, problems } = only === undefined ? listTaskFolders(root) : { folders: [only], problems: [] }
  const pending = foldersHolding(folders, MARKER_FILE, problems).flatMap(
    (folder) => viewMarker(folder, MARKER_FILE, nowMs) ?? [],
  )
  const abandoned = folders.flatMap((folder) =>
    abandonedNames(folder).flatMap((name) => viewMarker(folder, name, nowMs) ?? []),
  )
  return { markers: [...pending, ...abandoned], problems }
}

function abandonedNames({ path: folder }: TaskFolder): string[] {
  const number = (name: string): number => Number(name.slice(ABANDONED_FILE.length + 1))
  const names = namesLike(folder, ABANDONED).sort((one, other) => number(one) - number(other))
  return names.slice(0, MAX_ABANDONED)
}

function viewMarker(folder: TaskFolder, fileName: string, nowMs: number): MarkerView | undefined {
  const read = readMarker(folder, fileName)
  if (read === undefined) return undefined
  const base = {
    task: folder.task,
    path: path.join(folder.path, fileName),
    relative_path: markerDisplayPath(folder, fileName),
  }
  if (read.kind === 'unreadable') return { ...UNKNOWN, ...base, problems: [`cannot be read (${read.detail})`] }
  const { marker, times } = read
  const { hostSession, agent, agentType } = marker
  const abandoned = fileName !== MARKER_FILE
  const isUnchecked = marker.outcome === UNCHECKED
  const expired = isExpired(marker, times, nowMs)
  const madeMs = madeAtMs(marker, times, nowMs)
  const problems = [...new Set(marker.problems.map(markerProblem))]
  if (isUnowned(marker) && !abandoned && !expired) problems.push(UNOWNED_PROBLEM)
  let spent: number | null = null
  try {
    // Not known from the file.
    spent = abandoned ? (isUnchecked ? null : CONTINUATION_LIMIT) : spentOf(read)
  } catch (error) {
    problems.push(`has a count that cannot be read (${errorText(error)})`)
  }
  const quoted = (text: string | undefined): string | null => (text === undefined ? null : oneLine(text, TEXT_LIMIT))
  return {
    ...base,
    ...(abandoned
      ? { state: 'abandoned', outcome: isUnchecked ? 'unchecked' : 'capped' }
      : { state: pendingState(marker, expired), outcome: expired ? 'expired' : null }),
    id: quoted(marker.id),
    skill: quoted(marker.skill),
    operation: quoted(marker.operation),
    reason: quoted(marker.reason === undefined ? undefined : listInLine(marker.reason)),
    owner: { host_session: quoted(hostSession), agent: quoted(agent), agent_type: quoted(agentType) },
    promised_at: toIso(madeMs),
    age_ms: Math.round(nowMs - madeMs),
    continuations: { spent, limit: CONTINUATION_LIMIT },
    steps: marker.steps.map((step) => ({ name: oneLine(step.name, TEXT_LIMIT), done: step.done })),
    checks: marker.checks.map(({ run, step, failed }) => ({
      run: oneLine(run, TEXT_LIMIT),
      step: quoted(step),
      failed: failed === undefined ? null : failureWords(failed.failure),
    })),
    wait: marker.wait === undefined ? null : { for: oneLine(marker.wait.for, TEXT_LIMIT), count: marker.wait.count },
    problems,
  }
}

function pendingState({ bypassed, fields }: Marker, expired: boolean): MarkerView['state'] {
  if (bypassed) return 'bypassed'
  if (expired) return 'expired'
  return fields === undefined ? 'unreadable' : 'pending'
}

function listInLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  if (lines.length === 1) return text
  const items = lines.flatMap((line) => line.replace(/^[-*•] +/, '') || [])
  return items.join('; ').replaceAll(':; ', ': ')
}

const UNKNOWN = {
  state: 'unreadable',
  outcome: null,
  id: null,
  skill: null,
  operation: null,
  reason: null,
  owner: { host_session: null, agent: null, agent_type: null },
  promised_at: null,
  age_ms: null,
  continuations: { spent: null, limit: CONTINUATION_LIMIT },
  steps: [],
  checks: [],
  wait: null,
} as const
