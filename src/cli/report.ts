import { PostflightError } from '../core/errors.ts'
import { errorMessage } from '../core/messages/errors.ts'
import { UNNAMED_FILE } from '../core/messages/phrases.ts'
import type { CommandResult } from './context.ts'
import type { ErrorDocument } from './documents/error.ts'

/** Prints the results of commands and errors. */

/** The ways to highlight a word. */
export interface Painter {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly red: (text: string) => string
}

const plain = (text: string): string => text
const NO_COLOURS: Painter = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain }

/** How to print. */
export interface ReportOptions {
  readonly json: boolean
  readonly quiet: boolean
}

/** Something with `write`: a stream, or a test's recorder. */
export interface Output {
  write(text: string): unknown
  /** True for a terminal. */
  readonly isTTY?: boolean
  /** The terminal's width in characters; undefined without a terminal. */
  readonly columns?: number | undefined
}

/** Colours on a terminal without NO_COLOR; none otherwise. The library is loaded only where it is needed. */
export async function painterFor(output: Pick<Output, 'isTTY'>, noColor: string | undefined): Promise<Painter> {
  if (noColor || output.isTTY !== true) return NO_COLOURS
  return (await import('picocolors')).default.createColors(true)
}

/** Prints a result: one JSON document, or lines, or with --quiet only the essential lines. */
export function printResult(result: CommandResult, options: ReportOptions, stdout: Output): void {
  if (options.json) {
    stdout.write(`${jsonText(result.data, 2)}\n`)
    return
  }
  const lines = options.quiet ? (result.essential ?? []) : result.lines
  if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`)
}

/** JSON for a pipe or a terminal. It escapes DEL and C1 too, because some terminals obey them. */
export function jsonText(value: object, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Prints an error as one line on stderr, with --json also as a document on stdout if that works. Returns the exit code. */
export function printError(error: PostflightError, json: boolean, stdout: Output, stderr: Output): number {
  const message = errorMessage(error.code, error.args)
  stderr.write(`postflight: ${message}\n`)
  const document: ErrorDocument = { error: { code: error.code, message } }
  try {
    if (json) stdout.write(`${jsonText(document, 2)}\n`)
  } catch {
    // The line on stderr says everything.
  }
  return error.exitCode
}

/** Any error as a PostflightError: a file-system error names its file, everything else is an internal error. */
export function asPostflightError(error: unknown): PostflightError {
  if (error instanceof PostflightError) return error
  const { code, path, message } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) {
    return new PostflightError('cannot-write', { path: path ?? UNNAMED_FILE, detail: code }, error)
  }
  return new PostflightError('internal', { detail: message ?? String(error) }, error)
}
