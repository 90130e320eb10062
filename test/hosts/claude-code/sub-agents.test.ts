/** Markers of sub-agents: each blocks its owner only, whose caller still gets the whole report. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Turn } from '../model.ts'
import {
  bash,
  delegate,
  delegateInBackground,
  dutiful,
  reasonsIn,
  reportIn,
  say,
  stubborn,
  useSkill,
  waiting,
} from './agents.ts'
import { guardedProject, scene } from './guarded.ts'
import { transcriptNotices } from './run-client.ts'

const CREATE = 'postflight create 7 demo --reason "Write the summary first"'
const TASK = '007_demo'
const REPORT = 'The whole report:\n- first finding\n- second finding'

describe.skipIf(hostsSkipped())('a sub-agent with a marker', () => {
  it('is blocked until it clears the marker, and main receives its full report', async () => {
    const { guarded, ran, model } = await scene({
      main: [delegate('worker'), say('Main is done.')],
      worker: dutiful(bash(CREATE), say(REPORT)),
    })
    const worker = model.turns('worker')
    const [reason, ...others] = reasonsIn(worker.at(-1))
    expect(others).toEqual([])
    expect(reason).toMatch(/^Write the summary first\n/)
    expect(reason).toMatch(/\n\nThen repeat your full report as your last message: .*$/)
    const main = model.turns('main')
    expect(reportIn(main[1]?.lastToolResult)).toBe(REPORT)
    // The report that it repeats is not handed over a second time.
    expect(main[1]?.reminders.join('\n')).not.toContain('first finding')
    expect(reasonsIn(main.at(-1))).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.files(TASK)).toEqual([])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
    expect(guarded.journal().find(({ event }) => event === 'block')?.agent).toBe(worker[0]?.agentId)
  })

  it('that never clears is blocked three times, then allowed to stop with a notice, and main still receives its report', async () => {
    const { guarded, ran, model } = await scene({
      main: [delegate('worker'), say('Main is done.')],
      // The hook knows its owner although the command fails.
      worker: stubborn(bash(`${CREATE}; false`), say(REPORT)),
    })
    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(3)
    expect(reportIn(model.turns('main')[1]?.lastToolResult)).toBe(REPORT)
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(transcriptNotices(guarded.project.home)).toEqual([
      {
        hookEvent: 'SubagentStop',
        content: expect.stringMatching(/^postflight-guard: task 007_demo stopped without its postflight/),
      },
    ])
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'block 2', 'block 3', 'cap 3'])
  })

  it('in the background is blocked too, and main is woken with its full report', async () => {
    const { guarded, ran, model } = await scene({
      main: [delegateInBackground('worker'), say('Waiting.'), say('Main is done.')],
      worker: dutiful(bash(CREATE), say(REPORT)),
    })
    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(1)
    const main = model.turns('main')
    expect(main).toHaveLength(3)
    expect(textsOf(main[2]).split('- second finding')).toHaveLength(2)
    expect(reasonsIn(main[2])).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.files(TASK)).toEqual([])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })

  it('is blocked by that one only, while another is blocked by its own at the same time', async () => {
    const guarded = guardedProject()
    const isOwned = (task: string) => guarded.marker(task)?.agent_id !== undefined
    const both = () => vi.waitUntil(() => isOwned('001_alpha') && isOwned('002_beta'), 20_000)
    // Neither sub-agent stops before the hook has recorded both owners: without one, a marker blocks any sub-agent.
    const worker = (number: number, name: string) =>
      waiting(1, both, dutiful(bash(`postflight create ${number} ${name} --reason "Finish it"`), say(`${name} report`)))
    const { model } = await guarded.run({
      main: [delegate('worker-a', 'worker-b'), say('Main is done.')],
      'worker-a': worker(1, 'alpha'),
      'worker-b': worker(2, 'beta'),
    })
    const reasons = ['worker-a', 'worker-b'].map((name) => reasonsIn(model.turns(name).at(-1)))
    expect(reasons).toEqual([[expect.stringContaining('Task 001_alpha:')], [expect.stringContaining('Task 002_beta:')]])
    expect(model.turns('main')[1]?.toolResults.map(reportIn)?.sort()).toEqual(['alpha report', 'beta report'])
    const blocks = guarded.journal().filter(({ event }) => event === 'block')
    const ids = ['worker-a', 'worker-b'].map((name) => model.turns(name)[0]?.agentId)
    expect(blocks.map(({ task, agent }) => `${task} ${agent}`).sort()).toEqual([
      `001_alpha ${ids[0]}`,
      `002_beta ${ids[1]}`,
    ])
    expect([guarded.files('001_alpha'), guarded.files('002_beta')]).toEqual([[], []])
  })
})

describe.skipIf(hostsSkipped())('a skill with context: fork', () => {
  it('is blocked by its marker, and the sub-agent that it starts is not', async () => {
    const guarded = guardedProject()
    guarded.project.writeSkill('forky', { description: 'Researches apart.', context: 'fork' }, 'ACTOR:forky Go.')
    const { ran, model } = await guarded.run({
      main: [useSkill('forky'), say('Main is done.')],
      forky: dutiful(bash(CREATE), delegate('nested'), say(REPORT)),
      nested: [say('The nested report.')],
    })
    const fork = model.turns('forky')
    expect(model.turns('nested')).toHaveLength(1)
    expect(reportIn(fork[2]?.lastToolResult)).toBe('The nested report.')
    expect(reasonsIn(fork.at(-1))).toEqual([expect.stringMatching(/^Write the summary first\nTask 007_demo:/)])
    expect(model.turns('main')).toHaveLength(2)
    expect(model.turns('main')[1]?.lastToolResult).toContain('- second finding')
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.files(TASK)).toEqual([])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
    expect(guarded.journal().find(({ event }) => event === 'block')?.agent).toBe(fork[0]?.agentId)
  })
})

describe.skipIf(hostsSkipped())('main with a marker', () => {
  it('is not blocked, and nothing is counted, while a sub-agent runs in the background; afterwards it is blocked', async () => {
    const guarded = guardedProject()
    // A hook of the test's own, beside ours, shows when main wanted to stop.
    const seen = join(guarded.project.dir, 'stop-was-asked')
    guarded.addHook('Stop', `{ cat; echo; } >> "${seen}"`)
    const { ran, model } = await guarded.run({
      main: dutiful(bash(CREATE), delegateInBackground('worker'), say('Waiting.'), say('Main is done.')),
      worker: waiting(0, () => expect.poll(() => existsSync(seen), { timeout: 20_000 }).toBe(true), [say(REPORT)]),
    })
    const [firstStop] = readFileSync(seen, 'utf8').split('\n')
    expect(JSON.parse(firstStop ?? '')).toMatchObject({ background_tasks: [{ type: 'subagent', status: 'running' }] })
    const main = model.turns('main')
    // The end of the worker woke main, not a block.
    expect(reasonsIn(main[3])).toEqual([])
    expect(textsOf(main[3])).toContain('- second finding')
    expect(reasonsIn(main.at(-1))).toEqual([
      expect.stringContaining('Blocked stop 1 of 3. (After the third, you may stop.)'),
    ])
    expect(model.turns('worker')).toHaveLength(1)
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })
})

function textsOf(turn: Turn | undefined): string {
  return [...(turn?.userTexts ?? []), ...(turn?.reminders ?? [])].join('\n')
}
