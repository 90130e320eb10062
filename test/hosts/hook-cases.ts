/** The cases that must hold on each client that runs our hook from its settings. */

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Line, NEVER, say } from './agents.ts'
import { hostsSkipped } from './client-cache.ts'
import type { HookClient } from './hook-clients.ts'
import { dutiful, type HookedProject, hookedProject, reasonsIn, stubborn } from './hooked.ts'
import type { Model, Script } from './model.ts'
import { keptRecording, type Recording, record, shapeOf } from './recorded.ts'

const TASK = '259_prove'
const CREATE = 'postflight create 259 prove --skill research --operation research --step "git commit"'
const REPORT = 'Found three lemmas.'
const CONTINUATION = /Blocked stop (\d of 3)/

export interface HookCases {
  /** True if a sub-agent is a session of its own, which stops with `Stop`. */
  subAgentsAreSessions?: true
  /** True if a sub-agent can start sub-agents. */
  nests: boolean
}

function heldIn(model: Model, actor: string): (string | undefined)[] {
  return reasonsIn(model.turns(actor).at(-1)).map((reason) => CONTINUATION.exec(reason)?.[1])
}

function leaveForeignMarker({ postflight }: HookedProject): void {
  postflight('create', '12', 'foreign', '--operation', 'foreign work', '--host-session', 'another', '--agent', 'main')
}

/** A marker as a skill's plain bash writes it, without a session. */
const PLAIN_BASH = [
  `mkdir -p specs/${TASK}`,
  `printf '{"session_id": "sess_1", "skill": "research", "operation": "research", "reason": "Postflight pending"}' > specs/${TASK}/.postflight-pending`,
].join(' && ')

const DONE = ['create', 'claim', 'block 1', 'step', 'clear']

/** A case: the agents, the continuations of the blocks of each, the files that are left, and the story. */
interface Case {
  actors: Record<string, Script>
  held: Record<string, string[]>
  files: string[]
  story?: string[]
}

