import { counted, oneLine, QUOTE_LIMIT, stripControl } from '../kernel/text.ts'
import { formatAge, toIsoSeconds } from '../kernel/time.ts'
import type { CheckFailure, CheckResult, FieldKind, MarkerProblem } from './marker.ts'

const EXIT_CODE_HINTS: Readonly<Record<number, string>> = {
  126: 'not executable',
  127: 'command not found',
  137: 'killed by SIGKILL',
  139: 'killed by SIGSEGV',
  143: 'killed by SIGTERM',
}

export function shortCommand(run: string): string {
  return oneLine(run, 200)
}

export type Failure = CheckFailure | { readonly kind: 'interrupted'; readonly by: string }

export function failureWords(failure: Failure): string {
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

type Ran = Pick<CheckResult, 'run' | 'durationMs'>

export function checkFailed({ run, failure, durationMs }: Ran & { readonly failure: Failure }): string {
  return `check \`${shortCommand(run)}\` failed (${failureWords(failure)}; ${seconds(durationMs)})`
}

export const NO_OUTPUT = '(it printed nothing)'

export function outputLines(output: string): string[] {
  return (stripControl(output).trimEnd() || NO_OUTPUT).split('\n').map((line) => `  ${line}`)
}

export function checksPassed(done: readonly Ran[]): string {
  const checks = done.map(({ run, durationMs }) => `${shortCommand(run)} (${seconds(durationMs)})`)
  return `${counted(done.length, 'check')} passed: ${checks.join(', ')}`
}

export function keptUnchecked(path: string): string {
  return `the previous marker had checks that were not run, so it is kept as ${path}`
}

export function checkList(commands: readonly string[]): string {
  return commands.map((run) => `\`${shortCommand(run)}\``).join(', ')
}

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
