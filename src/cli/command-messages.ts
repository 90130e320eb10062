import { inLine } from '../kernel/text.ts'
import { CONTINUATION_LIMIT } from '../marker/loop-guard.ts'
import type { Rule } from '../stop/rules.ts'

/** The sentences that commands print for people. */

/** What each rule of docs/design.md, "Stops", means for a marker. */
export const RULE_SENTENCES: Record<Rule, string> = {
  bypassed: 'stop_hook_active is true in the marker: the stop is allowed, and marker and loop guard are removed',
  'other-session': 'it belongs to another host session',
  'unowned-stop': 'it has no host session: such a marker blocks only the stops of sub-agents',
  expired: 'it has no host session and is older than 24 h: it no longer blocks',
  'before-session':
    'it has no host session and is older than this session: it comes from a clone, an archive or an earlier session',
  'other-agent': 'it belongs to another agent of this session',
  background:
    'the host will wake the agent, because work runs in the background or a wake-up is scheduled: the stop is allowed, and the host asks again',
  waiting: 'the agent announced that it waits (`postflight wait`): the stops of this prompt are allowed',
  capped: `it has blocked ${CONTINUATION_LIMIT} stops, so this one is allowed, and the marker is kept as abandoned`,
  block: 'the postflight is pending',
}

/** What the driver of a running workflow does at a stop, as the end of a sentence. */
export const WORKFLOW_RULES = {
  other: 'this session does not drive it',
  asked: 'the driver checks the results, then sends the next prompt, or allows the stop if the run has ended',
  looks: 'the driver checks the results and allows the stop',
  unless: "unless the workflow's driver sends a prompt",
} as const

/** The sentences of `explain` besides those of the rules. */
export const EXPLAIN_TEXT = {
  /** `session`: that of a marker here, if there is one. */
  noPayload: (session: string | undefined): string =>
    [
      'To explain a stop, pipe what the host gives its hook on stdin (or name a file: --payload FILE). For example:',
      `  echo '{"hook_event_name":"Stop","session_id":"${/^[\w-]{1,120}$/.test(session ?? '') ? session : 'ID'}"}' | postflight explain --payload -`,
      'Without a payload, the hook knows nothing of the stop, and takes it for this one:',
    ].join('\n'),
  whose: (session: string | undefined, agent: string | undefined): string =>
    `of session ${inLine(session ?? '(unknown)')}, agent ${inLine(agent ?? '(unknown)')}`,
  noRoot: 'no root: no start folder leads to a specs/ folder',
  roots: (roots: readonly string[]): string => inLine(`roots: ${roots.join(', ')}`),
  noMarkers: 'no pending markers',
  marker: (path: string, row: number | string | null, rule: string | null, why: string): string =>
    `${path}: ${rule === null ? '' : `row ${row}, ${rule}: `}${why}`,
  run: (path: string, why: string): string => `${path}: ${why}`,
  unreadable: (detail: string): string => `cannot be read (${detail}), so the stop is allowed`,
  answer: 'answer:',
  told: (notice: string): string => `notice to the user: ${inLine(notice)}`,
  disabled: 'POSTFLIGHT_DISABLE=1: every stop is allowed',
  notAStop: (event: string): string => `"${event}" is not a stop event, so nothing is blocked`,
  'answer-ignored': (host: string): string => `${host} ignores the answer to this stop, so nothing is counted`,
  'own-agent': (host: string): string => `this stop is of ${host}'s own agent (a compaction), so nothing is blocked`,
} as const

/** What `clear` prints. */
