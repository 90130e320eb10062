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
import { readMarker } from './marker-file.ts'
import { isExpired, isUnowned, madeAtMs, markerDisplayPath } from './stored-marker.ts'

export type MarkerView = NonNullable<ReturnType<typeof viewMarker>>

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

function viewMarker(folder: TaskFolder, fileName: string, nowMs: number) {
  const read = readMarker(folder, fileName)
  if (read === undefined) return undefined
  const abandoned = fileName !== MARKER_FILE
  const stored = read.kind === 'marker' ? read : undefined
  const marker = stored?.marker ?? UNOPENED
  const { hostSession, agent, agentType, wait } = marker
  const expired = stored !== undefined && isExpired(marker, stored.times, nowMs)
  const outcome = stored === undefined ? null : outcomeOf(marker, abandoned, expired)
  const madeMs = stored && madeAtMs(marker, stored.times, nowMs)
  const problems = 'detail' in read ? [`cannot be read (${read.detail})`] : marker.problems.map(markerProblem)
  if (stored !== undefined && isUnowned(marker) && !abandoned && !expired) problems.push(UNOWNED_PROBLEM)
  // If its checks were not run, the file does not say.
  let spent = outcome === 'capped' ? CONTINUATION_LIMIT : null
  try {
    if (stored !== undefined && !abandoned) spent = spentOf(stored)
  } catch (error) {
    problems.push(`has a count that cannot be read (${errorText(error)})`)
  }
  const quoted = (text: string | undefined): string | null => (text === undefined ? null : oneLine(text, TEXT_LIMIT))
  return {
    task: folder.task,
    path: path.join(folder.path, fileName),
    relative_path: markerDisplayPath(folder, fileName),
    state: stateOf(marker, abandoned && stored !== undefined, expired),
    outcome,
    id: quoted(marker.id),
    skill: quoted(marker.skill),
    operation: quoted(marker.operation),
    reason: quoted(marker.reason === undefined ? undefined : listInLine(marker.reason)),
    owner: { host_session: quoted(hostSession), agent: quoted(agent), agent_type: quoted(agentType) },
    promised_at: madeMs === undefined ? null : toIso(madeMs),
    age_ms: madeMs === undefined ? null : Math.round(nowMs - madeMs),
    continuations: { spent, limit: CONTINUATION_LIMIT },
    steps: marker.steps.map((step) => ({ name: oneLine(step.name, TEXT_LIMIT), done: step.done })),
    checks: marker.checks.map(({ run, step, failed }) => ({
      run: oneLine(run, TEXT_LIMIT),
      step: quoted(step),
      failed: failed === undefined ? null : failureWords(failed.failure),
    })),
    wait: wait === undefined ? null : { for: oneLine(wait.for, TEXT_LIMIT), count: wait.count },
    problems: [...new Set(problems)],
  }
}

const UNOPENED = unparsed({ code: 'empty' })

type State = 'pending' | 'bypassed' | 'expired' | 'abandoned' | 'unreadable'

function stateOf({ bypassed, fields }: Marker, abandoned: boolean, expired: boolean): State {
  if (abandoned) return 'abandoned'
  if (bypassed) return 'bypassed'
  if (expired) return 'expired'
  return fields === undefined ? 'unreadable' : 'pending'
}

function outcomeOf(
  { outcome }: Marker,
  abandoned: boolean,
  expired: boolean,
): 'capped' | 'expired' | 'unchecked' | null {
  if (abandoned) return outcome === UNCHECKED ? UNCHECKED : 'capped'
  return expired ? 'expired' : null
}

function listInLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  if (lines.length === 1) return text
  const items = lines.flatMap((line) => line.replace(/^[-*•] +/, '') || [])
  return items.join('; ').replaceAll(':; ', ': ')
}
