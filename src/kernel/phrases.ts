import { oneLine } from './text.ts'

export const QUOTE_LIMIT = 200

export const UNNAMED_FILE = 'a file'

export function quote(text: string, limit = 300): string {
  return oneLine(text, limit)
}

export function approval(file: string, approve: string, reject: string): string {
  return `read ${quote(file)}, then \`${approve}\` or \`${reject} --reason TEXT\``
}

export function counted(count: number | bigint, one: string, several = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : several}`
}

export function listed(parts: readonly (string | number)[], last: 'and' | 'or' = 'and'): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1)}`
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

export function unparsedMarker(problems: readonly string[]): string {
  return `${problems.join(', ')}, so it blocks any sub-agent without saying what remains`
}

export function repairOrClear(clear: string): string {
  return `${clear} (its text is kept), or repair it by hand`
}
