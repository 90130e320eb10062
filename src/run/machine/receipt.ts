import { toIso } from '../../kernel/time.ts'
import { jsonObjectIn } from '../../kernel/values.ts'
import { type CheckResult, failedField, parseFailure } from '../../marker/marker.ts'
import { keyed, listOf, number, objectOf, text, type Values, WRONG } from '../definition/fields.ts'

/** Receipts of checks (docs/design.md, "Checks"). A phase passes only with a green one whose files are unchanged. */

export const MAX_BOUND_FILES = 2_000

/** `path`: relative to the root, with `/`; of a file in the task folder `./…` there, because people rename that folder. */
const BOUND_FIELDS = { path: text, size: number, mtimeMs: { key: 'mtime_ms', read: number } }

export interface BoundFile extends Values<typeof BOUND_FIELDS> {}

const readFiles = listOf(objectOf(BOUND_FIELDS), MAX_BOUND_FILES)

const TIMES_FIELDS = {
  size: number,
  modifiedMs: { key: 'mtime_ms', read: number },
  changedMs: { key: 'ctime_ms', read: number },
}

const readTimes = objectOf(TIMES_FIELDS)

export interface Receipt extends CheckResult {
  /** A receipt that came with a repository has another run's id. */
  readonly runId: string | undefined
  /** Hash of the content; empty if large. */
  readonly artifact: string
  /** As they were when the check began. No program can set ctime on a POSIX system. */
  readonly artifactTimes: Values<typeof TIMES_FIELDS> | undefined
  readonly files: readonly BoundFile[]
}

export function formatReceipt(receipt: Receipt, nowMs: number): string {
  const { runId, run: command, failure, durationMs, output, artifact, artifactTimes: times, files } = receipt
  return `${JSON.stringify(
    {
      run: runId,
      command,
      time: toIso(nowMs),
      seconds: durationMs / 1000,
      ...(failure === undefined ? { exit_code: 0, output } : { ...failedField({ failure, output }), output }),
      artifact,
      artifact_file: times && keyed(TIMES_FIELDS, times),
      files: files.map((file) => keyed(BOUND_FIELDS, file)),
    },
    null,
    2,
  )}\n`
}

export function parseReceipt(held: string): Receipt | undefined {
  const value = jsonObjectIn(held)
  if (typeof value.command !== 'string' || typeof value.artifact !== 'string') return undefined
  const isGreen = value.exit_code === 0
  const failure = isGreen ? undefined : parseFailure(value)?.failure
  if (!isGreen && failure === undefined) return undefined
  const files = Array.isArray(value.files) ? readFiles(value.files) : []
  if (files === WRONG) return undefined
  const artifactTimes = readTimes(value.artifact_file)
  return {
    runId: typeof value.run === 'string' ? value.run : undefined,
    run: value.command,
    failure,
    durationMs: typeof value.seconds === 'number' ? value.seconds * 1000 : 0,
    output: typeof value.output === 'string' ? value.output : '',
    artifact: value.artifact,
    artifactTimes: artifactTimes === WRONG ? undefined : artifactTimes,
    files,
  }
}
