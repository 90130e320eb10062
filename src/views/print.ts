import { sleep } from '../disk/age.ts'
import { exitCodeOf } from '../kernel/command-errors.ts'
import { messageOf, type PostflightError } from '../kernel/errors.ts'
import { stripControl } from '../kernel/text.ts'
import { attempt, type Environment } from '../kernel/values.ts'
import type { CommandResult, Painter } from '../project/command-context.ts'
import type { ErrorDocument } from './documents.ts'

export type PrintOptions = Readonly<{ json: boolean; quiet: boolean }>

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  /** In characters. */
  readonly columns?: number | undefined
}

export function printResult(result: CommandResult, options: PrintOptions, stdout: Output): void {
  if (options.json) {
    stdout.write(`${jsonText(result.data, 2)}\n`)
    return
  }
  const lines = options.quiet ? (result.essential ?? []) : result.lines
  if (lines.length === 0) return
  const text = `${lines.join('\n')}\n`
  // Essential lines are for scripts, also if a terminal shows them.
  stdout.write(lines === result.essential ? text : wrapped(text, stdout))
}

/** Throws the first failure, if any, after it has printed what was done and the other failures. */
export function endWithFailures(
  failures: readonly unknown[],
  done: readonly string[],
  options: PrintOptions & { readonly stdout: Output },
): void {
  if (failures.length === 0) return
  const [first, ...others] = failures
  const lines = [...done, ...others.map((error) => messageOf(error))]
  if (!options.json) printResult({ exitCode: 1, data: {}, lines }, options, options.stdout)
  throw first
}

export function wrapped(text: string, { columns }: Pick<Output, 'columns'>): string {
  if (!columns) return text
  const rows = text.split('\n').flatMap((line) => wrap(line, columns, true))
  return rows.join('\n')
}

/** JSON for a pipe or a terminal. It also escapes DEL, C1 and the direction of text, because terminals obey them. */
export function jsonText(value: object, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** With --json also as a document on stdout, if that works. */
export function printError(error: PostflightError, json: boolean, stdout: Output, stderr: Output, root?: string) {
  const message = messageOf(error, root)
  stderr.write(wrapped(`postflight: ${message}\n`, stderr))
  const document: ErrorDocument = { error: { code: error.code, message } }
  // The line on stderr says everything.
  if (json) attempt(() => stdout.write(`${jsonText(document, 2)}\n`))
  return exitCodeOf(error.code)
}

const plain = (text: string): string => text
const NO_COLOURS: Painter = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain }

export async function painterFor({ isTTY }: Pick<Output, 'isTTY'>, { NO_COLOR, TERM }: Environment): Promise<Painter> {
  if (NO_COLOR || TERM === 'dumb' || isTTY !== true) return NO_COLOURS
  return (await import('picocolors')).default.createColors(true)
}

const COLOURS = /(\u001b\[(?:0|1|2|22|31|32|33|39)m)/

/** On a terminal, keeps the painter's colours. */
export function printable(text: string, isTerminal: boolean): string {
  if (!isTerminal) return stripControl(text)
  const parts = text.split(COLOURS)
  return parts.map((part, index) => (index % 2 === 1 ? part : stripControl(part))).join('')
}

/**
 * Names of folders, and what files hold, may come from a hostile repository, and a terminal would obey their escape
 * sequences.
 */
export function cleanOutput(output: Output): Output {
  return {
    write: (text) => output.write(printable(text, output.isTTY === true)),
    get isTTY() {
      return output.isTTY === true
    },
    get columns() {
      return output.columns
    },
  }
}

/** `print` returns false if the reader is gone, `pause` after Ctrl-C. */
export function processScreen(output: Output, isJson: boolean) {
  const stopped = new AbortController()
  process.once('SIGINT', () => stopped.abort())
  return {
    print: (text: string): boolean => output.write(isJson ? text : wrapped(text, output)) !== false,
    async pause(ms: number): Promise<boolean> {
      await sleep(ms, stopped.signal)
      return !stopped.signal.aborted
    },
  }
}

const PIECES = /\u001b\[[\d;]*m| +|[^ \u001b]+/g
/** Also keeps `postflight clear 259_x --root '/a b'` whole if it stands without backticks. */
const PIECES_TO_COPY =
  /\u001b\[[\d;]*m| +|(?:`[^`\u001b]*`|postflight (?:workflow )?[a-z]+(?: [^ ;,()\u001b]*\d[^ ;,()\u001b]*)?(?: --[a-z-]+(?: '[^'\u001b]*'| [\w./-]+)?)*|[^ \u001b])+/g

const ENDS = /^\u001b\[(?:0|22|39)?m$/

/**
 * Each row begins with the colours that are in force, so that it can be painted by itself. With `keepsWords`
 * long words and commands stay whole, for copying.
 */
export function wrap(line: string, columns: number, keepsWords = false): string[] {
  const leading = /^ */.exec(line)?.[0].length ?? 0
  const indent = ' '.repeat(Math.min(leading + 2, Math.floor(columns / 3)))
  const rows: string[] = []
  let row = ''
  let used = 0
  let start = 0
  let colours = ''
  const breakRow = (): void => {
    rows.push(colours === '' ? row.trimEnd() : `${row}\u001b[0m`)
    row = `${indent}${colours}`
    used = indent.length
    start = used
  }
  let gap = ''
  for (const piece of line.match(keepsWords ? PIECES_TO_COPY : PIECES) ?? []) {
    if (piece.startsWith('\u001b')) {
      colours = ENDS.test(piece) ? '' : colours + piece
      row += gap + piece
      used += gap.length
      gap = ''
    } else if (piece.startsWith(' ')) {
      gap = piece
    } else {
      const width = widthOf(piece)
      const isFirst = used === start
      if (!isFirst && used + gap.length + width > columns) breakRow()
      else if (used + gap.length + Math.min(width, 2) <= columns) {
        row += gap
        used += gap.length
        // A long first word begins on this row.
        if (isFirst) start = used
      }
      gap = ''
      for (const character of !keepsWords && used + width > columns ? piece : [piece]) {
        const size = widthOf(character)
        if (used + size > columns && used > start) breakRow()
        row += character
        used += size
      }
    }
  }
  rows.push(row)
  return rows
}

/** Combining marks, joiners, variation selectors. */
const NO_ROOM = /\p{M}|[\u200b-\u200f]|\p{Variation_Selector}/u

/** East Asian characters and emoji. */
const DOUBLE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += NO_ROOM.test(character) ? 0 : DOUBLE.test(character) ? 2 : 1
  return width
}
