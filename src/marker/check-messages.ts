import { counted, inLine, oneLine, QUOTE_LIMIT, stripControl } from '../kernel/text.ts'
import { formatAge, toIsoSeconds } from '../kernel/time.ts'
import type { CheckFailure, FieldKind, MarkerProblem } from './marker.ts'

const COMMAND_LIMIT = 200

const EXIT_CODE_HINTS: Readonly<Record<number, string>> = {
  126: 'not executable',
  127: 'command not found',
  137: 'killed by SIGKILL',
  139: 'killed by SIGSEGV',
  143: 'killed by SIGTERM',
}

export function checkCommand(run: string): string {
  return oneLine(run, COMMAND_LIMIT)
}

export function failureWords(failure: CheckFailure | { readonly kind: 'interrupted'; readonly by: string }): string {
  switch (failure.kind) {
    case 'exited': {
      const hint = EXIT_CODE_HINTS[failure.exitCode]
      return `exit code ${failure.exitCode}${hint === undefined ? '' : `: ${hint}`}`
    }
    case 'killed':
      return `killed by ${oneLine(failure.signal, 20)}`
    case 'timed-out':
      return `still running after ${seconds(failure.limitMs)}, so it was killed`
    case 'interrupted':
      return `interrupted (${oneLine(failure.by, 20)})`
  }
}

export function failedLastTime(run: string, failure: string): string {
  return `\`${oneLine(run, 120)}\` failed the last time (${failure})`
}

export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}

export function since(sinceMs: number, nowMs: number): string {
  return `${toIsoSeconds(sinceMs)} (${formatAge(Math.max(0, nowMs - sinceMs))})`
}

export const CHECK_TEXT = {
  failed: (path: string, run: string, failure: string, durationMs: number): string =>
    `${path}: the check \`${checkCommand(run)}\` failed (${failure}; ${seconds(durationMs)}), so the marker stays. The end of its output:`,
  failedStep: (name: string, run: string, failure: string, durationMs: number): string =>
    `the step "${oneLine(name, 60)}" was not ticked: its check \`${checkCommand(run)}\` failed (${failure}; ${seconds(durationMs)}). The end of its output:`,
  silent: '  (it printed nothing)',
  output: (output: string): string[] => {
    const text = stripControl(output).trimEnd()
    return text === '' ? [CHECK_TEXT.silent] : text.split('\n').map((line) => `  ${line}`)
  },
  passed: (done: readonly { readonly run: string; readonly durationMs: number }[]): string =>
    `${counted(done.length, 'check')} passed: ${done.map(({ run, durationMs }) => `${checkCommand(run)} (${seconds(durationMs)})`).join(', ')}`,
  wouldRun: (commands: readonly string[]): string => `after ${checkList(commands)}`,
  runs: (run: string): string => `postflight: running the check: ${stripControl(run)}`,
  unchecked: 'unchecked: its marker is kept as abandoned',
  droppedByAdopt: (commands: readonly string[]): string =>
    `dropped the checks of its previous session: ${checkList(commands)}. \`create --check\` adds your own.`,
  neverRun: 'Not run by an agent, so the checks of this marker are never run (--host-session names a session)',
  keptUnchecked: (path: string): string => `the previous marker had checks that were not run, so it is kept as ${path}`,
} as const

export function checkList(commands: readonly string[]): string {
  return commands.map((run) => `\`${checkCommand(run)}\``).join(', ')
}

export const CHECK_RECORDS = {
  failed: (run: string, failure: string, durationMs: number): string =>
    `failed: ${checkCommand(run)} (${failure}; ${seconds(durationMs)})`,
  dropped: (commands: readonly string[]): string => `checks dropped: ${checkList(commands)}`,
} as const

const FIELD_KINDS: Record<FieldKind, string> = {
  text: 'a string',
  flag: 'true or false',
  number: 'a number',
  time: 'an ISO 8601 time',
  list: 'a list',
  steps: 'a list of { "name", "done" }',
  checks: 'a list of { "run" }, at most 20',
  wait: 'an object with "for" and "count"',
  count: 'a whole number from 0',
}

export function markerProblem(problem: MarkerProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'is empty'
    case 'too-large':
      return 'is too large to be read'
    case 'not-object':
      return 'is JSON, but not an object'
    case 'not-json':
      return `is not JSON (${oneLine(problem.detail, QUOTE_LIMIT)})`
    case 'unfilled':
      return `has "${oneLine(problem.variable, 40)}" in it: the heredoc was quoted, so its variables were not filled in`
    case 'field':
      return `has an invalid field "${oneLine(problem.field, 40)}" (expected ${FIELD_KINDS[problem.expected]})`
  }
}

export const INSPECT_TEXT = {
  noSpecs: 'no specs/ folder here',
  noMarkers: (folder: string): string => inLine(`no markers in ${folder}`),
  age: (age: string): string => `${age} old`,
  spent: (spent: number, limit: number): string => `${spent} of ${limit} stops blocked`,
  owner: (session: string, agent: string | null, type: string | null): string =>
    `owner: session ${session}, agent ${agent ?? 'not known yet'}${type === null ? '' : `, type ${type}`}`,
  reason: (reason: string): string => `reason: ${reason}`,
  waits: (purpose: string): string => `waits for: ${purpose}`,
  check: (run: string, failed: string | null): string =>
    `check: ${run}${failed === null ? '' : ` (failed the last time: ${failed})`}`,
  unchecked: 'ended without its checks',
  unreadable: (detail: string): string => `cannot be read (${detail})`,
  unowned: "has no host session, so it blocks any sub-agent's stop and never the main conversation's",
  noCount: (detail: string): string => `has a count that cannot be read (${detail})`,
} as const
