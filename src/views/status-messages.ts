import {
  abandonedFix,
  counted,
  freshStart,
  oneLine,
  QUOTE_LIMIT,
  quote,
  quotedNames,
  repairOrClear,
} from '../kernel/text.ts'
import { checkCommand, failedLastTime } from '../marker/check-messages.ts'
import type { ExpectedFault } from '../marker/marker-record.ts'
import { SPECS_ITSELF, taskNumberOf } from '../project/task-folder.ts'
import { isSessionFolderName } from '../project/task-folders.ts'

export const STATUS_KINDS = {
  pending: 'pending',
  waiting: 'waiting',
  bypassed: 'bypassed',
  expired: 'expired',
  unreadable: 'unreadable',
  abandoned: 'abandoned',
  unchecked: 'unchecked',
  removed: 'removed by hand',
  expected: 'expected',
  running: 'running',
  stopped: 'stopped',
  stalled: 'stalled',
  failed: 'failed',
  aborted: 'aborted',
  moved: 'goes on elsewhere',
  skipped: 'completed with skips',
  unusable: 'unusable',
  unsearched: 'not searched',
} as const

export type StatusKind = keyof typeof STATUS_KINDS

interface Proven {
  readonly root: string
  readonly session: string | undefined
  readonly cleared: number
  readonly withChecks: number
  readonly checks: readonly string[]
  readonly completed: number
  readonly hasMarkers: boolean
}

export const PROJECT_STATUS_TEXT = {
  noSpecs: 'no marker was made: no specs/ folder here',
  unwired: 'no settings file of a host starts the hook, so stops are probably not blocked here',
  clean: ({ root, session, cleared, withChecks, checks, completed, hasMarkers }: Proven): string => {
    const location = session === undefined ? oneLine(root, 300) : `session ${oneLine(session, 120)}`
    if (!hasMarkers && completed === 0) {
      return `no marker was made by \`postflight create\` in ${location}${session === undefined ? ' in the last 24 h' : ''}, none is pending`
    }
    const commands = checks.map(checkCommand).join(', ')
    const some = withChecks < cleared ? `, ${withChecks} of them with checks (passed: ${commands})` : undefined
    const passed = checks.length === 0 ? '' : (some ?? ` (checks passed: ${commands})`)
    return [
      ...(hasMarkers ? [cleared === 0 ? 'nothing was cleared' : `${cleared} cleared${passed}`] : []),
      ...(completed === 0 ? [] : [`${counted(completed, 'workflow')} completed`]),
      `none pending in ${location}`,
    ].join(', ')
  },
  item: (kind: StatusKind, path: string, facts: readonly (string | false | undefined)[]): string =>
    [`${STATUS_KINDS[kind]}: ${path}`, ...facts.filter((fact) => typeof fact === 'string')].join(' · '),
  expected: (sentence: string): string => `expected: ${sentence}`,
  ended: 'ended',
  fix: (fix: string): string => `  → ${fix}`,
  waitsFor: (purpose: string): string => `waits for ${quote(purpose)}`,
  needsApproval: 'waits for approval',
  stopping: 'stopping',
  noRunFile: 'no run file, so hooks ignore it',
  age: (age: string): string => `${age} old`,
  blocked: (spent: number, limit: number): string => `blocked ${spent} of ${limit} stops`,
  gaveUp: (limit: number): string => `gave up after ${limit} blocked stops`,
  unchecked: 'ended without its checks',
  failedCheck: failedLastTime,
  steps: (left: number): string => `${counted(left, 'step')} to go`,
  session: (session: string | null): string =>
    session === null ? 'without a session' : `session ${oneLine(session, 80)}`,
  unseen: 'no stop of that session was seen: does its host start the hook? (`postflight doctor`)',
  fileGone: 'its abandoned marker was removed by hand',
  lastSeen: (age: string): string => `in the journal ${age} ago`,
  unproven: (checks: readonly string[]): string => `not passed since: ${checks.map(checkCommand).join(', ')}`,
  lastChange: (age: string): string => `last change ${age} ago`,
  fixes: {
    pending: (clear: string, adopt: string): string =>
      `when its postflight is done: ${clear} (in another session: ${adopt} first)`,
    missing: (trust: string): string => `if you removed it: ${trust} (forgets its rules); otherwise put the file back`,
    bypassed: 'the next stop removes it',
    unreadable: 'look at it and remove it by hand',
    unparsed: repairOrClear,
    abandoned: abandonedFix,
    running: (status: string, resume: string): string => `${status}; to continue it in another session: ${resume}`,
    approval: (file: string, approve: string, reject: string): string =>
      `read ${quote(file)}, then ${approve}, or ${reject} --reason TEXT`,
    over: (resume: string | undefined, clear: string): string =>
      `${resume === undefined ? '' : `to continue it: ${resume}; `}if it is no longer wanted: ${clear}`,
    lost: (clear: string): string => `if its postflight is done or no longer wanted: ${clear}`,
    aborted: (history: string, start: string, clear: string): string =>
      `${history} shows what was done; ${freshStart(start)}. To list it no longer: ${clear}`,
    moved: (resume: string, clear: string): string =>
      `to continue it here: ${resume}. To remove it from this list: ${clear}`,
    skipped: (history: string, clear: string): string =>
      `${history} shows what was skipped. If that is all right: ${clear}`,
  },
} as const

