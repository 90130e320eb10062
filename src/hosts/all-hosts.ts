import type { Environment } from '../kernel/environment.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { droid } from './droid.ts'
import type { Exemption, HostDifference, Payload, PayloadFields, ShellIdentity } from './host.ts'
import { kimi } from './kimi.ts'
import { postflight } from './postflight.ts'
import { qwenCode } from './qwen-code.ts'

/** The hosts that differ, in the order in which their variables are read (docs/design.md, "Hosts"). */
const HOSTS: readonly HostDifference[] = [postflight, claudeCode, codex, qwenCode, copilot, droid, kimi]

/** The tools whose call ends an agent's turn, and is judged as a stop. */
export const ENDING_TOOLS: readonly string[] = HOSTS.flatMap((host) => host.endingTools ?? [])

/** The fields of a payload, by the names that most hosts use. */
export function readFields(fields: PayloadFields): PayloadFields {
  return HOSTS.reduce((read, host) => host.readFields?.(read) ?? read, fields)
}

/** The host whose session the shell tool's environment names; undefined outside a host. */
export function hostOfShell(environment: Environment): HostDifference | undefined {
  return HOSTS.find((host) => host.shellIdentity?.(environment) !== undefined)
}

/** The session and the agent that the shell tool's environment names; undefined outside a host. */
export function shellIdentity(environment: Environment): ShellIdentity | undefined {
  return hostOfShell(environment)?.shellIdentity?.(environment)
}

/** True where the environment shows that an agent runs the command: CLAUDECODE and AI_AGENT tell no session. */
export function isAgentShell(environment: Environment): boolean {
  return shellIdentity(environment) !== undefined || environment.CLAUDECODE === '1' || Boolean(environment.AI_AGENT)
}

/** Why this stop is not judged; undefined if it is. */
export function exemptionOf(payload: Payload, environment: Environment): Exemption | undefined {
  const own = HOSTS.find((host) => host.recognizes?.(payload, environment))
  for (const host of own === undefined ? HOSTS : [own]) {
    const exemption = host.exempts?.(payload, environment)
    if (exemption !== undefined) return exemption
  }
  return undefined
}

type Question =
  | 'startsSubagent'
  | 'showsNotice'
  | 'takesContextAtTop'
  | 'takesContextOfBlock'
  | 'writesSequences'
  | 'handsOverReports'
  | 'recognizes'

/** Whether any host says so of a payload and its environment. */
function anyHost(question: Question): (payload: Payload, environment: Environment) => boolean {
  return (payload, environment) => HOSTS.some((host) => host[question]?.(payload, environment))
}

const isRecognized = anyHost('recognizes')

/** True if the session that starts is a sub-agent: only on droid. */
export const startsSubagent = anyHost('startsSubagent')

/** True if an allow may have a `systemMessage`: only on Claude Code. */
export const showsNotice = anyHost('showsNotice')

/** True if an `additionalContext` belongs at the top of the answer: only on Copilot CLI. */
export const takesContextAtTop = anyHost('takesContextAtTop')

/** True if a block may have an `additionalContext`: only on Claude Code, which gives the model a block's reason twice. */
export const takesContextOfBlock = anyHost('takesContextOfBlock')

/** True if an answer may have a `terminalSequence`: only on Claude Code. */
export const writesSequences = anyHost('writesSequences')

/** True if the hook keeps the report of a blocked sub-agent: only on Claude Code, where it can hand it over. */
export const handsOverReports = anyHost('handsOverReports')

/**
 * A file that is created when the session begins, and kept by a resume: the transcript of Claude Code (2.1.329).
 * Undefined on hosts for which this was not measured.
 */
export function sessionTranscript(payload: Payload, environment: Environment): string | undefined {
  return isRecognized(payload, environment) ? undefined : payload.transcript
}
