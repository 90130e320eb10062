import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, shellRan, stop, subagentStop } from '../../support/payloads.ts'
import { type Project, withMarker } from '../../support/project.ts'

const MARKER = 'specs/259_x/.postflight-pending'
const ABANDONED = 'specs/259_x/.postflight-abandoned'
const OTHERS = {
  id: 'pf_abcdefghijkl',
  session_id: 'sess_1',
  cc_session_id: OTHER_SESSION,
  agent_id: 'agent-z',
  operation: 'research',
  custom: 1,
  steps: [{ name: 'git commit', done: false }],
}
const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }

function markerOf(project: Project): Record<string, unknown> {
  return JSON.parse(project.read(MARKER)) as Record<string, unknown>
}

describe.concurrent('adopt', () => {
  it("makes the current host session the owner of another session's marker", async () => {
    const project = withMarker(OTHERS)
    expect((await project.cli(['adopt', '259'], { env: ENV })).stdout).toBe(`adopted ${MARKER}  ${OTHERS.id}\n`)
    const { agent_id: _agent, ...kept } = OTHERS
    const owner = { cc_session_id: SESSION, owner_from: 'environment' }
    expect(markerOf(project)).toEqual({ ...kept, ...owner, stop_hook_active: false })
    expect((await project.hook(subagentStop({ session_id: OTHER_SESSION, agent_id: 'agent-z' }))).stdout).toBe('{}\n')
    expect((await project.hook(stop())).answer.decision).toBe('block')
    expect(project.journal()).toMatchObject([
      { event: 'adopt', task: '259_x', marker_id: OTHERS.id, host_session: SESSION },
      { event: 'block' },
    ])
  })

  it.each([SESSION, 'outer'])('gives the marker to the agent that ran it in a shell of session %s', async (shell) => {
    const project = withMarker(OTHERS)
    const adopted = await project.cli(['adopt', '259'], { env: { CLAUDE_CODE_SESSION_ID: shell } })
    await project.hook(shellRan('postflight adopt 259', adopted.stdout))
    expect(markerOf(project)).toMatchObject({ cc_session_id: SESSION, agent_id: 'main' })
  })

  it('keeps the count of a pending marker', async () => {
    const project = withMarker({ ...OTHERS, cc_session_id: SESSION, agent_id: 'agent-a' })
    for (let index = 0; index < 2; index++) await project.hook(subagentStop())
    const run = await project.cli(['adopt', '259', '--host-session', OTHER_SESSION, '--agent', 'b'], { env: ENV })
    expect(run.stdout).toBe(`adopted ${MARKER}  ${OTHERS.id}\n`)
    const next = await project.hook(subagentStop({ session_id: OTHER_SESSION, agent_id: 'b' }))
    expect(next.answer.reason).toContain('Blocked stop 3 of 3')
  })

  it('makes an abandoned marker pending again, as a new marker with its own count', async () => {
    const project = withMarker({ ...OTHERS, cc_session_id: SESSION, agent_id: 'agent-a' })
    for (let index = 0; index < 4; index++) await project.hook(subagentStop())
    expect(project.has(ABANDONED)).toBe(true)
    const run = await project.cli(['adopt', '259', '--agent', 'main', '--json'], { env: ENV })
    expect(run.json()).toMatchObject({ revived: true, owner: { host_session: SESSION, agent: 'main' } })
    expect(project.has(ABANDONED)).toBe(false)
    const { id, created, ...marker } = markerOf(project)
    expect(marker).toMatchObject({ custom: 1, agent_id: 'main', operation: 'research' })
    expect(id).not.toBe(OTHERS.id)
    expect(Date.now() - Date.parse(String(created))).toBeLessThan(60_000)
    expect((await project.hook(stop())).answer.reason).toContain('Blocked stop 1 of 3')
  })

  it('prefers the pending marker to an abandoned one', async () => {
    const project = withMarker(OTHERS)
    project.write(ABANDONED, JSON.stringify({ operation: 'older' }))
    const run = await project.cli(['adopt', '259', '--json'], { env: ENV })
    expect(run.json()).toMatchObject({ revived: false, id: OTHERS.id })
    expect(project.has(ABANDONED)).toBe(true)
  })

  it('gives an id to a marker that has none, so that its owner can be recorded', async () => {
    const project = withMarker({ session_id: 'sess_1', operation: 'research' })
    await project.cli(['adopt', '259'], { env: ENV })
    expect(markerOf(project)).toMatchObject({ id: expect.stringMatching(/^pf_[a-z0-9]{12}$/), cc_session_id: SESSION })
  })

  it('undoes an emergency bypass', async () => {
    const project = withMarker({ ...OTHERS, stop_hook_active: true })
    await project.cli(['adopt', '259', '--agent', 'agent-a'], { env: ENV })
    expect((await project.hook(subagentStop())).answer.decision).toBe('block')
  })

  it('refuses an impossible host session', async () => {
    const project = withMarker(OTHERS)
    const before = project.snapshot()
    expect((await project.cli(['adopt', '259', '--host-session', 'two\nlines'])).status).toBe(64)
    expect(project.snapshot()).toEqual(before)
  })
})
