import { shellIdentity } from '../hosts/all-hosts.ts'
import { MAIN_AGENT } from '../hosts/host.ts'
import { PostflightError } from '../kernel/errors.ts'
import type { Marker } from '../marker/marker.ts'
import { ONE_CALL_MS } from '../marker/recorded-owner.ts'
import { markerDisplayPath, type StoredMarker } from '../marker/stored-marker.ts'
import type { CommandContext } from '../project/command-context.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { findMarkers } from '../stop/observe-stop.ts'

/** docs/design.md, "Ownership". */

export interface OwnerOptions {
  readonly skill?: string
  readonly operation?: string
  readonly reason?: string
  readonly step: readonly string[]
  readonly sessionId?: string
  readonly hostSession?: string
  readonly agent?: string
  readonly agentType?: string
}

/** `--agent-type` names a sub-agent, so the owner is not `main`, even if main's shell runs the command. */
export function newOwnerOf(context: CommandContext, options: OwnerOptions): Identity {
  const identity = callerOf(context, options)
  const isForSubagent = options.agentType !== undefined && identity.agent === MAIN_AGENT
  return isForSubagent ? { ...identity, agent: undefined } : identity
}

export function conflictWith(
  present: StoredMarker,
  identity: Identity,
  options: OwnerOptions,
): PostflightError | undefined {
  return foreignOwner(present, identity.session, options.sessionId) ?? otherAgent(present, identity.agent, options)
}

/** If a host's shell does not say which agent runs `create`, a marker with an owner can only be renewed unchanged. */
function otherAgent(
  { marker, folder }: StoredMarker,
  agent: string | undefined,
  options: OwnerOptions,
): PostflightError | undefined {
  if (marker.agent === undefined || marker.agent === agent) return undefined
  if (agent === undefined && renewsAsItIs(marker, options)) return undefined
  const path = markerDisplayPath(folder)
  return new PostflightError('marker-of-other-agent', { path, agent: marker.agent, operation: marker.operation })
}

function renewsAsItIs(marker: Marker, { operation, agentType, reason, step, skill }: OwnerOptions): boolean {
  if (agentType !== marker.agentType) return false
  if (operation !== undefined) return isForOperation(marker, operation)
  return reason === undefined && skill === undefined && step.length === 0
}

function foreignOwner(
  present: StoredMarker,
  session: string | undefined,
  sessionId: string | undefined,
): PostflightError | undefined {
  const { marker, folder } = present
  const path = markerDisplayPath(folder)
  const conflict = (whose: string): PostflightError =>
    new PostflightError('marker-of-other-session', { path, whose, task: folder.task })
  if (marker.hostSession !== undefined) {
    return marker.hostSession === session ? undefined : conflict(`pending for host session ${marker.hostSession}`)
  }
  if (sessionId !== undefined && marker.sessionId !== undefined && marker.sessionId !== sessionId) {
    return conflict(`pending for session ${marker.sessionId}`)
  }
  if (session !== undefined && marker.fields === undefined) return conflict('a marker of unknown origin')
  if (session !== undefined && sessionId === undefined) {
    const named = marker.sessionId === undefined ? '' : ` (${marker.sessionId})`
    return conflict(`pending without a host session${named}`)
  }
  return undefined
}

export function isForOperation(marker: Marker, operation: string | undefined): boolean {
  return marker.fields !== undefined && (operation === undefined || marker.operation === operation)
}

/**
 * Whether the hook cannot learn which agent made the marker: the output does not reach it, and the time of the shell
 * call is not known, or fits another marker too.
 */
export function isOwnerLost(context: CommandContext, folder: TaskFolder, { session, agent }: Identity): boolean {
  if (session === undefined || agent !== undefined) return false
  const host = shellIdentity(context.environment)
  if (!context.isOutputCaught({ isPiped: host?.isPiped === true })) return false
  if (host?.session !== session || host.tellsDuration !== true) return true
  return findMarkers([folder.root]).markers.some(
    (one) =>
      one.kind === 'marker' &&
      one.folder.path !== folder.path &&
      one.marker.hostSession === session &&
      one.marker.agent === undefined &&
      one.times.changedMs > context.nowMs - ONE_CALL_MS,
  )
}

export interface Identity {
  readonly session: string | undefined
  readonly agent: string | undefined
}

export function callerOf(
  context: CommandContext,
  options: { readonly hostSession?: string; readonly agent?: string },
): Identity {
  const fromShell = shellIdentity(context.environment)
  // The environment's agent belongs to its own session.
  const sameSession = options.hostSession === undefined || options.hostSession === fromShell?.session
  return {
    session: options.hostSession ?? fromShell?.session,
    agent: options.agent ?? (sameSession ? fromShell?.agent : undefined),
  }
}
