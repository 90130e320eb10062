/** Records what a client sends to its hooks, without anything of this machine or of this run. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Line, say } from './agents.ts'
import type { HookClient } from './hook-clients.ts'
import { hookedProject } from './hooked.ts'
import { PACKAGE } from './package-copy.ts'

export interface RecordedEvent {
  /** The hook's variables that name the project or the agent. */
  environment: Record<string, string>
  payload: Record<string, unknown>
}

/** The events of a conversation that makes a marker, and whose sub-agent makes one too. */
export interface Recording {
  /** The markers as `create` wrote them in the agents' shells, by task. */
  markers: Record<string, Record<string, unknown>>
  events: RecordedEvent[]
}

const TASKS = ['001_main', '002_kid']

/** The recording of a client in the repository, which tests without a client replay. */
export function recordingFile(name: string): string {
  return join(PACKAGE, 'test', 'fixtures', 'payloads', `${name}.json`)
}

/** Runs the conversation. Our own hook is switched off, so that the markers stay as `create` wrote them. */
export async function record(client: HookClient): Promise<Recording> {
  const hooked = await hookedProject(client)
  const { base, dir } = hooked.project
  const log = join(base, 'events')
  const recorder = join(base, 'record.sh')
  const names = '^([A-Z]+_PROJECT_DIR|COPILOT_CLI|CLAUDECODE|[A-Z_]+_SESSION_ID|[A-Z_]+_AGENT_ID)='
  const script = [
    '#!/bin/sh',
    'payload=$(cat)',
    `variables=$(env | grep -E '${names}' | sort | tr '\\n' '\\t')`,
    `printf '%s\\n%s\\n' "$variables" "$payload" >> '${log}'`,
  ]
  writeFileSync(recorder, `${script.join('\n')}\n`, { mode: 0o755 })
  const settings = join(dir, client.settings)
  const installed = readFileSync(settings, 'utf8')
  addToEveryEvent(settings, recorder)
  const create = (task: string): Line => {
    const [number, slug] = task.split('_')
    return client.shell(`postflight create ${number} ${slug} --operation work`)
  }
  const [main = '', kid = ''] = TASKS
  const inTurns = (lines: readonly Line[]) => {
    const left = [...lines]
    return (turn: { lastToolResult: string | undefined }) => {
      const line = left.shift()
      return typeof line === 'function' ? line(turn.lastToolResult ?? '') : line
    }
  }

  await hooked.run(
    {
      main: inTurns([create(main), ...client.delegate('kid'), say('Finished.')]),
      kid: inTurns([create(kid), say('Found three lemmas.')]),
    },
    { env: { POSTFLIGHT_DISABLE: '1' } },
  )

  writeFileSync(settings, installed)
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  const events = lines.flatMap((payload, index) => {
    if (index % 2 === 0) return []
    const variables = (lines[index - 1] ?? '').split('\t').filter((variable) => variable !== '')
    const environment = Object.fromEntries(variables.map((variable) => variable.split(/=(.*)/s).slice(0, 2)))
    return [{ environment, payload: JSON.parse(payload) as Record<string, unknown> }]
  })
  const markers = Object.fromEntries(TASKS.map((task) => [task, hooked.marker(task) ?? {}]))
  return anonymous({ markers, events }, base)
}

function addToEveryEvent(file: string, command: string): void {
  const settings = JSON.parse(readFileSync(file, 'utf8')) as { hooks: Record<string, object[]> }
  for (const groups of Object.values(settings.hooks)) {
    const [{ matcher } = {}] = groups as { matcher?: string }[]
    groups.push({ ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', command, timeout: 10 }] })
  }
  // Some hosts never send it.
  settings.hooks.SubagentStop ??= [{ hooks: [{ type: 'command', command, timeout: 10 }] }]
  writeFileSync(file, JSON.stringify(settings))
}

function anonymous(recording: Recording, base: string): Recording {
  const known = new Map<string, string>()
  const numbered = (text: string, shape: (number: number) => string): string => {
    const name = known.get(text) ?? shape(known.size + 1)
    known.set(text, name)
    return name
  }
  const digits = (number: number, length: number): string => String(number).padStart(length, '0')
  const text = JSON.stringify(recording)
    .replaceAll(base, '/base')
    .replaceAll(base.replaceAll('/', '-'), '-base')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) =>
      numbered(id, (number) => `00000000-0000-4000-8000-${digits(number, 12)}`),
    )
    .replace(/pf_[A-Za-z0-9]{12}/g, (id) => numbered(id, (number) => `pf_${digits(number, 12)}`))
    .replace(/\b(toolu|call)_\w+/g, (id, kind: string) => numbered(id, (number) => `${kind}_${number}`))
    .replace(/sess_\w+/g, (id) => numbered(id, (number) => `sess_${number}`))
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-01-01T00:00:00Z')
    .replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d/g, '2026-01-01T00-00-00')
    .replace(/sessions\/\d{4}\/\d\d\/\d\d/g, 'sessions/2026/01/01')
    .replace(/("(?:elapsed_time|context_usage|input_tokens)":)[\d.e-]+/g, '$11')
  return JSON.parse(text) as Recording
}

/** The shape of a value: the names of its fields and the kinds of their values. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}

/** The recording in the repository. With `POSTFLIGHT_RECORD=1` it is written first. */
export function keptRecording(name: string, fresh: Recording): Recording | undefined {
  const file = recordingFile(name)
  if (process.env.POSTFLIGHT_RECORD === '1') writeFileSync(file, `${JSON.stringify(fresh, null, 2)}\n`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Recording) : undefined
}
