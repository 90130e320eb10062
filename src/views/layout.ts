/** Wraps coloured lines and cuts what has no room. Pure. */

export interface Size {
  readonly columns: number
  readonly rows: number
}

const PIECES = /\u001b\[[\d;]*m| +|[^ \u001b]+/g

const PIECES_TO_COPY = /\u001b\[[\d;]*m| +|(?:`[^`\u001b]*`|[^ \u001b])+/g

const ENDS = /^\u001b\[(?:0|22|39)?m$/

const RESET = '\u001b[0m'

/**
 * Each row begins with the colours that are in force, so that it can be painted by itself. With `keepsWords` a long
 * word stays whole, so that a copy from the terminal is whole.
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
    rows.push(colours === '' ? row.trimEnd() : `${row}${RESET}`)
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
      else if (used + gap.length < columns) {
        row += gap
        used += gap.length
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
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += NO_ROOM.test(character) ? 0 : DOUBLE.test(character) ? 2 : 1
  return width
}

export function fill({ columns, rows }: Size, { head, lines, foot, more }: Picture): string[] {
  const top = [...wrap(head, columns), '']
  const bottom = wrap(foot, columns)
  const room = Math.max(1, rows - top.length - bottom.length)
  const body = lines.flatMap((line) => wrap(line, columns))
  const hidden = body.length - room
  const shown = hidden <= 0 ? body : [...body.slice(0, room - 1), ...wrap(more(hidden + 1), columns).slice(0, 1)]
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, () => '')
  return [...top, ...shown, ...blank, ...bottom].slice(0, rows)
}

export interface Picture {
  readonly head: string
  readonly lines: readonly string[]
  readonly foot: string
  readonly more: (count: number) => string
}
