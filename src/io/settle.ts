import { commandLine } from '../core/command-line.ts'
import { CONTINUATION_LIMIT } from '../core/decision.ts'
import { ABANDONED_FILE } from '../core/files.ts'
import type { JournalEntry } from '../core/journal-entry.ts'
import { isMarkerId, type Marker } from '../core/marker.ts'
import { cappedNotice, unreadableNotice, unsettledNotice } from '../core/messages.ts'
import type { Payload } from '../core/payload.ts'
import type { BlockedMarker } from '../core/reason.ts'
import { type TaskFolder, taskWord } from '../core/task-folder.ts'
import { claimContinuation } from './continuations/claim.ts'
import { noteExpired } from './continuations/claim-files.ts'
import { errorText, isAbsent } from './fs/errors.ts'
import type { Recorded } from './journal.ts'
import { judgeOwner } from './judge.ts'
import { markerDisplayPath, readMarker, type StoredMarker, type UnreadableMarker } from './marker-file.ts'
import { abandonMarker, endMarker } from './marker-store.ts'
import { isPast } from './process/age.ts'

/** What a stop does to the markers it finds, on every host: each is judged, and what is owed is counted on disk. */

/** A marker that changes under our hands is judged again; more often than this (times) it is let go. */
const MAX_JUDGEMENTS = 4

/** The stop that asks. */
export interface StopContext {
  readonly payload: Payload
  /** ms since the epoch. */
  readonly nowMs: number
  /** When to go on with what there is, as an age of this process. */
  readonly deadline?: number
  /** The `--root` that a printed command needs, or undefined where it finds the root by itself. */
  readonly rootOption: (root: string) => string | undefined
}

/** What came of all of them. */
export interface Settlement {
  /** Held, each counted already. */
  readonly blocked: readonly BlockedMarker[]
  /** What the user must know of. */
  readonly notices: readonly string[]
  readonly recorded: readonly Recorded[]
}

/** What one marker came to. */
interface Settled {
  readonly blocked?: BlockedMarker
  readonly notice?: string
  readonly recorded?: Recorded
}

const LET_GO: Settled = {}

/** Judges and settles every marker, in the order given. Never throws. */
export function settleMarkers(markers: readonly (StoredMarker | UnreadableMarker)[], context: StopContext): Settlement {
  const settled: Settled[] = []
  for (const marker of markers) {
    if (isPast(context.deadline)) break
    settled.push(settleSafely(marker, context))
  }
  const left = markers.length - settled.length
  return {
    blocked: settled.flatMap((one) => one.blocked ?? []),
    notices: [...settled.flatMap((one) => one.notice ?? []), ...(left > 0 ? [unsettledNotice(left)] : [])],
    recorded: settled.flatMap((one) => one.recorded ?? []),
  }
}

/** The part of a journal entry that says whose marker it is. */
export function aboutMarker(folder: TaskFolder, marker: Marker, payload: Payload): Omit<JournalEntry, 'event'> {
  return {
    markerId: isMarkerId(marker.id) ? marker.id : undefined,
    task: folder.task,
    hostSession: payload.session,
    agent: payload.agent,
  }
}

/** One marker that cannot be judged or counted never keeps the others from being answered for. */
function settleSafely(found: StoredMarker | UnreadableMarker, context: StopContext): Settled {
  const { folder } = found
  try {
    return settle(found, context)
  } catch (error) {
    return failed(folder, errorText(error))
  }
}

function failed(folder: TaskFolder, detail: string): Settled {
  return {
    notice: unreadableNotice(markerDisplayPath(folder), detail),
    recorded: { root: folder.root, entry: { event: 'error', task: folder.task, detail } },
  }
}

function settle(found: StoredMarker | UnreadableMarker, context: StopContext): Settled {
  let current: StoredMarker | UnreadableMarker | undefined = found
  for (let attempt = 0; attempt < MAX_JUDGEMENTS && current !== undefined; attempt++) {
    if (current.kind === 'unreadable') return failed(current.folder, current.detail)
    try {
      const settled = settleOnce(current, context)
      if (settled !== undefined) return settled
    } catch (error) {
      // Removed between two calls, as plain `rm` does.
      if (!isAbsent(error)) throw error
    }
    // Another process was faster: the marker is looked at afresh.
    current = readMarker(current.folder)
  }
  return LET_GO
}

/** Does what the marker's rule asks for; undefined when the marker changed meanwhile. */
function settleOnce(stored: StoredMarker, context: StopContext): Settled | undefined {
  const { folder } = stored
  const { payload, nowMs } = context
  switch (judgeOwner(stored, payload, nowMs)) {
    case 'bypassed': {
      const ended = endMarker(folder, (marker) => judgeOwner(marker, payload, nowMs) === 'bypassed')
      if (ended === undefined) return undefined
      const about = aboutMarker(folder, ended.marker, payload)
      return { recorded: { root: folder.root, entry: { event: 'bypass', outcome: 'bypassed', ...about } } }
    }
    case 'expired': {
      if (!noteExpired(folder.path, stored.identity)) return LET_GO
      const about = aboutMarker(folder, stored.marker, payload)
      return { recorded: { root: folder.root, entry: { event: 'expire', outcome: 'expired', ...about } } }
    }
    case 'owed': {
      let current = stored
      const claim = claimContinuation(folder.path, stored.identity, () => {
        const read = readMarker(folder)
        if (read?.kind !== 'marker' || judgeOwner(read, payload, nowMs) !== 'owed') return undefined
        current = read
        return read.identity
      })
      if (claim.kind === 'claimed') return blockedBy(current, claim.count, context)
      if (claim.kind === 'changed') return undefined
      const abandoned = abandonMarker(
        folder,
        (marker, spent) => judgeOwner(marker, payload, nowMs) === 'owed' && spent >= CONTINUATION_LIMIT,
      )
      return abandoned === undefined ? undefined : capped(abandoned, context)
    }
    default:
      return LET_GO
  }
}

function capped({ folder, marker }: StoredMarker, context: StopContext): Settled {
  const about = aboutMarker(folder, marker, context.payload)
  return {
    notice: cappedNotice(
      taskWord(folder),
      markerDisplayPath(folder, ABANDONED_FILE),
      commandLine(['inspect', taskWord(folder)], context.rootOption(folder.root)),
    ),
    recorded: {
      root: folder.root,
      entry: { event: 'cap', outcome: 'capped', count: CONTINUATION_LIMIT, ...about },
    },
  }
}

function blockedBy({ folder, marker }: StoredMarker, count: number, context: StopContext): Settled {
  return {
    blocked: {
      marker,
      task: taskWord(folder),
      path: markerDisplayPath(folder),
      count,
      root: context.rootOption(folder.root),
    },
    recorded: { root: folder.root, entry: { event: 'block', count, ...aboutMarker(folder, marker, context.payload) } },
  }
}
