import type { Payload } from '../payload.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { droid } from './droid.ts'
import type { Environment, Exemption, HostDifference, ShellIdentity } from './host.ts'
import { postflight } from './postflight.ts'
import { qwenCode } from './qwen-code.ts'

/** Every host that differs, in the order in which their variables are asked (DESIGN section 7). */
const HOSTS: readonly HostDifference[] = [postflight, claudeCode, codex, qwenCode, copilot, droid]

/** The variables that may name the project's folder; the launcher asks the same ones. */
export const PROJECT_VARIABLES: readonly string[] = HOSTS.flatMap((host) => host.projectVariables ?? [])

/** Who the shell tool's environment says that we are; undefined outside any host. */
export function shellIdentity(environment: Environment): ShellIdentity | undefined {
  for (const host of HOSTS) {
    const identity = host.shellIdentity?.(environment)
    if (identity !== undefined) return identity
  }
  return undefined
}

/** Why this stop is not to be judged; undefined for one that is. */
export function exemptionOf(payload: Payload, environment: Environment): Exemption | undefined {
  const own = HOSTS.find((host) => host.recognizes?.(payload, environment))
  for (const host of own === undefined ? HOSTS : [own]) {
    const exemption = host.exempts?.(payload, environment)
    if (exemption !== undefined) return exemption
  }
  return undefined
}

/** True where an allow may carry a `systemMessage`: on Claude Code alone. */
export function showsNotice(payload: Payload, environment: Environment): boolean {
  return HOSTS.some((host) => host.showsNotice?.(payload, environment))
}

/**
 * The file that is born when the session begins, and keeps its time of birth when the session is resumed: the transcript
 * of Claude Code (2.1.329). Undefined on hosts of which that was not measured.
 */
export function sessionTranscript(payload: Payload, environment: Environment): string | undefined {
  return HOSTS.some((host) => host.recognizes?.(payload, environment)) ? undefined : payload.transcript
}
