import { ALLOW } from '../core/answer.ts'
import { hostThatIgnores } from '../core/hosts/index.ts'
import { unreadableNotice } from '../core/messages.ts'
import { composeReason } from '../core/reason.ts'
import { errorText } from '../io/fs/errors.ts'
import { findMarkers } from '../io/judge.ts'
import { markerDisplayPath, type StoredMarker, type UnreadableMarker } from '../io/marker-file.ts'
import { processStartMs } from '../io/process/age.ts'
import { settleMarkers } from '../io/settle.ts'
import { type HookContext, type HookResult, rootOption } from './context.ts'
import { loadWorkflowDriver } from './load-workflow.ts'
import type { WorkflowAnswer } from './workflow.ts'

/** The answer to `SubagentStop` and `Stop`: every marker is judged, what is owed is counted, then it is said. */

/** Judges and settles every marker under the context's roots. */
export function answerStop(context: HookContext): HookResult {
  const ignoredBy = hostThatIgnores(context.payload, context.environment)
  if (ignoredBy !== undefined) return { answer: ALLOW, recorded: [], complaints: [] }

  const { markers, problems } = findMarkers(context.roots)
  const settlement = settleMarkers(markers, { ...context, rootOption: (root) => rootOption(context, root) })
  const { blocked } = settlement
  const notices = [...problems.map((problem) => unreadableNotice(problem.path, problem.detail)), ...settlement.notices]
  const recorded = [...settlement.recorded]
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
    const { nowMs, deadline } = context
    const stop = { session, returned, held, nowMs, deadline, sinceMs: processStartMs() }
    return loadWorkflowDriver().answerWorkflows(mine, stop)
  } catch (error) {
    const notices = mine.map(({ folder }) => unreadableNotice(markerDisplayPath(folder), errorText(error)))
    return { ...NO_WORKFLOWS, notices }
  }
}
