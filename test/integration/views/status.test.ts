import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION } from '../../support/payloads.ts'
import { createSourceProject, hoursAgo, makeOld, type Project } from '../../support/project.ts'

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'main', created: hoursAgo(0) }
const PHASE = { id: 'plan', prompt: 'Plan.', artifact: 'plan.md', max_attempts: 1 }
const FLOW = JSON.stringify({ name: 'flow', phases: [PHASE] })

/** A project with one unfinished thing of each kind. */
async function busyProject(): Promise<Project> {
  const project = createSourceProject({ files: { 'flow.json': FLOW } })
  const checks = [{ run: 'npm test', failed: { exit_code: 1 } }]
  project.marker('001_pending', { ...OWNED, operation: 'research', steps: ['a', 'b'], checks })
  project.marker('002_waiting', { ...OWNED, cc_session_id: OTHER_SESSION, wait: { for: 'an answer', count: 1 } })
  project.write('specs/003_abandoned/.postflight-abandoned', JSON.stringify(OWNED))
  project.write('specs/004_unchecked/.postflight-abandoned', JSON.stringify({ ...OWNED, outcome: 'unchecked' }))
  project.write('specs/005_unreadable/.postflight-pending/x', '')
  await project.cli(['workflow', 'start', '6', 'running', '--definition', 'flow.json'], { env: ENV })
  await project.cli(['workflow', 'start', '7', 'stalled', '--definition', 'flow.json'])
  for (let asked = 0; asked < 2; asked++) await project.cli(['workflow', 'next', '7'])
  await project.cli(['workflow', 'start', '8', 'done', '--definition', 'flow.json'])
  project.write('specs/008_done/plan.md', 'x')
  await project.cli(['workflow', 'next', '8'])
  return project
}

const kindsOf = (items: { task: string; kind: string }[]) =>
  Object.fromEntries(items.map(({ task, kind }) => [task, kind]))

