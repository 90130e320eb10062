/** A phase with a check on the real OpenCode: the driver runs the check itself. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply, Turn } from '../model.ts'
import { bash, say } from './agents.ts'
import { runWorkflow } from './flow.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const TASK = '007_build'
const CHECK = 'echo ran >> ran; echo "test 7 failed"; test -e fixed'
const FLOW = JSON.stringify({
  name: 'build',
  phases: [{ id: 'build', prompt: 'Build it.', artifact: 'report.md', check: { run: CHECK, files: ['src/**'] } }],
})

function projectWithCheck(): GuardedProject {
  const guarded = guardedProject()
  guarded.project.write('flow.json', FLOW)
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
})
