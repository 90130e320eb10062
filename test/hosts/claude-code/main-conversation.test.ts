/** The main conversation's own marker: a skill creates it, a sub-agent works, main may stop when its postflight is done. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, dutiful, reasonsIn, reportIn, say, stubborn, useSkill } from './agents.ts'
import { type GuardedProject, guardedProject, scene } from './guarded.ts'

/** The first stage of a skill as in README. */
const CREATE = `task_number=259 project_name=prove_completeness
postflight create "$task_number" "$project_name" \\
  --skill research --operation research \\
  --reason "Postflight pending: status update, git commit" \\
  --step "status update" --step "git commit"`
const TASK = '259_prove_completeness'
const REPORT = 'Found three lemmas.\n- one\n- two'

/** Main's turns before the first block: skill, marker, sub-agent, and a stop that comes too early. */
const LINES = [useSkill('research'), bash(CREATE), delegate('worker'), say('The research is finished.')]

function projectWithSkill(): GuardedProject {
  const guarded = guardedProject()
  guarded.project.writeSkill('research', { description: 'Researches a task.' }, 'Begin with a marker.')
  return guarded
}

describe.skipIf(hostsSkipped())('a skill in the main conversation', () => {
  it('is blocked once, after its sub-agent was allowed to stop, and stops when its steps are ticked and the marker is cleared', async () => {
    const guarded = projectWithSkill()
    const { ran, model } = await guarded.run({ main: dutiful(...LINES), worker: [say(REPORT)] })
    expect(model.turns('worker')).toHaveLength(1)
    const main = model.turns('main')
    expect(main[1]?.lastUserText).toContain('Begin with a marker.')
    expect(reportIn(main[3]?.lastToolResult)).toBe(REPORT)
    const [reason, ...others] = reasonsIn(main.at(-1))
    expect(reason).toMatch(/^Postflight pending: status update, git commit\nTask 259_prove_completeness: /)
    expect(reason).toContain(`\n  1. status update\n  2. git commit\nTick each one when it is done: `)
    expect(reason).toMatch(/\nBlocked stop 1 of 3\. \(After the third, you may stop\.\)$/)
    expect(others).toEqual([])
    expect(ran.result).toMatchObject({ result: 'The research is finished.' })
    expect(ran.notices).toEqual([])
    expect(guarded.files(TASK)).toEqual([])
    const journal = guarded.journal()
    const { sessionId: session } = ran
    expect(journal).toMatchObject([
      { event: 'create', host_session: session },
      { event: 'claim', host_session: session, agent: 'main' },
      { event: 'block', host_session: session, agent: 'main', count: 1 },
      { event: 'step', detail: 'done: status update' },
      { event: 'step', detail: 'done: git commit' },
      { event: 'clear', host_session: session, outcome: 'cleared' },
    ])
    expect(new Set(journal.map(({ task, marker_id }) => `${task} ${marker_id}`)).size).toBe(1)
  })

  it('that never clears is blocked three times, then allowed to stop, and the user gets a notice', async () => {
    const guarded = projectWithSkill()
    const { ran, model } = await guarded.run({ main: stubborn(...LINES), worker: [say(REPORT)] })
    const reasons = reasonsIn(model.turns('main').at(-1))
    expect(reasons.map((reason) => /Blocked stop (.*)$/m.exec(reason)?.[1])).toEqual([
      '1 of 3. (After the third, you may stop.)',
      '2 of 3. (After the third, you may stop.)',
      '3 of 3. (The next stop is allowed, and the marker is kept as abandoned.)',
    ])
    expect(ran.result).toMatchObject({ result: 'The research is finished.' })
    expect(ran.notices).toEqual([
      expect.stringMatching(
        new RegExp(`^Stop says: postflight-guard: task ${TASK} stopped without its postflight after 3 blocked stops`),
      ),
    ])
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'block 2', 'block 3', 'cap 3'])
  })
})

describe.skipIf(hostsSkipped())('a main conversation is blocked, and released when its marker is cleared,', () => {
  it.each([
    ['where nobody answers permission prompts', { args: ['--permission-prompts', 'none'] }],
    ['where a goal of the person holds stops too', { prompt: '/goal the work is done' }],
  ])('%s', async (_, options) => {
    const { guarded, model } = await scene(
      { main: dutiful(bash('postflight create 7 demo --reason "Deploy, then commit"'), say('Done.')) },
      options,
    )
    expect(reasonsIn(model.turns('main').at(-1))[0]).toContain('Blocked stop 1 of 3')
    expect(guarded.story()).toEqual(['create', 'claim', 'block 1', 'clear'])
  })
})
