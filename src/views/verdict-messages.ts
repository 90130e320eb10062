import { counted, QUOTE_LIMIT, quote, quotedNames } from '../kernel/phrases.ts'
import { oneLine } from '../kernel/text.ts'
import { checkCommand } from '../marker/check-messages.ts'
import type { ExpectedFault } from '../marker/marker-record.ts'
import { isSessionFolderName } from '../project/done-folder.ts'
import { SPECS_ITSELF, taskNumberOf } from '../project/task-folder.ts'
import type { StatusKind } from './status-messages.ts'

/** Sentences for people who read the log of a CI job. */

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
