/**
 * Makes text from markers, payloads and folders' names safe to print. Such text may be hostile: terminal escapes,
 * megabytes, half of a surrogate pair.
 */

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
  return cut(
    stripControl(text.slice(0, limit * 4))
      .replace(/[\s\u2028\u2029]+/g, ' ')
      .trim(),
    limit,
  )
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
