import { unlistedComplaint } from '../core/messages/stops.ts'
import { NOTHING_TO_REPORT } from '../core/stop/answer-for.ts'
import { observeUnfinished } from '../io/stop/observe.ts'
import type { HookContext, HookResult } from './context.ts'

/** Handles `SessionStart`: the session is told of unfinished postflights (docs/design.md, "Recovery"). */
export function handleSessionStart({ roots, nowMs, deadline }: HookContext): HookResult {
  const { unfinished, problems } = observeUnfinished(roots, { nowMs, deadline })
  return {
    report: { ...NOTHING_TO_REPORT, unfinished },
    recorded: [],
    complaints: problems.map(({ path, detail }) => unlistedComplaint(path, detail)),
  }
}
