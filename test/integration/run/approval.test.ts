/** A phase whose result a person approves: while the run waits, nothing is counted and no prompt goes out. */

import { describe, expect, it } from 'vitest'
import { type Flow, IN_TASK, startFlow } from '../../support/flow.ts'
import { SESSION, sessionStart, stop } from '../../support/payloads.ts'

const PHASES = [
  { id: 'plan', prompt: 'Plan.', artifact: 'plan.md', approve: true },
  { id: 'build', prompt: 'Build.', artifact: 'built.md' },
]

const start = (phases: readonly object[] = PHASES) => startFlow(phases, { words: ['--host-session', SESSION] })

async function waiting(phases?: readonly object[]): Promise<Flow> {
  const project = await start(phases)
  await project.stopped()
  project.put('plan.md', 'first plan')
  await project.hook(stop({ stop_hook_active: true }))
  return project
}

describe('a run that waits for an approval', () => {
  it('tells the user at the ends of turns, allows every stop, and counts nothing', async () => {
    const project = await start()
    await project.stopped()
    project.put('plan.md', 'first plan')
    const env = { CLAUDECODE: '1' }
    const first = await project.hook(stop({ stop_hook_active: true }), { env })
    const state = project.state()
    const later = [
      await project.hook(stop(), { env }),
      await project.hook(stop({ stop_hook_active: true, prompt_id: 'another' }), { env }),
      await project.hook({ ...stop(), hook_event_name: 'SubagentStop', agent_id: 'agent-a' }, { env }),
    ]
    const asked = await project.next({ env: { POSTFLIGHT_HOST_SESSION: SESSION } })
    const way = 'read specs/007_flow/plan.md, then `postflight workflow approve 007_flow`'
    expect(first.answer.systemMessage).toContain(`needs your approval: ${way}`)
    expect(first.answer.decision).toBeUndefined()
    expect(later.map(({ answer }) => Object.keys(answer))).toEqual([['systemMessage'], ['systemMessage'], []])
    expect(asked).toMatchObject({ command: 'wait', why: expect.stringContaining('approve') })
    expect(project.state()).toEqual(state)
    expect(state).toMatchObject({ active: true, phase: 'plan', phase_attempts: 0, approval: { standing: 'asked' } })
  })

  it("continues after it was approved, and the note is in the next phase's prompt", async () => {
    const project = await waiting()
    const approved = await project.workflow('approve', '7', '--note', 'use the existing table')
    const answer = await project.stopped()
    expect(approved).toMatchObject({ status: 0, stdout: expect.stringContaining('\nNow tell its agent to go on: ') })
    expect(answer.reason).toContain('phase "build", attempt 1 of 3')
    expect(answer.reason).toContain('This phase follows the phase "plan":\nuse the existing table')
  })

  it('asks for another result after it was rejected, with the reason and the old one', async () => {
    const project = await waiting()
    await project.workflow('reject', '7', '--reason', 'no rollback')
    const answer = await project.stopped()
    expect(answer.reason).toContain('phase "plan", attempt 2 of 3')
    expect(answer.reason).toContain('a person rejected it: no rollback')
    expect(answer.reason).toContain(`now in the file ${project.dir}/${IN_TASK}/artifacts/plan/1-plan.md.`)
    expect(project.read(`${IN_TASK}/artifacts/plan/1-plan.md`)).toBe('first plan')
    expect(project.has(`${IN_TASK}/plan.md`)).toBe(false)
    project.put('plan.md', 'second plan')
    await project.stopped()
    expect((await project.workflow('status', '7')).stdout).toContain('the attempt before: a person rejected it')
    expect((await project.cli(['doctor'])).stdout).toContain('attempt 2 of 3 (waits for approval)')
  })

  it('survives a stop, and may be approved while the run is stopped', async () => {
    const project = await waiting()
    await project.workflow('stop', '7')
    for (const words of [['7'], ['7', '--host-session', SESSION]]) {
      expect((await project.workflow('resume', ...words)).stdout).not.toMatch(/tell its agent to go on|end your turn/)
    }
    await project.workflow('stop', '7', '--now')
    expect(await project.workflow('approve', '7')).toMatchObject({ status: 0 })
    expect(project.state()).toMatchObject({ active: false, approval: { standing: 'approved' } })
    expect((await project.workflow('resume', '7')).stdout).toContain('\nNow tell its agent to go on: ')
    expect(project.state()).toMatchObject({ active: true, phase: 'build' })
  })

  it('is shown by status, and to a session that starts', async () => {
    const project = await waiting()
    const one = await project.workflow('status', '7', '--root', '.')
    const all = await project.cli(['status'])
    const started = await project.hook(sessionStart('startup'), { words: ['SessionStart'] })
    const approve = '`postflight workflow approve 007_flow --root .`'
    expect(one.stdout).toContain(`waits for approval: read specs/007_flow/plan.md, then ${approve}`)
    expect(all.stdout).toContain('waits for approval')
    expect(await project.status()).toMatchObject({ approval: { standing: 'asked', note: null } })
    expect(started.answer.hookSpecificOutput?.additionalContext).toContain('waits until a person approves')
  })

  it('does not ask whether a build in the background is waited for', async () => {
    const project = await waiting()
    const shells = [{ id: 'b1', type: 'shell', status: 'running', command: 'sleep 9' }]
    expect((await project.hook(stop({ background_tasks: shells }))).answer).toEqual({})
  })
})

describe('an approval is refused', () => {
  it.each(['CLAUDE_CODE_SESSION_ID', 'CLAUDECODE', 'POSTFLIGHT_HOST_SESSION', 'CODEX_SESSION_ID'])(
    'in the shell of an agent, which has %s',
    async (name) => {
      const project = await waiting()
      const before = project.snapshot('specs')
      for (const words of ['approve 7', 'reject 7 --reason no']) {
        const run = await project.cli(['workflow', ...words.split(' ')], { env: { [name]: '1' } })
        expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('only a person may approve') })
      }
      expect(project.snapshot('specs')).toEqual(before)
    },
  )

  it('if the run does not wait for one', async () => {
    const project = await start()
    const why = expect.stringContaining('it is in phase "plan"')
    expect(await project.workflow('approve', '7')).toMatchObject({ status: 1, stderr: why })
  })

  it('for a result that has become invalid; rejecting it works', async () => {
    const project = await waiting([{ ...PHASES[0], check: { min_bytes: 5 } }, PHASES[1] ?? {}])
    project.put('plan.md', 'x')
    const run = await project.workflow('approve', '7')
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('has 1 byte') })
    expect(await project.workflow('reject', '7', '--reason', 'it is gone')).toMatchObject({ status: 0 })
  })

  it('without a reason for a rejection, or with one of two lines', async () => {
    const project = await waiting()
    expect(await project.workflow('reject', '7')).toMatchObject({ status: 64 })
    expect(await project.workflow('reject', '7', '--reason', 'a\nb')).toMatchObject({ status: 64 })
    expect(await project.workflow('approve', '7', '--note', '')).toMatchObject({ status: 64 })
  })
})