describe('status', () => {
  it('shows everything that is unfinished, each with its fix, and so does postflight alone; it writes nothing', async () => {
    const project = await busyProject()
    const before = project.snapshot()
    const run = await project.cli(['status'])
    const json = (await project.cli(['status', '--json'])).json()
    expect(project.snapshot()).toEqual(before)
    expect(kindsOf(json.items)).toEqual({
      '001_pending': 'pending',
      '002_waiting': 'waiting',
      '003_abandoned': 'abandoned',
      '004_unchecked': 'unchecked',
      '005_unreadable': 'unreadable',
      '006_running': 'running',
      '007_stalled': 'stalled',
    })
    expect(json).toMatchObject({ root: project.dir, clean: false, completed: 1 })
    expect(run.status).toBe(0)
    expect(run.stdout).toMatch(
      /^● pending: specs\/001_pending\/\.postflight-pending · research · \d+ s old · 2 steps to go · `npm test` failed the last time \(exit code 1\) · session /m,
    )
    expect(run.stdout).toContain('  → when its postflight is done: postflight clear 001_pending')
    expect(run.stdout).toContain('waits for an answer')
    expect(run.stdout).toMatch(/^✗ unchecked: .*ended without its checks/m)
    expect(run.stdout).toContain('to continue it: postflight workflow resume 007_stalled')
    const withoutAges = (text: string): string => text.replace(/\d+ (?:s|min)\b/g, 'some time')
    expect(withoutAges((await project.cli([])).stdout)).toBe(withoutAges(run.stdout))
    expect((await project.cli(['--root', project.dir])).stdout).toContain('● pending')
  })

  it('is a verdict with --exit-code, and has one annotation per cause with --github', async () => {
    const project = await busyProject()
    const run = await project.cli(['status', '--exit-code', '--github', '--quiet'])
    expect(run.status).toBe(1)
    const lines = run.stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(7)
    for (const line of lines) expect(line).toMatch(/^::error title=postflight [a-z]+,file=specs\/[^,:]+::\S.*$/)
  })

  it('is one line and exit code 0 if everything is done', async () => {
    const project = createSourceProject()
    const run = await project.cli(['status', '--exit-code', '--github'])
    const stdout = `no marker was made by \`postflight create\` in ${project.dir} in the last 24 h, none is pending\n`
    expect(run).toMatchObject({ status: 0, stdout, stderr: '' })
    const outside = await createSourceProject({ specs: false }).cli(['status', '--exit-code'])
    expect(outside.stdout).toBe('no marker was made: no specs/ folder here\n')
  })

  it('shows one session with --session, and items that may belong to any session', async () => {
    const project = await busyProject()
    const { items } = (await project.cli(['status', '--session', OTHER_SESSION, '--json'])).json()
    expect(kindsOf(items)).toEqual({ '002_waiting': 'waiting', '005_unreadable': 'unreadable' })
    const clean = createSourceProject()
    clean.marker('001_x', OWNED)
    const stdout = 'no marker was made by `postflight create` in session another, none is pending\n'
    expect(await clean.cli(['status', '--session', 'another', '--exit-code'])).toMatchObject({ status: 0, stdout })
  })

  it('counts a run that was completed with skips or stopped', async () => {
    const project = createSourceProject()
    project.write('advisory.json', JSON.stringify({ name: 'a', phases: [{ ...PHASE, gate: 'advisory' }] }))
    project.write('flow.json', FLOW)
    await project.cli(['workflow', 'start', '1', 'skips', '--definition', 'advisory.json'])
    for (let asked = 0; asked < 2; asked++) await project.cli(['workflow', 'next', '1'])
    await project.cli(['workflow', 'start', '3', 'stopped', '--definition', 'flow.json'])
    await project.cli(['workflow', 'stop', '3', '--now'])
    const run = await project.cli(['status', '--exit-code', '--json'])
    expect(run.status).toBe(1)
    expect(kindsOf(run.json().items)).toEqual({ '001_skips': 'skipped', '003_stopped': 'stopped' })
    const human = await project.cli(['status'])
    expect(human.stdout).toMatch(/workflow history 001_skips shows what was skipped\. .*: postflight clear 001_skips$/m)
    expect(human.stdout).toMatch(/resume 003_stopped; if it is no longer wanted: postflight clear 003_stopped$/m)
  })

  it('is green if a run was aborted: that is a decision', async () => {
    const project = createSourceProject({ files: { 'flow.json': FLOW } })
    await project.cli(['workflow', 'start', '2', 'aborted', '--definition', 'flow.json'], { env: ENV })
    await project.cli(['workflow', 'abort', '2'])
    const run = await project.cli(['status', '--exit-code'])
    expect(run.status).toBe(0)
    expect(run.stdout).toMatch(
      /^no marker was made by `postflight create` in .*\nended\n○ aborted: specs\/002_aborted · flow · /,
    )
    expect(run.stdout).toMatch(
      / 002_aborted .*--fresh` begins a new run\. To list it no longer: postflight clear 002_aborted$/m,
    )
    expect(run.stdout).not.toContain('✗')
    const ofSession = (session: string) => project.cli(['status', '--exit-code', '--json', '--session', session])
    expect((await ofSession(SESSION)).json()).toMatchObject({ clean: true, completed: 0, ended: [{ kind: 'aborted' }] })
    expect((await ofSession(OTHER_SESSION)).json()).toMatchObject({ clean: true, ended: [] })
    expect((await project.cli(['status', '--exit-code', '--github'])).stdout).not.toContain('aborted')
    expect((await project.cli(['status', '--expect', '2'])).status).toBe(1)
  })
})

describe('a marker whose text does not parse', () => {
  it('is unreadable for status, --github, the status line and inspect, with the words of doctor', async () => {
    const project = createSourceProject()
    project.marker('259_x', 'sess_1')
    const says = 'is not JSON ('
    const blocks = ', so it blocks any sub-agent without saying what remains'
    const status = await project.cli(['status'])
    const github = await project.cli(['status', '--github', '--exit-code'])
    const line = await project.cli(['statusline'], { input: JSON.stringify({ cwd: project.dir }) })
    const inspect = await project.cli(['inspect', '--exit-code'])
    const doctor = await project.cli(['doctor'])
    const [item, fix] = status.stdout.trimEnd().split('\n')
    expect(item).toContain(`✗ unreadable: specs/259_x/.postflight-pending · ${says}`)
    expect(item).toContain(blocks)
    expect(fix).toBe('  → postflight clear 259_x (its text is kept), or repair it by hand')
    expect(github.status).toBe(1)
    const place = 'file=specs/259_x/.postflight-pending'
    expect(github.stdout).toContain(`::error title=postflight unreadable,${place}::Task 259: its marker ${says}`)
    expect(github.stdout).toContain(`${blocks}.`)
    expect(line.stdout).toBe('! 259 unreadable\n')
    expect(inspect.status).toBe(1)
    expect(inspect.stdout).toContain('specs/259_x/.postflight-pending  unreadable')
    expect(doctor.stdout).toContain(blocks)
  })

  it('is expired after 24 h, when it blocks nothing', async () => {
    const project = createSourceProject()
    makeOld(project.at(project.marker('259_x', 'sess_1')), 25)
    expect((await project.cli(['status'])).stdout).toContain('expired: ')
  })
})

describe('status says of a pending marker that no stop of its session was seen', () => {
  const UNSEEN = 'no stop of that session was seen: does its host start the hook? (`postflight doctor`)'
  const old = { ...OWNED, cc_session_id: OTHER_SESSION, created: hoursAgo(1) }

  it.each([
    ['of another session, an hour old', old, [], {}, true],
    ['from a plain terminal too', old, [], ENV, true],
    ['not of this one', { ...old, cc_session_id: SESSION }, [], ENV, false],
    ['not of one that may still work', { ...old, created: hoursAgo(0.1) }, [], ENV, false],
    ['not of one that waits', { ...old, wait: { for: 'an answer', count: 1 } }, [], ENV, false],
    ['not without a session', { ...old, cc_session_id: undefined }, [], ENV, false],
    ['not if the hook knows the session', old, [{ event: 'claim', host_session: OTHER_SESSION }], ENV, false],
    ['not because of its own commands', old, [{ event: 'create', host_session: OTHER_SESSION }], ENV, true],
  ])('%s', async (_what, marker, journal, env, isSaid) => {
    const project = createSourceProject()
    project.marker('001_x', marker)
    project.write('specs/.postflight/journal.jsonl', journal.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { stdout } = await project.cli(['status'], { env })
    expect(stdout).toContain('001_x')
    expect(stdout.includes(UNSEEN)).toBe(isSaid)
  })
})
