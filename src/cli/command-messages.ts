import { QUOTE_LIMIT, quote, quotedNames } from '../kernel/phrases.ts'
import { inLine, oneLine } from '../kernel/text.ts'
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

/** What `create` tells people besides its first line. */
export const CREATE_NOTES = {
  newRoot: (root: string): string => `made specs/ in ${oneLine(root, QUOTE_LIMIT)}`,
  unowned:
    'Not run by an agent, so this marker will not block your conversation; it blocks only sub-agents (--host-session names a session)',
  ownerLost:
    'postflight: the output of this command does not reach the hook, so the hook cannot learn the owner from it, and the marker may block any agent of the session. Add `--agent main`, or `--agent` with the id of the sub-agent.',
  droppedSteps: (names: readonly string[]): string =>
    `ticked in the previous marker, but not in this one: ${quotedNames(names)}`,
  blocksNothing:
    'Not run by an agent, so this marker will not block your conversation (--host-session names a session)',
} as const

/** Whose marker is in the way of `create`: the end of "the marker is …". */
export const CONFLICTING_OWNERS = {
  hostSession: (session: string): string => `pending for host session ${session}`,
  skillSession: (session: string): string => `pending for session ${session}`,
  unowned: (session: string | undefined): string =>
    `pending without a host session${session === undefined ? '' : ` (${session})`}`,
  unparsed: 'a marker of unknown origin',
} as const

/** The details that commands add to lines of the journal. */
export const JOURNAL_DETAILS = {
  renewed: 'renewed',
  replaced: (id: string | undefined): string => `replaced ${id ?? 'an older marker'}`,
  wasAbandoned: 'was abandoned',
  noMarker: 'no marker was pending',
  abandonedCleared: 'the abandoned marker was cleared',
  fileGone: 'its file was gone',
  settledRun: (name: string, outcome: string): string => `settled the workflow "${quote(name, 80)}" (${outcome})`,
  leftSteps: (names: readonly string[]): string => `steps not ticked: ${quotedNames(names)}`,
  step: (name: string, done: boolean): string => `${done ? 'done' : 'undone'}: ${name}`,
} as const

/** What `clear` prints. */
/** What happened to a marker without a file. */
const LOST = {
  removed: 'was removed by hand',
  abandoned: 'was given up',
  unchecked: 'ended without its checks',
} as const

export const CLEAR_TEXT = {
  nothing: 'nothing to clear',
  noSpecs: 'nothing to clear: no specs/ folder here',
  noFolder: (task: string, root: string): string => inLine(`nothing to clear: no folder for task ${task} in ${root}`),
  cleared: (path: string, files: readonly string[], notes: readonly string[], isDryRun: boolean): string =>
    `${isDryRun ? 'would clear' : 'cleared'} ${path}: ${files.join(', ')}${notes.map((note) => ` (${note})`).join('')}`,
  leftSteps: (names: readonly string[]): string => `not ticked: ${quotedNames(names)}`,
  keptTexts: (names: readonly string[], isDryRun: boolean): string =>
    `its text does not parse and ${isDryRun ? 'would be' : 'is'} kept as ${names.join(', ')}`,
  ofOtherSession: (session: string): string => `it belonged to session ${oneLine(session, 80)}`,
  settled: (path: string, kind: keyof typeof LOST, isDryRun: boolean): string =>
    `${isDryRun ? 'would settle' : 'settled'} ${inLine(path)}: its marker ${LOST[kind]}, and its file is gone`,
  settledRun: (path: string, name: string, outcome: string, resume: string | null, isDryRun: boolean): string =>
    `${isDryRun ? 'would settle' : 'settled'} ${inLine(path)}: status no longer lists its workflow "${quote(name, 80)}" (${outcome})${resume === null ? '' : `; to continue it: ${resume}`}`,
  ownRun: (path: string, name: string, outcome: string, clear: string): string =>
    `${inLine(path)}: status still lists its workflow "${quote(name, 80)}" (${outcome}), because the session that ran it cannot settle it. In a terminal: ${clear}`,
  runGoesOn: (path: string, stop: string): string => `${path}: the workflow goes on; to stop it: ${stop}`,
  notCleared: (path: string, detail: string): string =>
    `postflight: ${path} cannot be read (${detail}), so it was not cleared`,
} as const

/** What `bypass` prints. */
export const BYPASS_TEXT = {
  none: 'nothing to bypass: no markers and no active workflows',
  nextStop: (path: string): string => `${path}: the next stop goes through and removes it`,
  stopped: (path: string, resume: string): string => `${path}: the workflow was stopped; to continue it: ${resume}`,
} as const

/** What `step` prints. */
export const STEP_TEXT = {
  line: (number: number, name: string, done: boolean, remaining: number): string =>
    `${done ? '✓' : '·'} ${number}. ${name} (${remaining === 0 ? 'all done: clear the marker' : `${remaining} to go`})`,
} as const

/** What `wait` prints besides its first line. */
export const WAIT_TEXT = {
  hereOnly: 'that was the tenth wait, the limit: it allows stops only at the prompt where the tenth wait began',
  until: 'the stops of this prompt are allowed; the wait ends with the next message, or when the background work ends',
} as const

/** What `logs` prints. */
export const LOGS_TEXT = {
  empty: 'the journal is empty',
  continuation: (count: string): string => `blocked stop ${count}`,
  session: (session: string): string => `session ${session}`,
  agent: (agent: string): string => `agent ${agent}`,
} as const
