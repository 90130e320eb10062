import { commandsOf } from './check.ts'
import { checksSessionOf, hasUnreadableChecks, type Marker } from './marker.ts'

export interface CheckCaller {
  readonly session: string | undefined
  readonly runChecks: boolean
}

export type CheckDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'run'; readonly commands: readonly string[]; readonly areForeign: boolean }
  | {
      readonly kind: 'refused'
      readonly why: 'other-session' | 'unowned' | 'unreadable'
      readonly commands: readonly string[]
    }

export function isOwnChecks(marker: Marker, session: string | undefined): boolean {
  return session !== undefined && marker.hostSession !== undefined && checksSessionOf(marker) === session
}

export function decideChecks(marker: Marker, caller: CheckCaller, checks = marker.checks): CheckDecision {
  const commands = commandsOf(checks)
  if (hasUnreadableChecks(marker)) return { kind: 'refused', why: 'unreadable', commands }
  if (checks.length === 0) return { kind: 'free' }
  if (marker.hostSession === undefined) return { kind: 'refused', why: 'unowned', commands }
  if (isOwnChecks(marker, caller.session)) return { kind: 'run', commands, areForeign: false }
  return caller.runChecks
    ? { kind: 'run', commands, areForeign: true }
    : { kind: 'refused', why: 'other-session', commands }
}

/** Includes the caller's abandoned markers: their checks were not run. */
export function decideFolder(
  pending: Marker | undefined,
  abandoned: readonly Marker[],
  caller: CheckCaller,
): CheckDecision {
  const ownMarkers = abandoned.filter((marker) => isOwnChecks(marker, caller.session))
  const own = ownMarkers.flatMap(({ checks }) => checks)
  const decided: CheckDecision = pending === undefined ? { kind: 'free' } : decideChecks(pending, caller)
  if (decided.kind === 'refused') return decided
  if (ownMarkers.some(hasUnreadableChecks)) return { kind: 'refused', why: 'unreadable', commands: commandsOf(own) }
  if (own.length === 0) return decided
  const commands = decided.kind === 'run' ? decided.commands : []
  return {
    kind: 'run',
    commands: [...new Set([...commands, ...commandsOf(own)])],
    areForeign: decided.kind === 'run' && decided.areForeign,
  }
}
