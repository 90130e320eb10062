import { ALLOW } from '../core/answer.ts'
import { commandLine } from '../core/commands.ts'
import { CONTINUATION_LIMIT } from '../core/decision.ts'
import { ABANDONED_FILE } from '../core/files.ts'
import { hostThatIgnores } from '../core/hosts/index.ts'
import { cappedNotice, unreadableNotice, unsettledNotice } from '../core/messages.ts'
import { type BlockedMarker, composeReason } from '../core/reason.ts'
import { claimContinuation, noteExpired } from '../io/claims.ts'
import { errorText, isAbsent } from '../io/file-access.ts'
import { findMarkers, judgeOwner } from '../io/judge.ts'
import {
  abandonMarker,
  endMarker,
  markerDisplayPath,
  readMarker,
  type StoredMarker,
  type UnreadableMarker,
} from '../io/marker-store.ts'
import { processAgeMs, processStartMs } from '../io/process-age.ts'
import { type TaskFolder, taskWord } from '../io/search.ts'
import { aboutMarker, type HookContext, type HookResult, type Recorded, rootOption } from './context.ts'
import { loadWorkflowDriver } from './load-workflow.ts'
import type { WorkflowAnswer } from './workflow.ts'

/** The answer to `SubagentStop` and `Stop`: every marker is judged, what is owed is counted, then it is said. */

/** A marker that changes under our hands is judged again; more often than this (times) it is let go. */
const MAX_JUDGEMENTS = 4

/** What one marker came to. */
interface Settled {
  readonly blocked?: BlockedMarker
  readonly notice?: string
  readonly recorded?: Recorded
}

const LET_GO: Settled = {}

/** Judges and settles every marker under the context's roots. */
export function answerStop(context: HookContext): HookResult {
  const ignoredBy = hostThatIgnores(context.payload, context.environment)
  if (ignoredBy !== undefined) return { answer: ALLOW, recorded: [], complaints: [] }

  const { markers, problems } = findMarkers(context.roots)
  const settled: Settled[] = []
  for (const marker of markers) {
    if (processAgeMs() > (context.deadline ?? Number.POSITIVE_INFINITY)) break
    settled.push(settleSafely(marker, context))
  }
  const left = markers.length - settled.length
  const blocked = settled.flatMap((one) => one.blocked ?? [])
  const notices = [
    ...problems.map((problem) => unreadableNotice(problem.path, problem.detail)),
    ...settled.flatMap((one) => one.notice ?? []),
    ...(left > 0 ? [unsettledNotice(left)] : []),
  ]
  const recorded = settled.flatMap((one) => one.recorded ?? [])
  const workflows = answerForWorkflows(markers, context, blocked.length > 0)
  notices.push(...workflows.notices)
  recorded.push(...workflows.recorded)
  if (workflows.reason !== undefined) {
    return { answer: { kind: 'block', reason: workflows.reason }, recorded, complaints: notices }
  }
  if (blocked.length > 0) {
    const reason = composeReason(blocked, context.findForm(), context.payload.event === 'SubagentStop')
    return { answer: { kind: 'block', reason }, recorded, complaints: notices }
  }
  return {
    answer: notices.length === 0 ? ALLOW : { kind: 'allow', notice: notices.join('\n') },
    recorded,
    complaints: notices,
  }
}

const NO_WORKFLOWS: WorkflowAnswer = { reason: undefined, notices: [], recorded: [] }

/** Running workflows of this very session. Their driver is loaded only for them. */
function answerForWorkflows(
  markers: readonly (StoredMarker | UnreadableMarker)[],
  context: HookContext,
  held: boolean,
): WorkflowAnswer {
  const { session, event, runningSubagents } = context.payload
  const mine = markers.flatMap((found) =>
    found.kind === 'marker' && found.marker.workflow && session !== undefined && found.marker.hostSession === session
      ? [
          {
            folder: found.folder,
            bypassed: found.marker.bypassed,
            rootOption: rootOption(context, found.folder.root),
          },
        ]
      : [],
  )
  if (session === undefined || mine.length === 0) return NO_WORKFLOWS
  const returned = event === 'Stop' && runningSubagents === 0
  try {
    const stop = { session, returned, held, nowMs: context.nowMs, sinceMs: processStartMs() }
    return loadWorkflowDriver().answerWorkflows(mine, stop)
  } catch (error) {
    const notices = mine.map(({ folder }) => unreadableNotice(markerDisplayPath(folder), errorText(error)))
    return { ...NO_WORKFLOWS, notices }
  }
}

/** One marker that cannot be judged or counted never keeps the others from being answered for. */
function settleSafely(found: StoredMarker | UnreadableMarker, context: HookContext): Settled {
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

function settle(found: StoredMarker | UnreadableMarker, context: HookContext): Settled {
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
function settleOnce(stored: StoredMarker, context: HookContext): Settled | undefined {
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

function capped({ folder, marker }: StoredMarker, context: HookContext): Settled {
  const about = aboutMarker(folder, marker, context.payload)
  return {
    notice: cappedNotice(
      taskWord(folder),
      markerDisplayPath(folder, ABANDONED_FILE),
      commandLine(['inspect', taskWord(folder)], rootOption(context, folder.root)),
    ),
    recorded: {
      root: folder.root,
      entry: { event: 'cap', outcome: 'capped', count: CONTINUATION_LIMIT, ...about },
    },
  }
}

function blockedBy({ folder, marker }: StoredMarker, count: number, context: HookContext): Settled {
  return {
    blocked: {
      marker,
      task: taskWord(folder),
      path: markerDisplayPath(folder),
      count,
      root: rootOption(context, folder.root),
    },
    recorded: { root: folder.root, entry: { event: 'block', count, ...aboutMarker(folder, marker, context.payload) } },
  }
}
