/** Cases for a client with a tool whose call ends the agent's turn, without a stop hook that is obeyed. */

import { describe, expect, it } from 'vitest'
import { commandsIn } from './agents.ts'
import { hostsSkipped } from './client-cache.ts'
import type { HookClient } from './hook-clients.ts'
import { hookedProject } from './hooked.ts'
import type { Reply } from './model.ts'

const TASK = '007_demo'

export interface EndingTool {
  readonly name: string
  readonly input: Record<string, unknown>
  readonly args: readonly string[]
}

export function describeEndingTool(client: HookClient, { name, input, args }: EndingTool): void {
  const withTool: HookClient = { ...client, args: (run) => [...client.args(run), ...args] }
  const end: Reply = { tools: [{ name, input }] }
  const create = client.shell('postflight create 7 demo --reason "Deploy, then commit"')

  describe.skipIf(hostsSkipped())(`a call of ${name}, which ends the turn,`, () => {
    it('is refused once, and passes when the marker is cleared', async () => {
      const hooked = await hookedProject(withTool)
      const left = [create, end]
      await hooked.run({
        main: ({ lastToolResult = '' }) => {
          const isRefused = lastToolResult.includes('Deploy, then commit') && lastToolResult.includes('Blocked stop')
          if (isRefused) left.unshift(client.shell(commandsIn(lastToolResult).join(' && ')), end)
          return left.shift()
        },
      })
      expect(hooked.mainEvents()).toEqual(['create', 'block 1', 'clear'])
      expect(hooked.files(TASK)).toEqual([])
    })
  })
}
