import { isJsonObject, known } from '../kernel/values.ts'

/** Shell commands that must succeed before a marker may be cleared. Only commands in the agent's own shell run them. */

/** In characters, from the end. */
const KEPT_OUTPUT = 1_000

export type CheckFailure =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly limitMs: number }

export interface CheckResult {
  readonly run: string
  readonly failure: CheckFailure | undefined
  readonly durationMs: number
  readonly output: string
}

export interface LastFailure extends Pick<CheckResult, 'output'> {
  readonly failure: CheckFailure
}

export interface MarkerCheck {
  readonly run: string
  readonly step?: string
  readonly failed?: LastFailure
}

export function parseCheck(value: unknown): MarkerCheck | undefined {
  if (!isJsonObject(value) || typeof value.run !== 'string' || value.run.trim() === '') return undefined
  const { run, step } = value
  const failed = parseFailure(value.failed)
  return known({ run, step: (typeof step === 'string' && step) || undefined, failed })
}

export function parseFailure(value: unknown): LastFailure | undefined {
  if (!isJsonObject(value)) return undefined
  const output = typeof value.output === 'string' ? value.output.slice(-KEPT_OUTPUT) : ''
  if (typeof value.timed_out_ms === 'number') {
    return { failure: { kind: 'timed-out', limitMs: value.timed_out_ms }, output }
  }
  if (typeof value.signal === 'string') return { failure: { kind: 'killed', signal: value.signal }, output }
  return typeof value.exit_code === 'number'
    ? { failure: { kind: 'exited', exitCode: value.exit_code }, output }
    : undefined
}

export function failedField({ failure, output }: LastFailure): Record<string, unknown> {
  return known({
    exit_code: failure.kind === 'exited' ? failure.exitCode : undefined,
    signal: failure.kind === 'killed' ? failure.signal : undefined,
    timed_out_ms: failure.kind === 'timed-out' ? failure.limitMs : undefined,
    output: output.slice(-KEPT_OUTPUT),
  })
}

export function commandsOf(checks: readonly MarkerCheck[]): string[] {
  return [...new Set(checks.map(({ run }) => run))]
}

export function sameChecks(some: readonly MarkerCheck[], others: readonly MarkerCheck[]): boolean {
  const keys = (checks: readonly MarkerCheck[]): string => JSON.stringify(checks.map(({ run, step }) => [run, step]))
  return keys(some) === keys(others)
}
