import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, stop, subagentStop } from '../../support/payloads.ts'
import { createSourceProject, type Project, withMarker } from '../../support/project.ts'

const OWNED = { cc_session_id: SESSION, agent_id: 'agent-a', custom: { kept: true }, operation: 'research' }

async function startRun(project: Project, task: string): Promise<void> {
  const phases = [{ id: 'a', prompt: 'Do it.', artifact: 'a.md' }]
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  const words = ['workflow', 'start', task, 'flow', '--definition', 'flow.json']
  const run = await project.cli(words, { env: { CLAUDE_CODE_SESSION_ID: SESSION } })
  expect(run, run.stderr).toMatchObject({ status: 0 })
}

const MARKER = 'specs/259_x/.postflight-pending'

describe.concurrent('bypass', () => {
  it('allows the next stop, which removes marker, loop guard and claims', async () => {
    const project = withMarker(OWNED)
    await project.hook(subagentStop())
    const run = await project.cli(['bypass', '259'])
    expect(run).toMatchObject({ status: 0, stdout: `${MARKER}: the next stop goes through and removes it\n` })
    expect(JSON.parse(project.read(MARKER))).toEqual({ ...OWNED, stop_hook_active: true })
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    expect(project.snapshot('specs/259_x')).toEqual({})
    expect(project.journal().map((entry) => entry.event)).toEqual(['block', 'bypass-request', 'bypass'])
  })

  it.each(['', 'sess_1'])('works for a marker that does not parse, and keeps its text: %j', async (text) => {
    const project = withMarker(text)
    expect((await project.cli(['bypass', '259'])).status).toBe(0)
    expect(JSON.parse(project.read(MARKER))).toMatchObject({ stop_hook_active: true })
    if (text !== '') expect(project.read('specs/259_x/.postflight-unparsed')).toBe(text)
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    expect(project.has(MARKER)).toBe(false)
  })

  it('--all bypasses every marker', async () => {
    const project = withMarker('', '.')
    project.marker('001_a', OWNED)
    project.marker('archive/002_b', { ...OWNED, cc_session_id: OTHER_SESSION })
    const run = await project.cli(['bypass', '--all', '--json'])
    const paths = ['specs', 'specs/001_a', 'specs/archive/002_b'].map((folder) => `${folder}/.postflight-pending`)
    expect(run.json().bypassed.map((one: { path: string }) => one.path)).toEqual(paths)
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    expect(Object.keys(project.snapshot('specs')).filter((name) => name.endsWith('pending'))).toEqual([])
  })

  it.each([
    ['259', { status: 1, stdout: '', stderr: 'postflight: nothing to bypass: no marker in specs/259_x.\n' }],
    ['.', { status: 1, stdout: '', stderr: 'postflight: nothing to bypass: no marker in specs.\n' }],
    ['--all', { status: 0, stdout: 'nothing to bypass: no markers and no active workflows\n' }],
  ])('says for %s without a marker that there is nothing to bypass', async (task, said) => {
    const project = createSourceProject({ files: { 'specs/259_x/plan.md': '' } })
    const before = project.snapshot()
    expect(await project.cli(['bypass', task])).toMatchObject(said)
    expect(project.snapshot()).toEqual(before)
  })

  it('--all also stops each run at once, resumable, and names the command that continues it', async () => {
    const project = createSourceProject()
    await startRun(project, '7')
    await startRun(project, '8')
    expect((await project.hook(stop())).stdout).toContain('"decision":"block"')
    const run = await project.cli(['bypass', '--all'])
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.stdout.split('\n')).toEqual([
      'specs/007_flow: the workflow was stopped; to continue it: postflight workflow resume 007_flow',
      'specs/008_flow: the workflow was stopped; to continue it: postflight workflow resume 008_flow',
      '',
    ])
    expect((await project.hook(stop({ prompt_id: 'prompt-2' }))).stdout).toBe('{}\n')
    expect(project.journal().at(-1)).toMatchObject({ event: 'workflow', task: '008_flow', detail: 'stopped' })
    expect((await project.cli(['workflow', 'resume', '7'])).status).toBe(0)
    expect((await project.hook(stop({ prompt_id: 'prompt-3' }))).stdout).toContain('"decision":"block"')
  })

  it('--all bypasses and stops the others if markers and a run are broken, and says all of it', async () => {
    const project = createSourceProject()
    for (const task of ['001_a', '003_c']) project.write(`specs/${task}/.postflight-pending/x`, '')
    project.marker('002_b', OWNED)
    await startRun(project, '7')
    await startRun(project, '8')
    project.write('specs/007_flow/workflow/state.json', 'not JSON')
    const run = await project.cli(['bypass', '--all'])
    expect(run.status).toBe(65)
    expect(run.stderr).toMatch(/^postflight: specs\/001_a[^\n]*\n$/)
    expect(run.stdout).toMatch(/^specs\/002_b.*\nspecs\/008_flow.*\nspecs\/003_c.*\n$/)
    expect(JSON.parse(project.read('specs/002_b/.postflight-pending'))).toMatchObject({ stop_hook_active: true })
    expect(JSON.parse(project.read('specs/008_flow/workflow/state.json'))).toMatchObject({ outcome: 'stopped' })
  })

  it('of a task leaves its run alone', async () => {
    const project = createSourceProject()
    await startRun(project, '7')
    project.marker('007_flow', OWNED)
    await project.cli(['bypass', '7'])
    expect(JSON.parse(project.read('specs/007_flow/workflow/state.json'))).toMatchObject({ active: true })
  })
})
