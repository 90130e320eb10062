import { shellIdentity } from '../hosts/all-hosts.ts'
import { PostflightError } from '../kernel/errors.ts'
import { type CommandContext, recordInJournal } from '../project/command-context.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { failedField, sameChecks } from './check.ts'
import { CHECK_RECORDS, CHECK_TEXT, failureWords } from './check-messages.ts'
import type { Marker } from './marker.ts'
import { changeMarker } from './marker-store.ts'
import { promiseKey } from './promise-key.ts'
import { failedOf, type RunCheck, whileChecking } from './run-checks.ts'

/** Runs the checks of a promise for `clear` and `step`. Loaded only where a promise has checks. */

/** A request to run checks. */
export interface ChecksToRun {
  readonly folder: TaskFolder
  /** The promise in the folder; undefined if the folder has only abandoned ones. */
  readonly marker: Marker | undefined
  readonly commands: readonly string[]
  /** True if they are another session's, so that they are printed first. */
  readonly areForeign: boolean
  readonly limitMs: number
}

/** The result: another process runs them, or every check that was run; `failed` is the last one if it failed. */
export type Proof =
  | { readonly kind: 'busy'; readonly sinceMs: number }
  | { readonly kind: 'done'; readonly done: readonly RunCheck[]; readonly failed: ReturnType<typeof failedOf> }

/**
 * Runs checks in this process's environment, at the root. A failure is kept in the marker, for the next block's reason.
 * @throws {PostflightError} `shell-missing`; the errors of the lock.
 */
export async function prove(context: CommandContext, wanted: ChecksToRun): Promise<Proof> {
  const { folder, marker, commands, areForeign, limitMs } = wanted
  if (areForeign) for (const command of commands) context.note(CHECK_TEXT.runs(command))
  const run = await whileChecking(folder, { limitMs, obeysSignals: true }, (runAll) => runAll(commands))
  if (run.kind === 'busy') return run
  const done = run.result
  const failed = failedOf(done)
  if (failed !== undefined) {
    recordInJournal(context, folder.root, [
      {
        event: 'check',
        markerId: marker?.id,
        task: folder.task,
        hostSession: shellIdentity(context.environment)?.session,
        detail: CHECK_RECORDS.failed(failed.run, failureWords(failed.failure), failed.durationMs),
      },
    ])
  }
  if (marker !== undefined) noteResults(folder, marker, done)
  return { kind: 'done', done, failed }
}

/**
 * Writes into the marker which check failed, unless it was replaced. Never throws, because the results are printed in
 * any case.
 */
function noteResults(folder: TaskFolder, before: Marker, done: readonly RunCheck[]): void {
  const known = new Map(done.filter(({ failure }) => failure?.kind !== 'interrupted').map((one) => [one.run, one]))
  const isNews = before.checks.some(({ run, failed }) => known.get(run)?.failure !== undefined || failed !== undefined)
  if (!isNews) return
  try {
    changeMarker(folder, (present) => {
      if (!hasSameChecks(before, present)) return undefined
      const items = Array.isArray(present.fields?.checks) ? present.fields.checks : []
      return { fields: { checks: items.map((item: unknown) => withResult(item, known)) } }
    })
  } catch (error) {
    if (!(error instanceof PostflightError)) return
  }
}

/** The check as the marker's file holds it, with its new result. */
function withResult(item: unknown, known: ReadonlyMap<string, RunCheck>): unknown {
  if (typeof item !== 'object' || item === null) return item
  const result = known.get(String((item as { run?: unknown }).run))
  if (result === undefined) return item
  const { failed: _, ...rest } = item as Record<string, unknown>
  const { failure, output } = result
  return failure === undefined || failure.kind === 'interrupted'
    ? rest
    : { ...rest, failed: failedField({ failure, output }) }
}

/** True for the same promise with the same checks. */
function hasSameChecks(before: Marker, present: Marker): boolean {
  return promiseKey(before) === promiseKey(present) && sameChecks(before.checks, present.checks)
}
