/**
 * Makes text from markers, payloads and folders' names safe to print. Such text may be hostile: terminal escapes,
 * megabytes, half of a surrogate pair.
 */

/** C0 except newline and tab, DEL, C1, and the characters that change the direction of text. */
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Half of a surrogate pair. With the flag `u`, whole pairs do not match. */
const LONE_SURROGATES = /\p{Surrogate}/gu

/** Most text. Node compiles a class of Unicode at its first use, which takes 0.5 ms. */
const ASCII = /^[\0-\x7f]*$/

/**
 * The text without control characters (newline and tab stay), characters that change the direction of text, and halves
 * of surrogate pairs. Strict JSON readers refuse the escape of such a half, and with it the whole answer.
 */
export function stripControl(text: string): string {
  const printable = text.replace(CONTROL_CHARACTERS, '')
  return ASCII.test(printable) ? printable : printable.replace(LONE_SURROGATES, '')
}

/** At most `limit` UTF-16 units of the text, ending in `…` if it was cut. A surrogate pair is never split. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  let end = Math.max(0, limit - 1)
  const last = text.charCodeAt(end - 1)
  if (last >= 0xd800 && last <= 0xdbff) end -= 1
  return `${text.slice(0, end)}…`
}

/** The text on one line, without control characters, cut at `limit` UTF-16 units: for values inside a sentence. */
export function oneLine(text: string, limit: number): string {
  // Cut before cleaning too, so that a huge value costs little.
  return cut(
    stripControl(text.slice(0, limit * 4))
      .replace(/[\s\u2028\u2029]+/g, ' ')
      .trim(),
    limit,
  )
}

/** A path or a name on one line, without control characters: a terminal would obey them. */
export function inLine(text: string): string {
  return stripControl(text).replace(/[\n\t]/g, ' ')
}

/** A word for a POSIX shell: unchanged if that is safe, otherwise in single quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/**
 * The pieces of one shell command: blanks, single quotes, double quotes, an escape, plain characters. Operators,
 * redirections, substitutions, patterns and comments do not match.
 */
const SHELL_PIECES = /[ \t]+|'([^']*)'|"((?:[^"\\`$]|\\[\s\S]|\$(?!\())*)"|\\([^\n])|([^\s'"\\`|&;<>()*?[\]#!]+)/gy

/**
 * The words of a command line without their quotes and escapes; undefined for a line that is more than one command and
 * its words. Variables stay unchanged. A backslash before a letter or a digit belongs to a Windows path.
 */
export function shellWords(line: string): string[] | undefined {
  const text = line.trim()
  // A line that sets a variable for its command is more than words.
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
