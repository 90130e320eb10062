import { toIso } from '../../kernel/time.ts'
import { isJsonObject, jsonObjectIn } from '../../kernel/values.ts'
import { type CheckResult, failedField, parseFailure } from '../../marker/marker.ts'

/** Receipts of checks (docs/design.md, "Checks"). A phase passes only with a green one whose files are unchanged. */

export const CHECKS_FOLDER = 'checks'

const RECEIPT_NAME = /^\d+-\d+\.json$/

export function isReceiptName(name: string): boolean {
  return RECEIPT_NAME.test(name)
}

export const MAX_BOUND_FILES = 2_000

export interface BoundFile {
  /** Relative to the task folder, with `/`. */
  readonly path: string
  readonly size: number
  readonly mtimeMs: number
}

/** As they were when the check began. No program can set ctime on a POSIX system. */
export interface ArtifactTimes {
  readonly size: number
  readonly modifiedMs: number
  /** ctime. */
  readonly changedMs: number
}

/** A change here does not void the check. */
export interface NotBound {
  /** Relative to the root. */
  readonly path: string
  readonly why: 'link' | 'node_modules'
}

export interface Receipt extends CheckResult {
  /** A receipt that came with a repository has another run's id. */
  readonly runId: string | undefined
  /** Hash of the content; empty if large. */
  readonly artifact: string
  readonly artifactTimes: ArtifactTimes | undefined
  readonly files: readonly BoundFile[]
}

export function formatReceipt(receipt: Receipt, nowMs: number): string {
  const { runId, run: command, failure, durationMs, output, artifact, artifactTimes: times, files } = receipt
  return `${JSON.stringify(
    {
      ...{ run: runId, command, time: toIso(nowMs), seconds: durationMs / 1000 },
      ...(failure === undefined ? { exit_code: 0, output } : { ...failedField({ failure, output }), output }),
      artifact,
      artifact_file: times && { size: times.size, mtime_ms: times.modifiedMs, ctime_ms: times.changedMs },
      files: files.map(({ path, size, mtimeMs }) => ({ path, size, mtime_ms: mtimeMs })),
    },
    null,
    2,
  )}\n`
}

export function parseReceipt(text: string): Receipt | undefined {
  const value = jsonObjectIn(text)
  if (typeof value.command !== 'string' || typeof value.artifact !== 'string') return undefined
  const isGreen = value.exit_code === 0
  const failure = isGreen ? undefined : parseFailure(value)?.failure
  if (!isGreen && failure === undefined) return undefined
  const files = Array.isArray(value.files) ? value.files.slice(0, MAX_BOUND_FILES + 1).map(parseBound) : []
  if (files.length > MAX_BOUND_FILES || files.includes(undefined)) return undefined
  return {
    runId: typeof value.run === 'string' ? value.run : undefined,
    run: value.command,
    failure,
    durationMs: typeof value.seconds === 'number' ? value.seconds * 1000 : 0,
    output: typeof value.output === 'string' ? value.output : '',
    artifact: value.artifact,
    artifactTimes: parseTimes(value.artifact_file),
    files: files.filter((file) => file !== undefined),
  }
}

function parseTimes(value: unknown): ArtifactTimes | undefined {
  if (!isJsonObject(value)) return undefined
  const { size, mtime_ms: modifiedMs, ctime_ms: changedMs } = value
  const isWhole = typeof size === 'number' && typeof modifiedMs === 'number' && typeof changedMs === 'number'
  return isWhole ? { size, modifiedMs, changedMs } : undefined
}

function parseBound(value: unknown): BoundFile | undefined {
  if (!isJsonObject(value)) return undefined
  const { path, size, mtime_ms: mtimeMs } = value
  const isWhole = typeof path === 'string' && typeof size === 'number' && typeof mtimeMs === 'number'
  return isWhole ? { path, size, mtimeMs } : undefined
}
