/** A phase with a check on the real OpenCode: the driver runs the check itself. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { killTree } from '../client-process.ts'
import type { Reply, Turn } from '../model.ts'
import { bash, say } from './agents.ts'
import { runWorkflow } from './flow.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const TASK = '007_build'
const CHECK = 'echo ran >> ran; echo "test 7 failed"; test -e fixed'

function projectWithCheck(run = CHECK): GuardedProject {
  const guarded = guardedProject()
  const phase = { id: 'build', prompt: 'Build it.', artifact: 'report.md', check: { run, files: ['src/**'] } }
  guarded.project.write('flow.json', JSON.stringify({ name: 'build', phases: [phase] }))
  guarded.project.write('specs/README.md', 'The tasks.\n')
  guarded.project.write('src/code.ts', 'one')
  return guarded
}

/** The prompts of the phase, newest last. */
const promptsIn = (turn: Turn): string[] => turn.userTexts.filter((text) => text.startsWith('Workflow "build"'))

/** The script of all sessions: the conversation says its lines, and the phase does `work` once for each prompt. */
function actors(lines: readonly Reply[], work: readonly string[]) {
  const left = [...lines]
  let done = 0
  return {
    main: (turn: Turn): Reply | undefined => {
      const prompts = promptsIn(turn)
      if (prompts.length === 0) return left.shift()
      if (done === prompts.length) return say('Done.')
      done = prompts.length
      return bash(work[done - 1] ?? 'false')
    },
  }
}

describe.skipIf(hostsSkipped())('a phase with a check on OpenCode', () => {
  it('fails, is reported, is fixed and passes: the driver runs the check, and not the agent', async () => {
    const guarded = projectWithCheck()
    const report = `echo x > specs/${TASK}/report.md`
    const lines = [runWorkflow(TASK, 'flow.json'), say('All is done.')]
    const { model } = await guarded.talk(actors(lines, [report, `${report}; touch fixed`]), { turns: 6 })
    const prompts = promptsIn(model.turns('main').findLast((turn) => promptsIn(turn).length > 0) as Turn)
    expect(prompts).toHaveLength(2)
    expect(prompts[1]).toContain('attempt 2 of 3')
    expect(prompts[1]).toMatch(/failed \(exit code 1\).*The end of its output:\ntest 7 failed\n/)
    const state = JSON.parse(guarded.read(`specs/${TASK}/workflow/state.json`) ?? '{}')
    expect(state).toMatchObject({ active: false, outcome: 'completed' })
    expect(guarded.read('ran')).toBe('ran\nran\n')
    expect(guarded.files(`${TASK}/checks/build`)).toEqual(['1-1.json', '1-2.json'])
  })

  it('of a run that came with the repository is refused, and not run', async () => {
    const guarded = projectWithCheck()
    expect(guarded.postflight('workflow', 'start', '7', 'build', '--definition', 'flow.json').status).toBe(0)
    guarded.project.write(`specs/${TASK}/report.md`, 'x')
    const state = JSON.parse(guarded.read(`specs/${TASK}/workflow/state.json`) ?? '{}')
    guarded.project.write(`specs/${TASK}/workflow/state.json`, JSON.stringify({ ...state, id: 'wf_elsewhere12' }))
    const { model } = await guarded.talk(actors([runWorkflow(TASK), say('I tell the user.')], []), { turns: 2 })
    expect(model.turns('main').at(-1)?.lastToolResult).toContain('that you have not started on this machine')
    expect(existsSync(join(guarded.project.dir, 'ran'))).toBe(false)
  })

  it('is ended with the run, by `workflow abort` in a terminal', async () => {
    const guarded = projectWithCheck('touch started; sleep 600')
    const script = actors([runWorkflow(TASK, 'flow.json'), say('I see.')], [`echo x > specs/${TASK}/report.md`])
    const { server, model } = await guarded.begin(script)
    await expect.poll(() => guarded.read('started'), { timeout: 60_000 }).toBeDefined()
    expect(guarded.postflight('workflow', 'abort', '7').status).toBe(0)
    await server.settled()
    expect(model.turns('main').at(-1)?.lastToolResult).toContain(`The workflow of task ${TASK} is aborted.`)
  })

  it('is ended by the signal that ends OpenCode (Ctrl-C)', async () => {
    const guarded = projectWithCheck('echo $$ $PPID > pids; exec sleep 600')
    const script = actors([runWorkflow(TASK, 'flow.json')], [`echo x > specs/${TASK}/report.md`])
    const { client } = await guarded.start(script)
    await expect.poll(() => guarded.read('pids'), { timeout: 60_000 }).toMatch(/^\d+ \d+\n/)
    const [check, opencode] = (guarded.read('pids') ?? '').split(' ').map(Number) as [number, number]
    onTestFinished(() => killTree(check, 'SIGKILL'))
    process.kill(opencode, 'SIGINT')
    expect(await client.done).toMatchObject({ signal: 'SIGINT', timedOut: false })
    expect(() => process.kill(check, 0)).toThrow('ESRCH')
  })
})
