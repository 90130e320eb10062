/** Another plugin, which is the example of docs/opencode-hooks.md: it uses two factories and `spawnAgent`. */

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { call, read, say } from './agents.ts'
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
      read('a.txt', 'b.txt', 'c.txt'),
      call('read', {}, '{"filePath": "a'),
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
