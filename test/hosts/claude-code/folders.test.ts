/** The agent's current folder and the project's place: the guard finds the markers in all cases. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { agentCall, bash, dutiful, reasonsIn, reportIn, say, waiting } from './agents.ts'
import { guardedProject } from './guarded.ts'

const CREATE = 'postflight create 7 demo'
const TASK = '007_demo'

describe.skipIf(hostsSkipped())('an agent that stops in another folder', () => {
  it('is blocked after a cd into another repository, and the command in the reason names the root', async () => {
    const guarded = guardedProject({ git: true })
    const { ran, model } = await guarded.run({
      main: dutiful(bash(CREATE), bash('git init --quiet vendor/tool && cd vendor/tool'), say('Done.')),
    })
    const main = model.turns('main')
    expect(reasonsIn(main.at(-1))).toEqual([
      expect.stringContaining(`postflight clear ${TASK} --root ${guarded.project.dir}`),
    ])
    expect(main.at(-1)?.lastToolResult).toMatch(/^cleared /)
    expect(ran.result).toMatchObject({ result: 'Done.' })
    expect(guarded.files(TASK)).toEqual([])
  })

  it("is blocked by the marker in its own worktree; main's, in the main checkout, does not change", async () => {
    const guarded = guardedProject({ git: true })
    const worktree = (agentId: string | undefined): string => join('.claude', 'worktrees', `agent-${agentId}`)
    const seen: Record<string, unknown> = {}
    const worker = dutiful(bash('postflight create 8 side'), say('The report from the worktree.'))
    const look = async ({ agentId }: { agentId: string | undefined }): Promise<void> => {
      seen.worktree = guarded.files('008_side', worktree(agentId))
      seen.checkout = guarded.files('008_side')
      seen.main = guarded.files('007_demo')
      seen.owner = guarded.marker('007_demo')?.agent_id
    }

    const { ran, model } = await guarded.run({
      main: dutiful(
        bash(CREATE),
        { tools: [agentCall('worker', { isolation: 'worktree', run_in_background: false })] },
        say('Main is done.'),
      ),
      // Its third turn came after the block.
      worker: waiting(2, look, worker),
    })

    expect(seen).toEqual({
      worktree: ['.postflight-claims', '.postflight-loop-guard', '.postflight-pending'],
      checkout: [],
      main: ['.postflight-pending'],
      owner: 'main',
    })
    expect(reasonsIn(model.turns('worker').at(-1))).toEqual([expect.stringContaining('Task 008_side:')])
    expect(model.turns('worker').at(-1)?.lastToolResult).toMatch(/^cleared /)
    expect(reportIn(model.turns('main')[2]?.lastToolResult)).toBe('The report from the worktree.')
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([expect.stringContaining('Task 007_demo:')])
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
    expect(guarded.files('007_demo')).toEqual([])
  })
})

describe.skipIf(hostsSkipped())('settings that install wrote', () => {
  it.each([
    { packageIn: 'machine', install: [], file: '.claude/settings.json' },
    { packageIn: 'project', install: ['--scope', 'local'], file: '.claude/settings.local.json' },
    { packageIn: 'machine', install: ['--scope', 'user'], file: '../home/.claude/settings.json' },
  ] as const)('work in a path with spaces and umlauts: package in the $packageIn, $file', async (how) => {
    const guarded = guardedProject({ ...how, folder: 'Größe & "Übung" $HOME' })
    expect(guarded.read(how.file)).toContain('postflight-hook')
    const { ran, model } = await guarded.run({ main: dutiful(bash(CREATE), say('Done.')) })
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(1)
    expect(ran.result).toMatchObject({ result: 'Done.' })
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })
})
