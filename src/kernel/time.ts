/** Milliseconds since the epoch in, ISO 8601 out. */

export const HOUR_MS = 3_600_000

export function toIsoSeconds(timeMs: number): string {
  return `${toIso(timeMs).slice(0, 19)}Z`
}

export function toIso(timeMs: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of what was passed in, not a clock
  const date = new Date(timeMs)
  return Number.isNaN(date.getTime()) ? '1970-01-01T00:00:00.000Z' : date.toISOString()
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

export function formatAge(ageMs: number): string {
  if (ageMs < 0) return 'in the future'
  const seconds = Math.floor(ageMs / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} days`
}
