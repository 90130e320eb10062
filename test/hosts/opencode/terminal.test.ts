/** The guard as the user of the terminal interfaces sees it. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { HAS_TERMINAL, plain, startCommandInTerminal } from '../../support/pseudo-terminal.ts'
import { hostsSkipped } from '../client-cache.ts'
import { killTree } from '../client-process.ts'
import { bash, say, stubborn } from './agents.ts'
import { guardedProject } from './guarded.ts'

const CREATE = 'postflight create 259 x --operation research'

describe.skipIf(hostsSkipped())('a marker that was abandoned', () => {
  it.skipIf(!HAS_TERMINAL)('is shown to the user of `--mini`', async () => {
    const guarded = guardedProject()
    const words = ['--mini', '--prompt', 'go']
    const { command } = await guarded.terminal({ main: stubborn(bash(CREATE), say('No.')) }, words)
    const line = `stty cols 250 rows 50; ${command}`
    const env = { PATH: guarded.project.path, TERM: 'xterm-256color' }
    const { output, pid } = startCommandInTerminal(line, guarded.project.dir, env, onTestFinished)
    onTestFinished(() => killTree(pid, 'SIGKILL'))
    await expect.poll(() => guarded.story(), { timeout: 60_000 }).toContain('cap 3')
    await expect
      .poll(() => plain(output()), { timeout: 10_000 })
      .toContain('postflight-guard: task 259_x stopped without its postflight after 3 blocked stops')
  })

  it("is shown in a toast, and only the toast's title names the product", async () => {
    const guarded = guardedProject()
    const file = JSON.stringify(`${guarded.project.dir}/toasts`)
    guarded.addPlugin(
      'witness.mjs',
      `const { appendFileSync } = await import('node:fs')
       return { event: async ({ event }) => {
         if (event.type === 'tui.toast.show') appendFileSync(${file}, JSON.stringify(event.properties) + '\\n')
       } }`,
    )
    await guarded.talk({ main: stubborn(bash(CREATE), say('No.')) }, { turns: 5 })
    await expect.poll(() => guarded.read('toasts'), { timeout: 60_000 }).toBeDefined()
    expect(JSON.parse(guarded.read('toasts') ?? '')).toMatchObject({
      title: 'postflight-guard',
      message: expect.stringMatching(
        /^task 259_x stopped without its postflight after 3 blocked stops\. (?!.*guard: )/,
      ),
    })
  })
})
