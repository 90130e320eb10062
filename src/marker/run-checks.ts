import { type CommandRun, runBounded } from '../disk/bounded-run.ts'
import { PostflightError } from '../kernel/errors.ts'
import type { CheckFailure } from './check.ts'

/** Runs checks one after another (docs/design.md, "Checks"). */

/** The time (ms) that a check may take unless another limit is given. */
export const CHECK_LIMIT_MS = 600_000

/** A check that was run. `failure` is undefined if it succeeded. */
export interface RunCheck {
  readonly run: string
  readonly failure: CheckFailure | { readonly kind: 'interrupted'; readonly by: string } | undefined
  readonly durationMs: number
  readonly output: string
}

/** The circumstances of checks. */
export interface CheckPlace {
  /** The root. */
  readonly cwd: string
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
  /** True if a signal that ends this process also ends the checks. */
  readonly obeysSignals: boolean
}

/**
 * Runs commands until one fails. The last entry of the result is the failed one, if any.
 * @throws {PostflightError} `shell-missing` when the shell cannot be started.
 */
export async function runChecks(commands: readonly string[], place: CheckPlace): Promise<RunCheck[]> {
  const done: RunCheck[] = []
  for (const command of commands) {
    const { end, durationMs, output } = await runBounded({ command, ...place })
    const failure = failureOf(end)
    done.push({ run: command, failure, durationMs, output })
    if (failure !== undefined) break
  }
  return done
}

function failureOf(end: CommandRun['end']): RunCheck['failure'] {
  if (end.kind === 'not-started') throw new PostflightError('shell-missing', { detail: end.detail })
  return end.kind === 'exited' && end.exitCode === 0 ? undefined : end
}

/** The check that failed; undefined if all succeeded. */
export function failedOf(done: readonly RunCheck[]): (RunCheck & { readonly failure: object }) | undefined {
  const last = done.at(-1)
  return last?.failure === undefined ? undefined : { ...last, failure: last.failure }
}
