import { mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { createSourceProject, hoursAgo, type JsonDocument, withMarker } from '../../support/project.ts'

const OWNED = {
  id: 'pf_abcdefghijkl',
  session_id: 'sess_1',
  cc_session_id: SESSION,
  agent_id: 'agent-a',
  agent_type: 'planner',
  skill: 'skill-plan',
  operation: 'plan',
  reason: 'Link the plan',
  steps: [
    { name: 'update status', done: true },
    { name: 'git commit', done: false },
  ],
}

describe.concurrent('inspect', () => {
  it('shows state, owner, age, continuations, steps and problems', async () => {
    const project = withMarker({ ...OWNED, created: hoursAgo(3), task_number: '259' })
    await project.hook(subagentStop({ agent_type: 'planner' }))
    const text = await project.cli(['inspect'])
    const json = await project.cli(['inspect', '--json'])
    expect(text.stdout).toBe(
      [
        'specs/259_x/.postflight-pending  pending · 3 h old · 1 of 3 stops blocked · plan (skill-plan)',
        `  owner: session ${SESSION}, agent agent-a, type planner`,
        '  reason: Link the plan',
        '  ✓ 1. update status',
        '  · 2. git commit',
        '  ! has an invalid field "task_number" (expected a number)',
        '',
      ].join('\n'),
    )
    const { cc_session_id, agent_id, agent_type, session_id: _session, ...shown } = OWNED
    const marker = {
      ...{ ...shown, state: 'pending', outcome: null, task: '259_x' },
      path: project.at('specs/259_x/.postflight-pending'),
      relative_path: 'specs/259_x/.postflight-pending',
      owner: { host_session: cc_session_id, agent: agent_id, agent_type },
      continuations: { spent: 1, limit: 3 },
      problems: ['has an invalid field "task_number" (expected a number)'],
    }
    expect(json.json()).toMatchObject({ root: project.dir, pending: 1, markers: [marker] })
    expect(json.json().markers[0].age_ms).toBeGreaterThanOrEqual(3 * 3_600_000)
  })

  const unreadable = (problem: string) => ({
    state: 'unreadable',
    problems: [expect.stringContaining(problem), expect.anything()],
  })

  it.each<[string, string | object, object]>([
    ['an empty one', '', unreadable('is empty')],
    ['a bare id', 'sess_1', unreadable('is not JSON')],
    ['a list', '[]', unreadable('not an object')],
    ['one with several wrong steps', { ...OWNED, steps: [1, {}] }, { problems: [expect.stringContaining('"steps"')] }],
    ['a bypassed one', { ...OWNED, stop_hook_active: true }, { state: 'bypassed', problems: [] }],
    ['an unowned old one', { created: hoursAgo(30) }, { state: 'expired', outcome: 'expired' }],
    ['an unowned one', {}, { state: 'pending', problems: [expect.stringContaining('has no host session')] }],
    ['one of 100 kB', `{"reason":"${'x'.repeat(100_000)}"}`, { state: 'unreadable', reason: null }],
  ])('describes %s, and writes nothing', async (_what, content, expected) => {
    const project = withMarker(content)
    const before = project.snapshot()
    const { markers } = (await project.cli(['inspect', '--json'])).json()
    expect(markers).toMatchObject([expected])
    expect(project.snapshot()).toEqual(before)
  })

  it('shows a list as one line with its items apart', async () => {
    const project = withMarker({ ...OWNED, reason: 'left:\n- link artifacts\n- commit\n' })
    expect((await project.cli(['inspect'])).stdout).toContain('  reason: left: link artifacts; commit\n')
  })

  it('shows abandoned markers after pending ones, and what to do about them', async () => {
    const project = createSourceProject({ files: { 'specs/001_a/.postflight-abandoned': JSON.stringify(OWNED) } })
    project.marker('002_b', OWNED)
    const { markers, pending } = (await project.cli(['inspect', '--json'])).json()
    expect(markers.map((view: JsonDocument) => [view.task, view.state, view.continuations.spent])).toEqual([
      ['002_b', 'pending', 0],
      ['001_a', 'abandoned', 3],
    ])
    expect(pending).toBe(1)
    const fix =
      "  → to finish it, in an agent's shell: postflight adopt 001_a; if it is done or no longer wanted: postflight clear 001_a\n"
    for (const command of ['inspect', 'doctor']) expect((await project.cli([command])).stdout).toContain(fix)
  })

  it('shows one task, by its number or its name', async () => {
    const project = withMarker(OWNED, '001_a')
    project.marker('002_b', OWNED)
    const byNumber = await project.cli(['inspect', '2', '--json'])
    const byName = await project.cli(['inspect', '001_a', '--json'])
    expect(byNumber.json().markers.map((view: JsonDocument) => view.task)).toEqual(['002_b'])
    expect(byName.json().markers.map((view: JsonDocument) => view.task)).toEqual(['001_a'])
  })

  it('exits with 0 by default, and with --exit-code with 1 when any marker is pending', async () => {
    const project = createSourceProject()
    const statuses: (number | null)[] = [(await project.cli(['inspect', '--exit-code'])).status]
    project.marker('259_x', OWNED)
    statuses.push((await project.cli(['inspect'])).status)
    const quiet = await project.cli(['inspect', '--exit-code', '--quiet'])
    project.marker('259_x', { ...OWNED, stop_hook_active: true })
    statuses.push(quiet.status, (await project.cli(['inspect', '--exit-code'])).status)
    expect(statuses).toEqual([0, 0, 1, 0])
    expect(quiet.stdout).toBe('')
  })

  it('reports that nothing is there to show', async () => {
    const empty = createSourceProject()
    const none = createSourceProject({ specs: false })
    expect((await empty.cli(['inspect'])).stdout).toBe(`no markers in ${empty.at('specs')}\n`)
    expect((await none.cli(['inspect'])).stdout).toBe('no specs/ folder here\n')
    expect((await none.cli(['inspect', '--json'])).json()).toMatchObject({ root: null, pending: 0, markers: [] })
  })

  it('shows markers that cannot be read', async () => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/001_a/.postflight-pending'), { recursive: true })
    mkdirSync(project.at('specs/002_b'))
    symlinkSync('nowhere', project.at('specs/002_b/.postflight-pending'))
    project.marker('003_c', OWNED)
    mkdirSync(project.at('specs/003_c/.postflight-loop-guard'))
    const run = await project.cli(['inspect', '--json', '--exit-code'])
    expect(run.status).toBe(1)
    expect(run.json().markers).toMatchObject([
      { state: 'unreadable', problems: ['cannot be read (a folder)'] },
      { state: 'unreadable', problems: ['cannot be read (a link)'] },
      { state: 'pending', continuations: { spent: null }, problems: [expect.stringContaining('count')] },
    ])
  })
})
