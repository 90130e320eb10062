/**
 * Text that came from a marker, a payload or a folder's name, made fit to print. Such text may be hostile:
 * terminal escapes, megabytes of it, half of a surrogate pair.
 */

/** C0 but newline and tab, DEL, C1, and what turns the direction of the text that follows. */
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Half a surrogate pair (with the flag `u`, whole pairs do not match). */
const LONE_SURROGATES = /\p{Surrogate}/gu

/**
 * Removes every control character but newline and tab, those that turn the direction of text among them, and every half
 * of a surrogate pair: strict JSON readers refuse its escape, and with it the whole answer.
 */
export function stripControl(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '').replace(LONE_SURROGATES, '')
}

/** At most `limit` UTF-16 units, ending in `…` when something was cut; never splits a surrogate pair. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  let end = Math.max(0, limit - 1)
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd800 && last <= 0xdbff) end -= 1
  return `${text.slice(0, end)}…`
}

/** One line without control characters, at most `limit` UTF-16 units: for names, ids and paths inside a sentence. */
export function oneLine(text: string, limit: number): string {
  // Cut before cleaning too, so that a huge value costs nothing.
  return cut(
    stripControl(text.slice(0, limit * 4))
      .replace(/[\s\u2028\u2029]+/g, ' ')
      .trim(),
    limit,
  )
}

/** A path or name as it stands, but on one line and without control characters: for a terminal, which obeys them. */
export function inLine(text: string): string {
  return stripControl(text).replace(/[\n\t]/g, ' ')
}

/**
 * A word for a POSIX shell: as it stands where that is safe, else in single quotes. Control characters cannot
 * reach the output of anything that prints a command, so a path that holds one is not made shorter by this.
 */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/**
 * The pieces of one command for a shell: blanks, single quotes, double quotes, an escape, plain characters. What makes
 * more of a line than one command with its words is none of them: operators, redirections, substitutions, patterns,
 * comments.
 */
const SHELL_PIECES = /[ \t]+|'([^']*)'|"((?:[^"\\`$]|\\[\s\S]|\$(?!\())*)"|\\([^\n])|([^\s'"\\`|&;<>()*?[\]#!]+)/gy

/**
 * The words of a command line, quotes and escapes taken off: what `shellWord` wrote, and what stands in double quotes.
 * Variables stay as they are written. A backslash before a letter or a digit is one of a Windows path. Undefined for a
 * line that is anything more than one command and its words.
 */
export function shellWords(line: string): string[] | undefined {
  const text = line.trim()
  // A variable set for a command is no word of it.
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
  return /[\p{L}\p{N}_.]/u.test(character) ? `\\${character}` : character
}