/** For people who read the log of a CI job. */

export interface MarkerFacts {
  readonly blocked: number | null
  readonly waitsFor: string | undefined
  readonly problem: string | undefined
  readonly checks: readonly string[]
  readonly failed: { readonly run: string; readonly failure: string } | undefined
  readonly steps: readonly string[]
}

export type MarkerKind = Extract<
  StatusKind,
  'pending' | 'waiting' | 'bypassed' | 'expired' | 'unreadable' | 'abandoned' | 'unchecked'
>

const MARKER_SENTENCES: Readonly<Record<MarkerKind, (facts: MarkerFacts) => string>> = {
  pending: ({ blocked }) => `its postflight is still pending${after(blocked)}.`,
  waiting: ({ waitsFor = '' }) => `its postflight is still pending: the agent waits for ${quote(waitsFor)}.`,
  bypassed: () => 'its marker was bypassed, and no agent has stopped since.',
  expired: () => 'its marker names no host session and is older than 24 h, so it blocks no stop.',
  unreadable: ({ problem = '' }) => `its marker ${quote(problem)}.`,
  abandoned: ({ blocked }) => `the agent gave up${after(blocked)}.`,
  unchecked: ({ checks }) => `its marker ended without its checks${checks.length === 0 ? '' : ` (${runs(checks)})`}.`,
}

function after(blocked: number | null): string {
  return blocked === null || blocked === 0 ? '' : ` after ${counted(blocked, 'blocked stop')}`
}

function runs(checks: readonly string[]): string {
  return checks.map((run) => `"${checkCommand(run)}"`).join(', ')
}

const RUN_ENDS: Partial<Record<StatusKind, string>> = {
  running: 'is still running',
  stopped: 'was stopped',
  stalled: 'stalled',
  failed: 'failed',
  aborted: 'was aborted',
  moved: 'goes on elsewhere',
  skipped: 'was completed with skips',
}

export const VERDICT_TEXT = {
  task: (task: string): string => {
    if (isSessionFolderName(task)) return 'The definition of done'
    if (task === SPECS_ITSELF) return 'specs/'
    const number = taskNumberOf(task)
    return number === undefined ? `Task "${oneLine(task, 120)}"` : `Task ${number}`
  },
  marker: (task: string, kind: MarkerKind, facts: MarkerFacts): string => {
    const { failed, steps } = facts
    return [
      `${VERDICT_TEXT.task(task)}: ${MARKER_SENTENCES[kind](facts)}`,
      ...(failed === undefined ? [] : [VERDICT_TEXT.failedCheck(failed.run, failed.failure)]),
      ...(steps.length === 0 ? [] : [`Not ticked: ${quotedNames(steps)}.`]),
    ].join(' ')
  },
  failedCheck: (run: string, failure: string): string =>
    `Check "${checkCommand(run)}" failed (${failure.replace(/^exit code /, 'exit ')}).`,
  removed: (task: string, unproven: readonly string[]): string =>
    `${VERDICT_TEXT.task(task)}: its marker was removed by hand, not cleared${unproven.length === 0 ? '' : `, and its checks have not passed since (${runs(unproven)})`}.`,
  fileGone: (task: string, kind: 'abandoned' | 'unchecked', unproven: readonly string[]): string =>
    `${VERDICT_TEXT.task(task)}: ${kind === 'abandoned' ? 'the agent gave up' : 'its marker ended without its checks'}, and the abandoned marker was removed by hand${unproven.length === 0 ? '' : `. Its checks have not passed since (${runs(unproven)})`}.`,
  run: (task: string, kind: StatusKind, name: string, detail: string | undefined): string =>
    `${VERDICT_TEXT.task(task)}: its workflow "${oneLine(name, 80)}" ${RUN_ENDS[kind] ?? kind}${detail === undefined ? '' : ` (${quote(detail)})`}.`,
  runWaits: (task: string, name: string, what: string): string =>
    `${VERDICT_TEXT.task(task)}: its workflow "${oneLine(name, 80)}" ${what}.`,
  problem: (task: string | null, message: string): string => {
    const text = oneLine(message, QUOTE_LIMIT * 5)
    return `${task === null ? '' : `${VERDICT_TEXT.task(task)}: `}${text}${text.endsWith('.') ? '' : '.'}`
  },
  expected: (task: string, fault: ExpectedFault, session: string | undefined, location: string): string => {
    const name = `Task ${/^\d+$/.test(task) ? Number(task) : `"${oneLine(task, 120)}"`}`
    const inSession = session === undefined ? '' : ` by session ${oneLine(session, 120)}`
    if (fault.kind === 'not-made')
      return `${name}: no marker was made${inSession}, and no workflow completed, in ${oneLine(location, 300)}.`
    if (fault.kind === 'not-cleared') return `${name}: its marker was not cleared.`
    return `${name}: its marker was cleared, but without its checks (${runs(fault.checks)}).`
  },
} as const
