/** Notifications of the terminal: `terminalSequence` in the answer, on Claude Code, for people who switch it on. */

import { describe, expect, it } from 'vitest'
import { begun, edit } from '../../support/done-project.ts'
import { IN_SESSION, startFlow } from '../../support/flow.ts'
import { SESSION, stop, subagentStop } from '../../support/payloads.ts'
import { claudeHookEnv, type Project, withMarker } from '../../support/project.ts'

const OSC = '\u001b]9;postflight: '
const asked = (project: Project, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...claudeHookEnv(project, SESSION),
  AI_AGENT: 'claude-code_2-1-329_harness',
  POSTFLIGHT_NOTIFY: '1',
  ...more,
})

const marked = (): Project => withMarker({ id: 'pf_aaaaaaaaaaaa', cc_session_id: SESSION, agent_id: 'main' })

const sequence = async (project: Project, payload = stop(), env = asked(project)): Promise<unknown> =>
  (JSON.parse((await project.hook(payload, { env })).stdout) as { terminalSequence?: string }).terminalSequence

/** The marker's three continuations. */
async function spend(project: Project): Promise<void> {
  for (let count = 1; count <= 3; count++) expect(await sequence(project)).toBe(undefined)
}

describe('a notification of the terminal', () => {
  it('says that a postflight was given up, beside the notice', async () => {
    const project = marked()
    await spend(project)
    expect(JSON.parse((await project.hook(stop(), { env: asked(project) })).stdout)).toEqual({
      systemMessage: expect.stringContaining('259'),
      terminalSequence: `${OSC}task 259_x stopped without its postflight\u0007`,
    })
  })

  it('does not name the folder of a definition of done', async () => {
    const project = await begun()
    await edit(project, 'src/a.ts')
    await spend(project)
    expect(await sequence(project)).toBe(`${OSC}an agent stopped without the checks of specs/done.yaml\u0007`)
  })

  // The hosts and versions that show one are in unit/hosts/hosts.test.ts.
  it.each([
    ['it was not asked for', { POSTFLIGHT_NOTIFY: '' }],
    ['a version that does not know the field', { AI_AGENT: 'claude-code_2-1-140_harness' }],
  ])('is left out: %s', async (_, env) => {
    const project = marked()
    await spend(project)
    expect(await sequence(project, stop(), asked(project, env))).toBe(undefined)
    expect(project.has('specs/259_x/.postflight-abandoned')).toBe(true)
  })

  it('says that the agent waits for a person, and not that a sub-agent stops meanwhile', async () => {
    const project = marked()
    await project.cli(['wait', '259', '--for', 'go-ahead to deploy'], { env: { POSTFLIGHT_HOST_SESSION: SESSION } })
    expect(await sequence(project, subagentStop())).toBe(undefined)
    expect(await sequence(project)).toBe(`${OSC}task 259_x waits for: go-ahead to deploy\u0007`)
  })

  it('says that a run waits for an approval', async () => {
    const phases = [{ id: 'plan', prompt: 'Do it.', artifact: 'plan.md', approve: true }]
    const project = await startFlow(phases, { env: IN_SESSION })
    project.write('specs/007_flow/plan.md', 'x')
    expect(await sequence(project)).toBe(`${OSC}task 007_flow: phase plan waits for your approval\u0007`)
  })

  it('says that a run waits, stalled or failed, and not that it continues or was completed', async () => {
    const phases = [{ id: 'only', prompt: 'Do it.', artifact: 'out.txt', max_attempts: 1 }]
    const project = await startFlow(phases, { env: IN_SESSION })
    expect(await sequence(project, stop({ prompt_id: 'p1' }))).toBe(undefined)
    await project.cli(['wait', '7', '--for', 'answers'], { env: { POSTFLIGHT_HOST_SESSION: SESSION } })
    expect(await sequence(project, stop({ prompt_id: 'p1' }))).toBe(`${OSC}task 007_flow waits for: answers\u0007`)
    const following = stop({ prompt_id: 'p2', stop_hook_active: true })
    expect(await sequence(project, following)).toBe(`${OSC}the workflow of task 007_flow has stalled\u0007`)
    await project.cli(['workflow', 'resume', '7', '--host-session', SESSION])
    expect(await sequence(project, stop({ prompt_id: 'p3' }))).toBe(undefined)
    project.write('specs/007_flow/out.txt', 'x')
    expect(await sequence(project, stop({ prompt_id: 'p3', stop_hook_active: true }))).toBe(undefined)
    expect((await project.cli(['workflow', 'status', '7', '--json'])).json().outcome).toBe('completed')
  })
})
