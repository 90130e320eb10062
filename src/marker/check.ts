import { isJsonObject, known } from '../kernel/json-object.ts'

/**
 * Checks: shell commands that must succeed before a promise may be cleared (docs/design.md, "Checks"). The hook only names
 * them; commands in the agent's own shell run them.
 */

/** The number of characters of a failed check's output that its marker keeps, from the end. */
const KEPT_OUTPUT = 1_000

/** How a check that did not succeed ended. */
export type CheckFailure =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly limitMs: number }

/** The result of a check. */
export interface CheckResult {
  /** The shell command. */
  readonly run: string
  /** Undefined if it succeeded. */
  readonly failure: CheckFailure | undefined
  readonly durationMs: number
  readonly output: string
}

/** The last failure of a check, with the end of its output. */
export interface LastFailure extends Pick<CheckResult, 'output'> {
  readonly failure: CheckFailure
}

/** A check of a promise. */
export interface MarkerCheck {
  /** The shell command. */
  readonly run: string
  /** The step of the checklist that it belongs to. */
  readonly step?: string
  /** Set if it failed when it was run last. */
  readonly failed?: LastFailure
}

/** Reads an entry of a marker's `checks`; undefined for anything else. */
export function parseCheck(value: unknown): MarkerCheck | undefined {
  if (!isJsonObject(value) || typeof value.run !== 'string' || value.run.trim() === '') return undefined
  const { run, step } = value
  const failed = parseFailure(value.failed)
  return known({ run, step: (typeof step === 'string' && step) || undefined, failed })
}

/** Reads the last failure of a check; undefined for anything else. */
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

/** The `failed` of a check as the marker's file holds it. */
export function failedField({ failure, output }: LastFailure): Record<string, unknown> {
  return known({
    exit_code: failure.kind === 'exited' ? failure.exitCode : undefined,
    signal: failure.kind === 'killed' ? failure.signal : undefined,
    timed_out_ms: failure.kind === 'timed-out' ? failure.limitMs : undefined,
    output: output.slice(-KEPT_OUTPUT),
  })
}

/** The commands of some checks, each one once, in their order. */
export function commandsOf(checks: readonly MarkerCheck[]): string[] {
  return [...new Set(checks.map(({ run }) => run))]
}

/** True if both lists have the same commands for the same steps. */
export function sameChecks(some: readonly MarkerCheck[], others: readonly MarkerCheck[]): boolean {
  const keys = (checks: readonly MarkerCheck[]): string => JSON.stringify(checks.map(({ run, step }) => [run, step]))
  return keys(some) === keys(others)
}
