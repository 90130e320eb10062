import { errorText } from '../disk/file-errors.ts'
import { handsOverReports } from '../hosts/index.ts'
import { stripControl } from '../kernel/text.ts'
import { NOTHING_TO_REPORT } from '../stop/answer-for.ts'
import { keepReport, takeReport } from '../stop/reports.ts'
import { reportNotHandedOver, reportNotKept } from '../stop/stop-messages.ts'
import type { StopOutcome } from '../stop/stop-outcome.ts'
import type { HookContext, HookResult } from './context.ts'

/**
 * Saves a sub-agent's report from its own block (docs/design.md, "A sub-agent's report"): a host hands only the last
 * message to the caller, and after a block that may be "Done.".
 */

/** Keeps the last message of a sub-agent whose stop is blocked. Returns the complaints: the block stands in any case. */
export function keepReportOfHeld(
  { payload, environment, roots, nowMs }: HookContext,
  outcomes: readonly StopOutcome[],
): string[] {
  const { event, agent, lastMessage } = payload
  const isHeld = event === 'SubagentStop' && outcomes.some(({ kind }) => kind === 'blocked')
  if (!isHeld || agent === undefined || lastMessage === undefined) return []
  if (!handsOverReports(payload, environment)) return []
  // A sub-agent in a worktree has its own root besides the project's, and its caller's hook does not find that one.
  return roots.flatMap((root) => {
    try {
      keepReport(root, agent, lastMessage, nowMs)
      return []
    } catch (error) {
      return [reportNotKept(agent, errorText(error))]
    }
  })
}

/** Handles the return of a sub-agent. Its caller gets the kept report if the agent's last message lacks it. */
export function handleReturn({ payload, roots }: HookContext): HookResult {
  const { returned } = payload
  const complaints: string[] = []
  if (returned === undefined) return { report: NOTHING_TO_REPORT, recorded: [], complaints }
  // An agent that changed its folder may have reports in several roots: all of them go, and the longest is handed over.
  const kept = roots.flatMap((root) => {
    try {
      return takeReport(root, returned.agent) ?? []
    } catch (error) {
      complaints.push(reportNotHandedOver(returned.agent, errorText(error)))
      return []
    }
  })
  const [longest] = kept.sort((one, other) => other.length - one.length)
  const isThere = longest === undefined || comparable(returned.message).includes(comparable(longest))
  const { agent, agentType } = returned
  const heldReport = isThere ? undefined : { agent, agentType, text: longest }
  return { report: { ...NOTHING_TO_REPORT, heldReport }, recorded: [], complaints }
}

/** A text as it is printed, trimmed. */
function comparable(text: string): string {
  return stripControl(text).replaceAll('\r\n', '\n').trim()
}
