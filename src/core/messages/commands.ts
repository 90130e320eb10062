import { CONTINUATION_LIMIT } from '../loop-guard.ts'
import type { Rule } from '../stop/rules.ts'
import { inLine, oneLine } from '../text.ts'
import { QUOTE_LIMIT } from './phrases.ts'

/** What commands print for people. */

/** Why a rule of DESIGN section 5 answers as it does. */
export const RULE_SENTENCES: Record<Rule, string> = {
  workflow: "a running workflow's: its driver answers for it",
  bypassed: 'stop_hook_active is true in the marker: let go, marker and loop guard are removed',
  'other-session': 'it belongs to another host session',
  'unowned-stop': "unowned, and unowned markers hold sub-agents' stops only",
  expired: 'unowned and older than 24 h: it blocks no stop any more',
  'before-session': 'unowned and from before this session: a clone, an archive or an earlier session left it there',
  'other-agent': 'it belongs to another agent of this session',
  background: 'a sub-agent is still running in the background: the host asks again when it ends',
  capped: `${CONTINUATION_LIMIT} continuations are spent: let go, the marker is kept as abandoned`,
  block: 'held: the postflight is pending',
}

/** What a running workflow's driver does at a stop, as the end of a sentence. */
export const WORKFLOW_RULES = {
  other: 'another session drives it, or none',
  asked: 'it looks at what was left, then gives out the next prompt, or lets go when the run has ended',
  looks: 'it looks at what was left, and lets go',
  unless: "unless the workflow's driver gives out a prompt",
} as const

/** What `explain` says beside the rules. */
export const EXPLAIN_TEXT = {
  noPayload: 'No payload is given (--payload FILE, or - for stdin). The hook reads an empty one as:',
  whose: (session: string | undefined, agent: string | undefined): string =>
    `of session ${inLine(session ?? 'not known')}, agent ${inLine(agent ?? 'not known')}`,
  noRoot: 'no root: no start folder leads to a specs/ folder',
  roots: (roots: readonly string[]): string => inLine(`roots: ${roots.join(', ')}`),
  noMarkers: 'no pending markers',
  marker: (path: string, row: number | string | null, rule: string | null, why: string): string =>
    `${path}: ${rule === null ? '' : `row ${row}, ${rule}: `}${why}`,
  unreadable: (detail: string): string => `cannot be read (${detail}): the stop is allowed`,
  answer: 'answer:',
  told: (notice: string): string => `the user is told: ${inLine(notice)}`,
  disabled: 'POSTFLIGHT_DISABLE=1: the hook allows everything',
  notAStop: (event: string): string => `"${event}" is not a stop event, so nothing is blocked`,
  'answer-ignored': (host: string): string => `${host} ignores the answer to this stop, so nothing is counted`,
  'own-agent': (host: string): string => `an agent of ${host}'s own stops (a compaction), so nothing is blocked`,
} as const

/** What `create` adds for people to its one line. */
export const CREATE_NOTES = {
  newRoot: (root: string): string => `made specs/ in ${oneLine(root, QUOTE_LIMIT)}`,
  unowned:
    "no host session is known here: it holds any sub-agent's stop, and no main conversation's (--host-session names one)",
  holdsNobody:
    'no host session is known here: a promise of a main conversation holds nobody without one (--host-session names it)',
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
  workflowStopped: 'workflow stopped',
  noMarker: 'no marker was pending',
  step: (name: string, done: boolean): string => `${done ? 'done' : 'undone'}: ${name}`,
} as const

/** What `clear` prints. */
export const CLEAR_TEXT = {
  nothing: 'nothing to clear',
  noSpecs: 'nothing to clear: no specs/ folder here',
  noFolder: (task: string, root: string): string => inLine(`nothing to clear: no folder for task ${task} in ${root}`),
  cleared: (path: string, files: readonly string[], notes: readonly string[], isDryRun: boolean): string =>
    `${isDryRun ? 'would clear' : 'cleared'} ${path}: ${files.join(', ')}${notes.map((note) => ` (${note})`).join('')}`,
  ofOtherSession: (session: string): string => `it belonged to session ${oneLine(session, 80)}`,
  stopsWorkflow: (resume: string): string => `this stops its workflow; to continue it: ${resume}`,
  notCleared: (path: string, detail: string): string =>
    `postflight: ${path} cannot be read (${detail}), so it was not cleared`,
} as const

/** What `bypass` prints. */
export const BYPASS_TEXT = {
  none: 'no markers to bypass',
  line: (path: string, result: string): string => `${path}: ${result}`,
  nextStop: 'the next stop goes through and removes it',
  workflowStopped: (resume: string): string => `its workflow is stopped; to continue it: ${resume}`,
} as const

/** What `step` prints. */
export const STEP_TEXT = {
  line: (number: number, name: string, done: boolean, remaining: number): string =>
    `${done ? '✓' : '·'} ${number}. ${name} (${remaining === 0 ? 'all done: clear the marker' : `${remaining} to go`})`,
} as const

/** What `inspect` prints, and what is wrong with a marker beside its text: the end of "the marker …". */
export const INSPECT_TEXT = {
  noSpecs: 'no specs/ folder here',
  noMarkers: (folder: string): string => inLine(`no markers in ${folder}`),
  age: (age: string): string => `${age} old`,
  spent: (spent: number, limit: number): string => `${spent} of ${limit} continuations used`,
  owner: (session: string, agent: string | null, type: string | null): string =>
    `owner: session ${session}, agent ${agent ?? 'not known yet'}${type === null ? '' : `, type ${type}`}`,
  reason: (reason: string): string => `reason: ${reason}`,
  unreadable: (detail: string): string => `cannot be read (${detail})`,
  unowned: "has no host session, so it blocks any sub-agent's stop and never the main conversation's",
  noCount: (detail: string): string => `has a count that cannot be read (${detail})`,
} as const

/** What `logs` prints. */
export const LOGS_TEXT = {
  empty: 'the journal is empty',
  continuation: (count: string): string => `continuation ${count}`,
  session: (session: string): string => `session ${session}`,
  agent: (agent: string): string => `agent ${agent}`,
} as const

/** For stderr: an entry that could not be written to the journal. */
export function notInJournal(problem: string): string {
  return inLine(`postflight: not recorded in the journal: ${problem}`)
}
