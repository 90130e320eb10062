import { PostflightError } from '../core/errors.ts'
import { errorMessage } from '../core/messages/errors.ts'
import type { CommandResult } from './context.ts'
import type { ErrorDocument } from './documents/error.ts'

/** Prints what a command came to. The only place that writes to stdout and stderr. */

/** The few ways in which a word can stand out. */
export interface Painter {
  readonly bold: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly red: (text: string) => string
}

const plain = (text: string): string => text
const NO_COLOURS: Painter = { bold: plain, green: plain, yellow: plain, red: plain }

/** How to print. */
export interface ReportOptions {
  readonly json: boolean
  readonly quiet: boolean
}

/** Something with `write`: a stream, or a test's ear. */
export interface Output {
  write(text: string): unknown
  /** True for a terminal. */
  readonly isTTY?: boolean
  /** The terminal's width, in characters; undefined where there is none. */
  readonly columns?: number | undefined
}

/** Colours on a terminal and without NO_COLOR; none elsewhere. The library is loaded only where there are some. */
export async function painterFor(output: Pick<Output, 'isTTY'>, noColor: string | undefined): Promise<Painter> {
  if (noColor || output.isTTY !== true) return NO_COLOURS
  return (await import('picocolors')).default.createColors(true)
}

/** Prints a result: one JSON document, or lines, or with --quiet only what a script cannot do without. */
export function printResult(result: CommandResult, options: ReportOptions, stdout: Output): void {
  if (options.json) {
    stdout.write(`${jsonText(result.data, 2)}\n`)
    return
  }
  const lines = options.quiet ? (result.essential ?? []) : result.lines
  if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`)
}

/** JSON for a pipe or a terminal: JSON leaves DEL and C1 as they are, and some terminals obey them. */
export function jsonText(value: object, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Prints an error: one line on stderr, with --json also a document on stdout. Gives the exit code. */
export function printError(error: PostflightError, json: boolean, stdout: Output, stderr: Output): number {
  const message = errorMessage(error.code, error.args)
  stderr.write(`postflight: ${message}\n`)
  const document: ErrorDocument = { error: { code: error.code, message } }
  if (json) stdout.write(`${jsonText(document, 2)}\n`)
  return error.exitCode
}

/** Any error as one of ours: a file-system error says which file, everything else is our fault. */
export function asPostflightError(error: unknown): PostflightError {
  if (error instanceof PostflightError) return error
  const { code, path, message } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) {
    return new PostflightError('cannot-write', { path: path ?? 'a file', detail: code }, error)
  }
  return new PostflightError('internal', { detail: message ?? String(error) }, error)
}
