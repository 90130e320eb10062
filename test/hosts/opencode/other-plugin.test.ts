/** Other plugins: the example of docs/opencode-hooks.md, which uses two factories and `spawnAgent`, and one beside ours. */

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { TASK } from '../four-phases.ts'
import { bash, call, read, say } from './agents.ts'
import { projectWithFlow, runWorkflow, worker } from './flow.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const PAGE = readFileSync(new URL('../../../docs/opencode-hooks.md', import.meta.url), 'utf8')
const EXAMPLE =
  [...PAGE.matchAll(/```js\n([\s\S]*?)```/g)].find(([text]) => text.includes('createPostReadNudgeHook'))?.[1] ?? ''

function withExample(): GuardedProject {
  const guarded = guardedProject({ install: false })
  const modules = join(guarded.project.dir, 'node_modules')
  mkdirSync(modules)
  symlinkSync(guarded.packageFolder, join(modules, 'postflight-guard'))
  guarded.project.write('my-plugin.js', EXAMPLE)
  for (const name of ['a.txt', 'b.txt', 'c.txt']) guarded.project.write(name, 'one\n')
  guarded.changeConfig((config) => ({ ...config, plugin: ['./my-plugin.js'] }))
  return guarded
}

describe.skipIf(hostsSkipped())('the plugin of the documentation', () => {
  it('nudges, recovers and asks a sub-agent, which is a session of its own', async () => {
    expect(EXAMPLE).toContain('spawnAgent')
    const main = [
      ...[read('a.txt', 'b.txt', 'c.txt'), call('read', {}, '{"filePath": "a')],
      call('second_opinion', { question: 'ACTOR:friend Is it good?' }),
      say('Done.'),
    ]
    const { server, session, model } = await withExample().talk({ main, friend: [say('It is good.')] }, { turns: 4 })
    const results = model.turns('main').at(-1)?.toolResults ?? []
    expect(results.slice(0, 3).filter((text) => text.includes('[postflight-guard] You have read'))).toHaveLength(1)
    expect(results[3]).toContain('[postflight-guard] The call of "read" did not reach the tool')
    expect(results[4]).toBe('It is good.')
    expect(await server.children(session)).toHaveLength(1)
  })
})

it.skipIf(hostsSkipped())(
  "a plugin's notices to the user, on idle, end no phase and no wait, and prevent no block",
  async () => {
    const guarded = projectWithFlow()
    const notice = "{ noReply: true, parts: [{ type: 'text', text: 'Pruned.', ignored: true }] }"
    const send = `client.session.prompt({ path: { id: event.properties.sessionID }, body: ${notice} })`
    guarded.addPlugin('notice.js', `return { event: async ({ event }) => event.type === 'session.idle' && ${send} }`)
    const wait = bash('postflight create 259 x && postflight wait 259 --for "a yes"')
    const clear = bash('postflight clear 259')
    const lines = [runWorkflow(TASK, 'flow.yaml'), wait, say('May I?'), say('Deployed.'), clear, say('Cleared.')]
    const { server, session } = await guarded.talk({ main: worker(lines) })
    const story = () => guarded.story().filter((event) => event !== 'workflow')
    expect([guarded.state().outcome, ...story()]).toEqual(['completed', 'create', 'wait'])
    await server.prompt(session, 'yes')
    await expect.poll(story, { timeout: 20_000 }).toEqual(['create', 'wait', 'wait-end', 'block 1', 'clear'])
  },
)
