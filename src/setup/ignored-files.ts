const TITLE = '# postflight-guard'

/** Markers, the journal, backups of settings, and the record of rules in settings that are not shared. */
export const IGNORED = [
  'specs/**/.postflight-*',
  'specs/.postflight/',
  '*.postflight-backup*',
  '.claude/settings.local.json.postflight-rules',
]

/** The same text if it has all of them. */
export function addIgnored(text: string): string {
  const present = linesOf(text).map((line) => line.trim())
  const missing = IGNORED.filter((line) => !present.includes(line))
  if (missing.length === 0) return text
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const block = [TITLE, ...missing].join(lineEnd)
  if (text === '') return block + lineEnd
  // If the last line has no line end, the new last line has none either.
  return text.endsWith('\n') ? text + lineEnd + block + lineEnd : text + lineEnd + lineEnd + block
}

export function removeIgnored(text: string): string {
  const lines = linesOf(text)
  const start = lines.findIndex((line) => line.trim() === TITLE)
  if (start === -1) return text
  const length = lines.slice(start + 1).findIndex((line) => !IGNORED.includes(line.trim()))
  const end = length === -1 ? lines.length : start + 1 + length
  const isSet = lines[start - 1]?.trim() === ''
  const before = lines.slice(0, isSet ? start - 1 : start).join('')
  const after = lines.slice(end).join('')
  // Without our lines, the line before them is the last one again, and has no end if the text had none.
  const rest = after === '' && !text.endsWith('\n') ? before.replace(/\r?\n$/, '') : before + after
  // `init` adds a second block if a line of the first one is missing.
  return removeIgnored(rest)
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/)
}
