import { oneLine } from './text.ts'

/** Parts of sentences that several catalogues use. */

/** The longest value that is quoted inside a sentence, in characters. */
export const QUOTE_LIMIT = 200

/** Stands for a file in an error that does not name it. */
export const UNNAMED_FILE = 'a file'

/** A value inside a sentence: on one line, without control characters, cut. */
export function quote(text: string, limit = 300): string {
  return oneLine(text, limit)
}

/** How a person approves or rejects a file. */
export function approval(file: string, approve: string, reject: string): string {
  return `read ${quote(file)}, then \`${approve}\` or \`${reject} --reason TEXT\``
}

/** A number of things: `1 phase`, `2 phases`. */
export function counted(count: number | bigint, one: string, several = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : several}`
}

/** Parts of a sentence: `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly (string | number)[], last: 'and' | 'or' = 'and'): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1)}`
}

/** The words of a JSON parser's error code: `CommaExpected` becomes "comma expected". */
export function jsonFaultWords(code: string): string {
  return code.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase()
}

const MAX_NAMES = 8
const NAME_LIMIT = 60

/** Names inside a sentence: in quotes, the first eight, and the number of the others. */
export function quotedNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `"${oneLine(name, NAME_LIMIT)}"`)
  const others = names.length - shown.length
  return `${shown.join(', ')}${others === 0 ? '' : ` and ${counted(others, 'other')}`}`
}

/** What to do about an abandoned marker. */
export function abandonedFix(adopt: string, clear: string): string {
  return `to finish it, in an agent's shell: ${adopt}; if it is done or no longer wanted: ${clear}`
}

/** A pending marker whose text is invalid, as the end of "the marker …". */
export function unparsedMarker(problems: readonly string[]): string {
  return `${problems.join(', ')}, so it blocks any sub-agent without saying what remains`
}

/** What to do about a marker whose text is invalid. */
export function repairOrClear(clear: string): string {
  return `${clear} (its text is kept), or repair it by hand`
}
