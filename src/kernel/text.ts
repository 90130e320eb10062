/** Makes text of markers, payloads and names safe to print: terminal escapes, megabytes, halves of surrogate pairs. */

const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g
const LONE_SURROGATES = /\p{Surrogate}/gu

/** Most text. Node compiles a class of Unicode at its first use, which takes 0.5 ms. */
const ASCII = /^[\0-\x7f]*$/

/** Keeps newline and tab; removes control characters, changes of direction, and halves of surrogate pairs. */
export function stripControl(text: string): string {
  const printable = text.replace(CONTROL_CHARACTERS, '')
  return ASCII.test(printable) ? printable : printable.replace(LONE_SURROGATES, '')
}

/** A surrogate pair is never split. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  let end = Math.max(0, limit - 1)
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd800 && last <= 0xdbff) end -= 1
  return `${text.slice(0, end)}…`
}

export function oneLine(text: string, limit: number): string {
  // Cut before cleaning too, so that a huge value costs little.
  const line = stripControl(text.slice(0, limit * 4)).replace(/[\s\u2028\u2029]+/g, ' ')
  return cut(line.trim(), limit)
}

/** A terminal would obey control characters. */
export function inLine(text: string): string {
  return stripControl(text).replace(/[\n\t]/g, ' ')
}

export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const SHELL_PIECES = /[ \t]+|'([^']*)'|"((?:[^"\\`$]|\\[\s\S]|\$(?!\())*)"|\\([^\n])|([^\s'"\\`|&;<>()*?[\]#!]+)/gy

/** A backslash before a letter or a digit belongs to a Windows path. */
export function shellWords(line: string): string[] | undefined {
  const text = line.trim()
  // A line that sets a variable for its command is not just words.
  if (/^\w+=/.test(text)) return undefined
  const words: string[] = []
  let word: string | undefined
  let end = 0
  for (const [piece, single, double, escaped, plain] of text.matchAll(SHELL_PIECES)) {
    end += piece.length
    const inner = single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? plain ?? (escaped && unescaped(escaped))
    if (inner === undefined) words.push(word as string)
    word = inner === undefined ? undefined : (word ?? '') + inner
  }
  return end === text.length && word !== undefined ? [...words, word] : undefined
}

function unescaped(character: string): string {
  return /[\w.]/.test(character) || /[\p{L}\p{N}]/u.test(character) ? `\\${character}` : character
}

export function suggestion(name: string, known: readonly string[], shown = (one: string) => `"${one}"`) {
  const closest = closestName(name, known)
  return closest === undefined ? '' : ` (did you mean ${shown(quote(closest, 80))}?)`
}

export function closestName(name: string, known: readonly string[]): string | undefined {
  const similar = known.filter((one) => Math.abs(one.length - name.length) * 3 <= one.length)
  const rated = similar.map((one) => ({ one, edits: editsBetween(name, one) }))
  const [closest] = rated.filter(({ one, edits }) => edits * 3 <= one.length).sort((a, b) => a.edits - b.edits)
  return closest?.one
}

function editsBetween(from: string, to: string): number {
  let last: readonly number[] = [...Array(to.length + 1).keys()]
  let beforeLast = last
  for (let i = 0; i < from.length; i += 1) {
    const row = [i + 1]
    for (let j = 0; j < to.length; j += 1) {
      // There is no character before the start of a text, so nothing matches there.
      const isSwapped = from[i] === to[j - 1] && from[i - 1] === to[j]
      row.push(
        Math.min(
          Number(row[j]) + 1,
          Number(last[j + 1]) + 1,
          Number(last[j]) + (from[i] === to[j] ? 0 : 1),
          isSwapped ? Number(beforeLast[j - 1]) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = row
  }
  return Number(last.at(-1))
}

export const QUOTE_LIMIT = 200

export function quote(text: string, limit = 300): string {
  return oneLine(text, limit)
}

export function approval(file: string, approve: string, reject: string): string {
  return `read ${quote(file)}, then \`${approve}\` or \`${reject} --reason TEXT\``
}

export function counted(count: number | bigint, one: string, several = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : several}`
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

export function listed(parts: readonly (string | number)[], last: 'and' | 'or' = 'and'): string {
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1)}`
}

export function jsonFaultWords(code: string): string {
  return code.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase()
}

const MAX_NAMES = 8
const NAME_LIMIT = 60

export function quotedNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `"${oneLine(name, NAME_LIMIT)}"`)
  const others = names.length - shown.length
  return `${shown.join(', ')}${others === 0 ? '' : ` and ${counted(others, 'other')}`}`
}

export function abandonedFix(adopt: string, clear: string): string {
  return `to finish it, in an agent's shell: ${adopt}; if it is done or no longer wanted: ${clear}`
}

export function freshStart(start: string): string {
  return `\`${start} --definition FILE --fresh\` begins a new run`
}

export function unparsedMarker(problems: readonly string[]): string {
  return `${problems.join(', ')}, so it blocks any sub-agent without saying what remains`
}

export function repairOrClear(clear: string): string {
  return `${clear} (its text is kept), or repair it by hand`
}

export function unknownField(name: string, known: readonly string[]): string {
  // Two forms of one value may share a field.
  if (known.includes(name)) return `the field "${quote(name, 80)}" does not go with the others`
  return `unknown field "${quote(name, 80)}"${suggestion(name, known)}`
}
