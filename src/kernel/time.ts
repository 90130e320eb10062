/** Milliseconds since the epoch in, ISO 8601 out. */

export const HOUR_MS = 3_600_000

export function toIsoSeconds(timeMs: number): string {
  return `${toIso(timeMs).slice(0, 19)}Z`
}

export function toIso(timeMs: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of what was passed in, not a clock
  const date = new Date(timeMs)
  if (Number.isNaN(date.getTime())) return '1970-01-01T00:00:00.000Z'
  const year = date.getUTCFullYear()
  // `toISOString` reads the file of the time zone first (Node 20 and 24: 0.2 ms).
  if (year < 0 || year > 9999) return date.toISOString()
  const day = `${padded(year, 4)}-${padded(date.getUTCMonth() + 1)}-${padded(date.getUTCDate())}`
  const time = `${padded(date.getUTCHours())}:${padded(date.getUTCMinutes())}:${padded(date.getUTCSeconds())}`
  return `${day}T${time}.${padded(date.getUTCMilliseconds(), 3)}Z`
}

function padded(value: number, width = 2): string {
  return String(value).padStart(width, '0')
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/

export function fromIso(text: string): number | undefined {
  const match = ISO_TIME.exec(text)
  if (match === null) return undefined
  const [, day, time = '00:00', zone = 'Z'] = match
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of what was passed in, not a clock
  const timeMs = Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

export function describeAge(ageMs: number): string {
  return ageMs < 0 ? 'dated in the future' : `${formatAge(ageMs)} old`
}

export function formatAge(ageMs: number): string {
  if (ageMs < 0) return 'in the future'
  const seconds = Math.floor(ageMs / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} days`
}