export function describeHookCases(client: HookClient, cases: HookCases): void {
  const create: Line = client.shell(CREATE)
  const agent = (...lines: readonly Line[]): Script => dutiful(client, ...lines)
  const caller = (...lines: readonly Line[]): Script => agent(...lines, ...client.delegate('kid'), say('Finished.'))
  const once = ['1 of 3']
  const plain = {
    actors: { main: caller(client.shell(PLAIN_BASH)), kid: agent(client.shell('echo working'), say(REPORT)) },
  }

  const told: [string, Case][] = [
    [
      'blocks the main conversation once, and lets it stop when its marker is cleared',
      { actors: { main: agent(create, say('Finished.')) }, held: { main: once }, files: [], story: DONE },
    ],
    [
      'blocks three times at most, and keeps the marker as abandoned',
      {
        actors: { main: stubborn(create, say('Finished.')) },
        held: { main: ['1 of 3', '2 of 3', '3 of 3'] },
        files: ['.postflight-abandoned'],
        story: ['create', 'claim', 'block 1', 'block 2', 'block 3', 'cap 3'],
      },
    ],
    [
      'blocks a sub-agent that owns a marker, and not its caller',
      {
        actors: { main: caller(), kid: agent(create, say(REPORT)) },
        held: { kid: once, main: [] },
        files: [],
        story: DONE,
      },
    ],
    [
      'lets a sub-agent stop while the main conversation owns the marker',
      {
        actors: { main: caller(create), kid: agent(client.shell('echo working'), say(REPORT)) },
        held: { kid: [], main: once },
        files: [],
        story: DONE,
      },
    ],
    cases.subAgentsAreSessions === true
      ? [
          'blocks no session by a marker of plain bash',
          { ...plain, held: { kid: [], main: [] }, files: ['.postflight-pending'] },
        ]
      : ['blocks a sub-agent by a marker of plain bash', { ...plain, held: { kid: once, main: [] }, files: [] }],
  ]
  if (cases.nests) {
    const kid = agent(...client.delegate('grandchild'), say(REPORT))
    told.push([
      'blocks a sub-agent of a sub-agent that owns a marker, and nothing above it',
      {
        actors: { main: caller(), kid, grandchild: agent(create, say('Deep down.')) },
        held: { grandchild: once, kid: [], main: [] },
        files: [],
        story: DONE,
      },
    ])
  }

  describe.skipIf(hostsSkipped())(`the guard on ${client.name}`, () => {
    it.each(told)('%s', async (_, { actors, held, files, story }) => {
      const hooked = await hookedProject(client)
      const { model } = await hooked.run(actors)
      for (const [actor, continuations] of Object.entries(held)) expect(heldIn(model, actor)).toEqual(continuations)
      if ('kid' in actors) expect(JSON.stringify(model.turns('main').at(-1)?.request.messages)).toContain(REPORT)
      else expect(reasonsIn(model.turns('main').at(-1))[0]).toContain(`postflight step ${TASK} <number>`)
      expect(hooked.files(TASK)).toEqual(files)
      if (story !== undefined) expect(hooked.story()).toEqual(story)
    })

    it("leaves another session's marker alone", async () => {
      const hooked = await hookedProject(client)
      leaveForeignMarker(hooked)
      const before = hooked.marker('012_foreign')
      const { model } = await hooked.run({
        main: caller(client.shell('echo working; cat specs/*/.postflight-pending')),
        kid: agent(client.shell('postflight inspect'), say(REPORT)),
      })
      expect([...heldIn(model, 'main'), ...heldIn(model, 'kid')]).toEqual([])
      expect(hooked.marker('012_foreign')).toEqual(before)
      expect(hooked.story()).toEqual(['create'])
    })

    it('tells the model of unfinished postflights when a session starts', async () => {
      const hooked = await hookedProject(client)
      leaveForeignMarker(hooked)
      const { model } = await hooked.run({ main: [say('Finished.')] })
      const { messages, system } = model.turns('main')[0]?.request ?? {}
      const seen = JSON.stringify({ messages, system })
      expect(seen).toContain('postflight-guard found unfinished postflights')
      expect(seen).toContain('012_foreign, foreign work: pending')
    })

    it('blocks the conversation that made the marker after it was killed and resumed', async () => {
      const hooked = await hookedProject(client)
      const first = await hooked.start({ main: ({ index }) => (index === 0 ? client.shell(CREATE) : NEVER) })
      await first.model.arrived('main', 1)
      const marker = hooked.marker(TASK)
      const stored = client.sessionFile?.(hooked.project.home, String(marker?.cc_session_id))
      if (stored !== undefined) await expect.poll(() => existsSync(stored), { timeout: 10_000 }).toBe(true)
      first.kill()
      await first.ended
      expect(marker).toMatchObject({ agent_id: 'main' })
      const second = await hooked.run({ main: agent(say('Finished.')) }, { resume: String(marker?.cc_session_id) })
      expect(heldIn(second.model, 'main')).toEqual(once)
      expect(hooked.files(TASK)).toEqual([])
      expect(hooked.story()).toEqual(DONE)
    })

    it('lets every agent stop if the hook is broken', async () => {
      const hooked = await hookedProject(client)
      writeFileSync(join(hooked.packageFolder, 'dist', 'hook.js'), 'this is not JavaScript')
      const { model } = await hooked.run({ main: [client.shell(CREATE), say('Finished.')] })
      expect(model.turns('main')).toHaveLength(2)
      expect(hooked.marker(TASK)).toBeDefined()
    })

    it('lets every agent stop if the package is gone', async () => {
      const hooked = await hookedProject(client)
      hooked.postflight('create', '259', 'prove')
      rmSync(hooked.packageFolder, { recursive: true })
      const { model, stdout, stderr } = await hooked.run({ main: [client.shell('echo working'), say('Finished.')] })
      expect(model.turns('main')).toHaveLength(2)
      expect(`${stdout}${stderr}`).not.toMatch(/postflight-hook|No such file/)
      expect(existsSync(join(hooked.project.dir, client.settings))).toBe(true)
    })

    it('sends its hooks what the recording holds', async () => {
      const fresh = await record(client)
      const shapes = ({ events }: Recording): unknown =>
        events.map(({ payload, environment }) => shapeOf({ payload, environment }))
      expect(shapes(fresh)).toEqual(shapes(keptRecording(client.name, fresh) ?? { markers: {}, events: [] }))
    })
  })
}
