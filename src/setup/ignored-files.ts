const TITLE = '# postflight-guard'

/** A person's own settings: they name a path on this machine. */
export const LOCAL_SETTINGS = '.claude/settings.local.json'

const LOCAL_RULES = `${LOCAL_SETTINGS}.postflight-rules`
export const LOCAL_FILES = [LOCAL_SETTINGS, LOCAL_RULES]

export const IGNORED = ['specs/**/.postflight-*', 'specs/.postflight/', '*.postflight-backup*', LOCAL_RULES]

export function addIgnored(text: string, lines: readonly string[] = IGNORED): string {
  const present = linesOf(text).map((line) => line.trim())
  const missing = lines.filter((line) => !present.includes(line))
  if (missing.length === 0) return text
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const block = [TITLE, ...missing].join(lineEnd)
  if (text === '') return block + lineEnd
  // If the last line has no line end, the new last line has none either.
  return text.endsWith('\n') ? text + lineEnd + block + lineEnd : text + lineEnd + lineEnd + block
}

/** `init` adds a second block if a line of the first one is missing. */
export function removeIgnored(text: string): string {
  const kept: string[] = []
  let isInBlock = false
  let last = ''
  for (const line of linesOf(text)) {
    const word = line.trim()
    if (word === TITLE) {
      if (kept.at(-1)?.trim() === '') kept.pop()
      isInBlock = true
      // People also ignore the local settings themselves, so that line is ours only after our title.
    } else if (!isInBlock || !(IGNORED.includes(word) || (word === LOCAL_SETTINGS && last === TITLE))) {
      kept.push(line)
      isInBlock = false
    }
    last = word
  }
  const rest = kept.join('')
  // The line before ours is the last one again, without a line end if the text had none.
  return isInBlock && !text.endsWith('\n') ? rest.replace(/\r?\n$/, '') : rest
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/)
}
