import { PostflightError } from '../kernel/errors.ts'
import { type Environment, isJsonObject, known, parseJson, variable } from '../kernel/values.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { droid } from './droid.ts'
import type { Exemption, HostAnswers, HostDifference, ReadEnd, ShellIdentity } from './host.ts'
import { EMPTY_PAYLOAD, type Payload, type PayloadFields, readPayload } from './payload.ts'
import { qwenCode } from './qwen-code.ts'

export const postflight: HostDifference = {
  sessionVariable: 'POSTFLIGHT_HOST_SESSION',
  readShell: (environment) => known({ agent: variable(environment, 'POSTFLIGHT_AGENT') }),
}

/** Kimi Code (measured with 2.1.0) ignores JSON answers. */
const kimi: HostDifference = {
  recognizes: (payload) => payload.client === 'kimi_code_cli',
  exempts: (payload) => (payload.client === 'kimi_code_cli' ? { host: 'Kimi Code', why: 'answer-ignored' } : undefined),
}

/** In the order in which their variables are read (docs/hosts.md, "One host in another's shell"). */
const HOSTS: readonly HostDifference[] = [postflight, claudeCode, codex, qwenCode, copilot, droid, kimi]

const ENDING_TOOLS: readonly string[] = HOSTS.flatMap((host) => host.endingTools ?? [])

export function parsePayload(text: string, nowMs: number, readEnd: ReadEnd = () => ''): Payload {
  const body = text.trim()
  if (body === '') return EMPTY_PAYLOAD
  const json = parseJson(body)
  if ('fault' in json) throw new PostflightError('payload-not-json', { detail: json.fault })
  if (!isJsonObject(json.value)) throw new PostflightError('payload-not-object')
  const fields = HOSTS.reduce<PayloadFields>((read, host) => host.readFields?.(read, readEnd) ?? read, json.value)
  return readPayload(fields, nowMs, ENDING_TOOLS)
}

/** Several, the outer ones too, if one host runs in another's shell. */
export function hostsOfShell(environment: Environment): readonly HostDifference[] {
  return HOSTS.filter((host) => sessionOf(host, environment) !== undefined)
}

export function shellIdentity(environment: Environment): ShellIdentity | undefined {
  const [host = {}] = hostsOfShell(environment)
  const session = sessionOf(host, environment)
  return session === undefined ? undefined : { session, ...host.readShell?.(environment, session) }
}

function sessionOf({ sessionVariable }: HostDifference, environment: Environment): string | undefined {
  return sessionVariable === undefined ? undefined : variable(environment, sessionVariable)
}

/** CLAUDECODE, AI_AGENT and OPENCODE (OpenCode 1.18.34) name no session. */
export function isAgentShell(environment: Environment): boolean {
  const { CLAUDECODE, AI_AGENT, OPENCODE } = environment
  return shellIdentity(environment) !== undefined || CLAUDECODE === '1' || OPENCODE === '1' || Boolean(AI_AGENT)
}

export function exemptionOf(payload: Payload, environment: Environment, readEnd: ReadEnd): Exemption | undefined {
  const own = HOSTS.find((host) => host.recognizes?.(payload, environment))
  for (const host of own === undefined ? HOSTS : [own]) {
    const exemption = host.exempts?.(payload, environment, readEnd)
    if (exemption !== undefined) return exemption
  }
  return undefined
}

export function anyHost(question: keyof HostAnswers, payload: Payload, environment: Environment): boolean {
  return HOSTS.some((host) => host[question]?.(payload, environment))
}

/** In ms since the epoch, from a host that repeats one event's time in each of its payloads. */
export function eventTimeMs(payload: Payload, environment: Environment): number | undefined {
  return anyHost('repeatsTime', payload, environment) ? payload.sentMs : undefined
}

/** Claude Code (2.1.329) creates it when the session begins; a resume keeps it. Not measured on other hosts. */
export function sessionTranscript(payload: Payload, environment: Environment): string | undefined {
  return anyHost('recognizes', payload, environment) ? undefined : payload.transcript
}
