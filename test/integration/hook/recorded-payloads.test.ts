import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePayload } from '../../../src/hosts/all-hosts.ts'
import type { HookHostName } from '../../../src/hosts/hook-hosts.ts'
import { createProject, createSourceProject, type Project } from '../../support/project.ts'

/**
 * What real clients sent to their hooks, replayed: a conversation made a marker, and its sub-agent made another. The host
 * tests record it (test/hosts/recorded.ts) and compare it with what the clients send now.
 */

interface Recording {
  readonly markers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly events: readonly {
    readonly environment: Readonly<Record<string, string>>
    readonly payload: Readonly<Record<string, unknown>>
  }[]
}

/** The event, and the task that it was blocked for, or the answer. */
type Told = readonly [event: string, answer: string]

const allowed = (...events: string[]): Told[] => events.map((event) => [event, '{}'])

const STORIES: Readonly<Record<HookHostName, readonly Told[]>> = {
  codex: [...allowed('SessionStart', 'PostToolUse', 'PostToolUse'), ['SubagentStop', '002_kid'], ['Stop', '001_main']],
  copilot: [
    // The answer to the first stop is ignored, so nothing is counted.
    ...allowed('SessionStart', 'PostToolUse', 'PostToolUse', 'Stop'),
    ['SubagentStop', '002_kid'],
    ['Stop', '001_main'],
  ],
  qwen: [...allowed('SessionStart', 'PostToolUse', 'PostToolUse'), ['SubagentStop', '002_kid'], ['Stop', '001_main']],
  droid: [
    // A sub-agent is a session of its own, which is not told to adopt or clear the conversation's marker.
    ...allowed('SessionStart', 'PostToolUse', 'SessionStart', 'PostToolUse'),
    ['Stop', '002_kid'],
    ['SubagentStop', '{}'],
    ['Stop', '001_main'],
  ],
}

/** The recording, as if it had been made in this project. */
function recordingOf(host: string, project: Project): Recording {
  const text = readFileSync(new URL(`../../fixtures/payloads/${host}.json`, import.meta.url), 'utf8')
  return JSON.parse(text, (_, value: unknown) => (value === '/base/project' ? project.dir : value)) as Recording
}

/** Writes the markers that the command of this event made, as `create` wrote them on the client. */
function makeMarkers(project: Project, { markers }: Recording, payload: Readonly<Record<string, unknown>>): void {
  const text = JSON.stringify(payload)
  for (const [task, marker] of Object.entries(markers)) {
    if (!text.includes(String(marker.id))) continue
    mkdirSync(project.at(`specs/${task}`), { recursive: true })
    const created = new Date().toISOString()
    writeFileSync(project.at(`specs/${task}/.postflight-pending`), JSON.stringify({ ...marker, created }))
  }
}

async function replay(project: Project, recording: Recording, then?: (event: object) => void): Promise<Told[]> {
  const told: Told[] = []
  for (const { payload, environment } of recording.events) {
    // The recorded names differ from host to host.
    const { event } = parsePayload(JSON.stringify(payload), 0)
    if (event === 'PostToolUse') makeMarkers(project, recording, payload)
    const words = event === 'SessionStart' ? ['SessionStart'] : []
    const { stdout } = await project.hook(payload, { env: environment, words })
    told.push([event, inShort(stdout)])
    then?.(payload)
  }
  return told
}

/** The tasks that a block names, or the whole answer. */
function inShort(stdout: string): string {
  const { decision } = JSON.parse(stdout) as { decision?: string }
  if (decision !== 'block') return stdout.trim()
  return [...new Set([...stdout.matchAll(/\b(\d{3}_\w+)/g)].map(([task]) => task))].join(' and ')
}

describe.each(Object.entries(STORIES))('the recorded conversation on %s', (host, story) => {
  it('blocks each agent for its own marker alone, through the launcher', async () => {
    const project = createProject()
    expect(await replay(project, recordingOf(host, project))).toEqual(story)
    const journaled = project.journal().map(({ event, task }) => `${event} ${task}`)
    expect(journaled.join()).toBe('claim 001_main,claim 002_kid,block 002_kid,block 001_main')
  })
})

it('Copilot CLI gets its notice at the top of the answer', async () => {
  const project = createSourceProject()
  mkdirSync(project.at('specs/001_x'), { recursive: true })
  writeFileSync(project.at('specs/001_x/.postflight-pending'), '{"reason": "x"}')
  const [{ payload = {}, environment = {} } = {}] = recordingOf('copilot', project).events
  const { stdout } = await project.hook(payload, { env: environment, words: ['SessionStart'] })
  expect(Object.keys(JSON.parse(stdout))).toEqual(['additionalContext'])
  expect(stdout).toContain('001_x')
})

it("a wait that the main conversation of Codex announces before its sub-agent's events allows its stop: the sub-agent has turns of its own", async () => {
  const project = createSourceProject()
  const recording = recordingOf('codex', project)
  const file = 'specs/001_main/.postflight-pending'
  let turn: unknown
  const told = await replay(project, recording, ({ turn_id }: { turn_id?: unknown }) => {
    if (turn !== undefined || turn_id === undefined) return
    turn = turn_id
    const wait = { for: 'the sub-agent', prompt_id: turn, count: 1 }
    project.write(file, JSON.stringify({ ...JSON.parse(project.read(file)), wait }))
  })
  expect(told.at(-1)).toEqual(['Stop', '{}'])
  expect(JSON.parse(project.read(file))).toMatchObject({ wait: { prompt_id: turn } })
})
