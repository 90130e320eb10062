import { describe, expect, it } from 'vitest'
import { say } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { describeEndingTool } from '../ending-tool-cases.ts'
import { HOOK_CLIENTS } from '../hook-clients.ts'
import { hookedProject } from '../hooked.ts'
import type { Reply } from '../model.ts'

const SCHEMA = JSON.stringify({ type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] })

describeEndingTool(HOOK_CLIENTS.qwen, {
  name: 'structured_output',
  input: { answer: 'done' },
  args: ['--json-schema', SCHEMA],
})

describe.skipIf(hostsSkipped())('a main conversation that scheduled a wake-up', () => {
  const client = HOOK_CLIENTS.qwen
  const schedule = (recurring: boolean): Reply => ({
    tools: [{ name: 'cron_create', input: { cron: '* * * * *', prompt: 'look at the build', recurring } }],
  })

  it.each([
    ['that comes once may stop meanwhile, uncounted, and is woken', false, 'look at the build', []],
    ['that comes again and again is blocked', true, 'Blocked stop 1 of 3', ['block 1']],
  ])(
    '%s',
    async (_, recurring, next, blocks) => {
      const hooked = await hookedProject(client)
      // The client stays for the wake-up.
      const { model, ended, kill } = await hooked.start({
        main: [client.shell('postflight create 7 demo'), schedule(recurring), say('I wait.'), say('Go on.')],
      })
      expect((await model.arrived('main', 3)).lastUserText).toContain(next)
      expect(hooked.story().filter((event) => event.startsWith('block'))).toEqual(blocks)
      kill()
      await ended
    },
    120_000,
  )
})
