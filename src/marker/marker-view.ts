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
import { type Marker, UNCHECKED, unparsed } from './marker.ts'
import { readMarker } from './marker-store.ts'
import { isExpired, isUnowned, madeAtMs, markerDisplayPath } from './stored-marker.ts'

export type MarkerView = Readonly<NonNullable<ReturnType<typeof viewMarker>>>

/** Such a marker still blocks stops; one whose file cannot be opened does not. */
export function unparsedFaults(view: MarkerView): string[] | undefined {
  return view.state === 'unreadable' && view.promised_at !== null ? faultsOf(view) : undefined
}

export function faultsOf({ problems }: MarkerView): string[] {
  return problems.filter((problem) => problem !== UNOWNED_PROBLEM)
}

const UNOWNED_PROBLEM = "has no host session, so it blocks any sub-agent's stop and never the main conversation's"

const TEXT_LIMIT = 4000
const MAX_ABANDONED = 20

export function viewMarkers(root: string, nowMs: number, only?: TaskFolder) {
  const { folders, problems } = only === undefined ? listTaskFolders(root) : { folders: [only], problems: [] }
  const holding = foldersHolding(folders, MARKER_FILE, problems)
  const pending = holding.flatMap((folder) => viewMarker(folder, MARKER_FILE, nowMs) ?? [])
  const abandoned = folders.flatMap((one) => abandonedNames(one).flatMap((name) => viewMarker(one, name, nowMs) ?? []))
  return { markers: [...pending, ...abandoned], problems }
}

function abandonedNames({ path: folder }: TaskFolder): string[] {
  const number = (name: string): number => Number(name.slice(ABANDONED_FILE.length + 1))
  const names = namesLike(folder, ABANDONED).sort((one, other) => number(one) - number(other))
  return names.slice(0, MAX_ABANDONED)
}

function viewMarker(folder: TaskFolder, fileName: string, nowMs: number) {
  const read = readMarker(folder, fileName)
  if (read === undefined) return undefined
  const isRead = read.kind === 'marker'
  const marker = isRead ? read.marker : unparsed({ code: 'empty' })
  const isAbandoned = isRead && fileName !== MARKER_FILE
  const expired = isRead && isExpired(marker, read.times, nowMs)
  const madeMs = isRead ? madeAtMs(marker, read.times, nowMs) : undefined
  const problems = isRead ? [...new Set(marker.problems.map(markerProblem))] : [`cannot be read (${read.detail})`]
  if (isRead && isUnowned(marker) && !isAbandoned && !expired) problems.push(UNOWNED_PROBLEM)
  const outcome = outcomeOf(marker, isAbandoned, expired)
  // An unchecked marker has no record of its count.
  let spent = outcome === 'capped' ? CONTINUATION_LIMIT : null
  try {
    if (isRead && !isAbandoned) spent = spentOf(read)
  } catch (error) {
    problems.push(`has a count that cannot be read (${errorText(error)})`)
  }
  const shown = (text: string | undefined): string | null => (text === undefined ? null : oneLine(text, TEXT_LIMIT))
  return {
    task: folder.task,
    path: path.join(folder.path, fileName),
    relative_path: markerDisplayPath(folder, fileName),
    state: stateOf(marker, isAbandoned, expired),
    outcome,
    id: shown(marker.id),
    skill: shown(marker.skill),
    operation: shown(marker.operation),
    reason: shown(marker.reason && listInLine(marker.reason)),
    owner: { host_session: shown(marker.hostSession), agent: shown(marker.agent), agent_type: shown(marker.agentType) },
    promised_at: madeMs === undefined ? null : toIso(madeMs),
    age_ms: madeMs === undefined ? null : Math.round(nowMs - madeMs),
    continuations: { spent, limit: CONTINUATION_LIMIT },
    steps: marker.steps.map((step) => ({ name: oneLine(step.name, TEXT_LIMIT), done: step.done })),
    checks: marker.checks.map(({ run, step, failed }) => ({
      run: oneLine(run, TEXT_LIMIT),
      step: shown(step),
      failed: failed === undefined ? null : failureWords(failed.failure),
    })),
    wait: marker.wait === undefined ? null : { for: oneLine(marker.wait.for, TEXT_LIMIT), count: marker.wait.count },
    problems,
  }
}

type State = 'pending' | 'bypassed' | 'expired' | 'abandoned' | 'unreadable'
type Outcome = 'capped' | 'expired' | 'unchecked' | null

function stateOf({ bypassed, fields }: Marker, isAbandoned: boolean, expired: boolean): State {
  if (isAbandoned) return 'abandoned'
  if (bypassed) return 'bypassed'
  if (expired) return 'expired'
  return fields === undefined ? 'unreadable' : 'pending'
}

function outcomeOf({ outcome }: Marker, isAbandoned: boolean, expired: boolean): Outcome {
  if (isAbandoned) return outcome === UNCHECKED ? UNCHECKED : 'capped'
  return expired ? 'expired' : null
}

export type MarkerKind = State | 'waiting' | 'unchecked'

function listInLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  if (lines.length === 1) return text
  const items = lines.flatMap((line) => line.replace(/^[-*•] +/, '') || [])
  return items.join('; ').replaceAll(':; ', ': ')
}
