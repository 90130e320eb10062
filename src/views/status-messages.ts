import { abandonedFix, counted, quote, repairOrClear } from '../kernel/phrases.ts'
import { oneLine } from '../kernel/text.ts'
import { checkCommand } from '../marker/check-messages.ts'

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

export interface Proven {
  readonly root: string
  readonly session: string | undefined
  readonly cleared: number
  readonly checks: readonly string[]
  readonly completed: number
  readonly hasMarkers: boolean
}

export const PROJECT_STATUS_TEXT = {
  noSpecs: 'no marker was made: no specs/ folder here',
  clean: ({ root, session, cleared, checks, completed, hasMarkers }: Proven): string => {
    const location = session === undefined ? oneLine(root, 300) : `session ${oneLine(session, 120)}`
    if (!hasMarkers && completed === 0) {
      return `no marker was made by \`postflight create\` in ${location}${session === undefined ? ' in the last 24 h' : ''}, none is pending`
    }
    const passed = checks.length === 0 ? '' : ` (checks passed: ${checks.map(checkCommand).join(', ')})`
    return [
      ...(hasMarkers ? [cleared === 0 ? 'nothing was cleared' : `${cleared} cleared${passed}`] : []),
      ...(completed === 0 ? [] : [`${counted(completed, 'workflow')} completed`]),
      `none pending in ${location}`,
    ].join(', ')
  },
  item: (kind: StatusKind, path: string, facts: readonly string[]): string =>
    `${STATUS_KINDS[kind]}: ${path}${facts.length === 0 ? '' : ` · ${facts.join(' · ')}`}`,
  expected: (sentence: string): string => `expected: ${sentence}`,
  ended: 'ended',
  fix: (fix: string): string => `  → ${fix}`,
  waitsFor: (purpose: string): string => `waits for ${quote(purpose)}`,
  waitsForApproval: 'waits for approval',
  stopping: 'stopping',
  age: (age: string): string => `${age} old`,
  blocked: (spent: number, limit: number): string => `blocked ${spent} of ${limit} stops`,
  gaveUp: (limit: number): string => `gave up after ${limit} blocked stops`,
  unchecked: 'ended without its checks',
  failedCheck: (run: string, failure: string): string => `\`${quote(run, 120)}\` failed the last time (${failure})`,
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
    done: (done: string, unchecked: string): string =>
      `${done} runs the checks; if it is no longer wanted: ${unchecked}`,
    missing: 'nothing, if you removed it; otherwise put the file back',
    bypassed: 'the next stop removes it',
    unreadable: 'look at it and remove it by hand',
    unparsed: repairOrClear,
    abandoned: abandonedFix,
    running: (status: string, resume: string): string => `${status}; to continue it in another session: ${resume}`,
    approval: (file: string, approve: string, reject: string): string =>
      `read ${quote(file)}, then ${approve}, or ${reject} --reason TEXT`,
    over: (resume: string, clear: string): string => `to continue it: ${resume}; if it is no longer wanted: ${clear}`,
    lost: (clear: string): string => `if its postflight is done or no longer wanted: ${clear}`,
    aborted: (history: string, clear: string): string =>
      `${history} shows what was done; \`postflight workflow start <task> --definition FILE --fresh\` starts a new run. To list it no longer: ${clear}`,
    moved: (resume: string, clear: string): string =>
      `to go on with it here: ${resume}. To list it no longer: ${clear}`,
    skipped: (history: string, clear: string): string =>
      `${history} shows what was skipped. If that is all right: ${clear}`,
  },
} as const
