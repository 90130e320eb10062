import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { instrument } from '../../stress/support/instrument.ts'
import { OTHER_SESSION, SESSION, sessionStart, subagentStop } from '../../support/payloads.ts'
import { createSourceProject, hoursAgo, makeOld, type Project, withMarker } from '../../support/project.ts'

const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', operation: 'research' }
const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }

/** A task whose marker has used two continuations, with older abandoned markers and files of the task itself. */
async function usedTask(): Promise<Project> {
  const project = createSourceProject()
  const names = ['.postflight-abandoned', '.postflight-abandoned.1', '.return-meta.json']
  for (const name of names) project.write(`specs/259_x/${name}`, '{}')
  project.write('specs/259_x/.postflight-abandoned.7-x-1.tmp', '')
  project.write('specs/259_x/plan.md', '# Plan')
  project.marker('259_x', OWNED)
  for (let stops = 0; stops < 2; stops++) await project.hook(subagentStop())
  return project
}

describe.concurrent('clear', () => {
  it('removes marker, loop guard, claims and abandoned markers, and no file of the task itself', async () => {
    const project = await usedTask()
    expect(await project.cli(['clear', '259'], { env: ENV })).toMatchObject({ status: 0, stderr: '' })
    expect(project.snapshot('specs/259_x')).toEqual({ 'plan.md': '# Plan', '.return-meta.json': '{}' })
    const { id: marker_id, cc_session_id: host_session } = OWNED
    const entry = { event: 'clear', outcome: 'cleared', task: '259_x', marker_id, host_session }
    expect(project.journal().at(-1)).toMatchObject(entry)
  })

  it('removes .return-meta.json too with --return-meta', async () => {
    const project = await usedTask()
    await project.cli(['clear', '259', '--return-meta'])
    expect(project.snapshot('specs/259_x')).toEqual({ 'plan.md': '# Plan' })
  })

  it('prints with --dry-run what it would remove, and removes nothing', async () => {
    const project = await usedTask()
    const before = project.snapshot()
    const run = await project.cli(['clear', '259', '--dry-run', '--return-meta'])
    expect(run.stdout).toBe(
      'would clear specs/259_x: .postflight-abandoned, .postflight-abandoned.1, .postflight-abandoned.7-x-1.tmp, ' +
        '.postflight-claims, .postflight-loop-guard, .postflight-pending, .return-meta.json\n',
    )
    expect(project.snapshot()).toEqual(before)
  })

  it('names with --dry-run the checks, and runs none, also of a marker that another was written over', async () => {
    const project = createSourceProject()
    await project.cli(['create', '259', 'x', '--check', 'touch ran; false'], { env: ENV })
    const plan = () => project.cli(['clear', '259', '--dry-run'], { env: ENV })
    expect((await plan()).stdout).toContain('(after `touch ran; false`)')
    project.marker('259_x', { ...OWNED, id: undefined })
    const planned = await plan()
    const run = await project.cli(['clear', '259'], { env: ENV })
    expect(planned).toMatchObject({ status: 1, stdout: `would ${run.stdout.replace('cleared', 'clear')}` })
    expect(run).toMatchObject({ status: 1, stdout: expect.stringContaining('was removed by hand, and its checks') })
    expect(project.has('ran')).toBe(false)
  })

  it('names the steps that are not ticked: in its line, in the document and in the journal', async () => {
    const steps = [{ name: 'update status', done: true }, { name: 'link\u001b[31m artifacts' }, 'git commit']
    const many = Array.from({ length: 30 }, (_, index) => `step ${index} ${'x'.repeat(90)}`)
    const project = withMarker({ ...OWNED, steps })
    project.marker('260_y', { ...OWNED, steps: many })
    project.marker('261_z', { ...OWNED, steps: [{ name: 'all of it', done: true }] })
    const said = '(not ticked: "link[31m artifacts", "git commit")'
    const planned = await project.cli(['clear', '259', '--dry-run'], { env: ENV })
    const run = await project.cli(['clear', '259'], { env: ENV })
    const all = await project.cli(['clear', '--all', '--json'], { env: ENV })
    expect(planned.stdout).toBe(`would clear specs/259_x: .postflight-pending ${said}\n`)
    expect(run.stdout).toBe(`cleared specs/259_x: .postflight-pending ${said}\n`)
    expect(all.json().cleared).toMatchObject([{ steps_left: many }, { steps_left: [] }])
    const [first, second, third] = project.journal()
    expect(first).toMatchObject({ detail: 'steps not ticked: "link[31m artifacts", "git commit"' })
    expect(second?.detail).toMatch(/^steps not ticked: "step 0 x/)
    expect(third).not.toHaveProperty('detail')
  })

  it.each(['259', '7'])('succeeds where nothing is there (%s)', async (task) => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/259_x'))
    const before = project.snapshot()
    expect(await project.cli(['clear', task])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^nothing to clear(: no folder for task .*)?\n$/),
      stderr: '',
    })
    expect(project.snapshot()).toEqual(before)
  })

  it('succeeds without a specs/ folder', async () => {
    const project = createSourceProject({ specs: false })
    const runs = [await project.cli(['clear', '259']), await project.cli(['clear', '--all'])]
    expect(runs.map((run) => run.status)).toEqual([0, 0])
    expect(project.snapshot()).toEqual({})
  })

  it('clears specs/ itself as "."', async () => {
    const project = withMarker(OWNED, '.')
    project.marker('259_x', OWNED)
    await project.cli(['clear', '.'])
    expect(['', '259_x/'].map((folder) => project.has(`specs/${folder}.postflight-pending`))).toEqual([false, true])
  })

  it('clears a folder that exists and whose number no new folder could have', async () => {
    const project = createSourceProject({ files: { 'specs/20260118/.postflight-pending': '' } })
    expect(await project.cli(['clear', '20260118'])).toMatchObject({ status: 0, stderr: '' })
    expect(project.has('specs/20260118/.postflight-pending')).toBe(false)
  })

  it('keeps the text of a marker that does not parse', async () => {
    const project = withMarker('session=abc\ntask=259\n')
    const planned = await project.cli(['clear', '259', '--dry-run'])
    const run = await project.cli(['clear', '259'])
    expect(project.snapshot('specs/259_x')).toEqual({ '.postflight-unparsed': 'session=abc\ntask=259\n' })
    const line =
      'clear specs/259_x: .postflight-pending (its text does not parse and would be kept as .postflight-unparsed)'
    expect(planned.stdout).toBe(`would ${line}\n`)
    expect(run.stdout).toBe(`${line.replace('clear', 'cleared').replace('would be', 'is')}\n`)
  })

  it('keeps every such text under a name of its own', async () => {
    const project = createSourceProject()
    for (const text of ['one', 'two', 'three']) {
      project.marker('259_x', text)
      await project.cli(['clear', '259'])
    }
    expect(Object.values(project.snapshot('specs/259_x')).sort()).toEqual(['one', 'three', 'two'])
  })

  it.each(['a folder', 'a link'])('refuses a marker that is %s, with --dry-run too', async (kind) => {
    const project = createSourceProject()
    const target = project.write('precious', 'precious')
    mkdirSync(project.at('specs/259_x'))
    if (kind === 'a link') symlinkSync(target, project.at('specs/259_x/.postflight-pending'))
    else mkdirSync(project.at('specs/259_x/.postflight-pending'))
    const before = project.snapshot()
    expect(await project.cli(['clear', '259'])).toMatchObject({ status: 65, stderr: expect.stringContaining(kind) })
    const { status, stderr } = await project.cli(['clear', '259'])
    expect(await project.cli(['clear', '259', '--dry-run'])).toMatchObject({ status, stderr, stdout: '' })
    expect(project.snapshot()).toEqual(before)
  })

  it.each(["it's", '--all', '007', 'archive/-x', '.'])(
    'works by the commands of the block’s reason, for a marker in %j',
    async (task) => {
      const project = createSourceProject()
      project.marker(task, OWNED)
      project.marker('001_other', { ...OWNED, cc_session_id: OTHER_SESSION })
      const { answer } = await project.hook(subagentStop())
      const command = /\(where `postflight` is not on the PATH: (.*)\)/.exec(answer.reason ?? '')?.[1]
      expect(await project.shell(`${command}`)).toMatchObject({ status: 0, stderr: '' })
      expect(project.has(`specs/${task}/.postflight-pending`)).toBe(false)
      expect(project.has('specs/001_other/.postflight-pending')).toBe(true)
    },
  )

  it.each(['259_x/', './specs/259_x', 'specs/259_x/', '/link/specs/259_x/'])('takes the path %s', async (path) => {
    const project = createSourceProject()
    const task = path.startsWith('/') ? project.at(path.slice(1)) : path
    mkdirSync(project.at('specs/259_x'))
    symlinkSync('.', project.at('link'))
    expect(await project.cli(['create', task])).toMatchObject({ status: 0, stderr: '' })
    expect(await project.cli(['clear', task])).toMatchObject({ stdout: 'cleared specs/259_x: .postflight-pending\n' })
  })

  it('of two folders with the same name, clears the one with a marker; refuses if both have one', async () => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/012_x'))
    project.marker('archive/012_x', OWNED)
    await project.cli(['clear', '012_x'])
    expect(project.has('specs/archive/012_x/.postflight-pending')).toBe(false)
    for (const task of ['012_x', 'archive/012_x']) project.marker(task, OWNED)
    const run = await project.cli(['clear', '012_x'])
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining('specs/012_x, specs/archive/012_x') })
  })

  it.each(['259 --all', '--all --orphaned', '-- ../259_x'])('is a usage error with %s', async (words) => {
    const project = await usedTask()
    const before = project.snapshot()
    expect((await project.cli(['clear', ...words.split(' ')])).status).toBe(64)
    expect(project.snapshot()).toEqual(before)
  })
})

describe.concurrent('an abandoned marker that is a folder', () => {
  it.each([[['clear', '259']], [['adopt', '259', '--host-session', SESSION]]])('is named by %j', async (words) => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/259_x/.postflight-abandoned'), { recursive: true })
    const before = project.snapshot('specs')
    const run = await project.cli(words)
    expect(run.status).toBe(65)
    expect(run.stderr).toContain('specs/259_x/.postflight-abandoned cannot be read (a folder)')
    expect(run.stderr).not.toContain('pending')
    expect(project.snapshot('specs')).toEqual(before)
  })
})

const OTHER = { CLAUDE_CODE_SESSION_ID: OTHER_SESSION }
const PHASE = { id: 'a', prompt: 'Do it.', artifact: 'a.json' }
const VERDICT = { max_attempts: 1, next: { pass: 'end', fail: 'end', verdict: '/verdict' } }
const FLOWS = {
  strict: { name: 'flow', phases: [{ ...PHASE, ...VERDICT }] },
  advisory: { name: 'flow', phases: [{ ...PHASE, gate: 'advisory' }] },
}

/** A project in which the run of task 7 has ended in the given way. */
async function endedRun(outcome: string): Promise<Project> {
  const project = createSourceProject()
  const words = async (...args: string[]) => project.cli(['workflow', ...args], { env: ENV })
  project.write('flow.json', JSON.stringify(outcome === 'skipped' ? FLOWS.advisory : FLOWS.strict))
  await words('start', '7', 'flow', '--definition', 'flow.json')
  if (outcome === 'aborted') await words('abort', '7')
  else if (outcome === 'stopped') await words('stop', '7', '--now')
  else {
    await words('next', '7')
    if (outcome === 'failed') project.write('specs/007_flow/a.json', '{"verdict":"fail"}')
    await words('next', '7')
  }
  const { items, ended } = (await project.cli(['status', '--json'])).json()
  expect([...items, ...ended].map(({ kind }: { kind: string }) => kind)).toEqual([outcome])
  return project
}

describe.concurrent('clear of a task whose run has ended', () => {
  it.each([
    ['stopped', 'stopped', true],
    ['stalled', 'stalled', true],
    ['failed', 'failed', true],
    ['aborted', 'aborted', false],
    ['skipped', 'completed', false],
  ])('accepts it and keeps its files (%s)', async (kind, outcome, isResumable) => {
    const project = await endedRun(kind)
    const before = project.snapshot('specs/007_flow')
    expect((await project.cli(['clear', '7', '--dry-run'])).stdout).toMatch(/^would settle specs\/007_flow: /)
    expect(project.snapshot('specs/007_flow')).toEqual(before)
    const run = await project.cli(['clear', '7'])
    const hint = isResumable ? '; to continue it: postflight workflow resume 007_flow' : ''
    expect(run).toMatchObject({
      status: 0,
      stdout: `settled specs/007_flow: status no longer lists its workflow "flow" (${outcome})${hint}\n`,
    })
    const verdict = await project.cli(['status', '--exit-code', '--json'])
    expect(verdict.status).toBe(0)
    expect(verdict.json()).toMatchObject({ items: [], ended: [], completed: 0 })
    expect(Object.keys(project.snapshot('specs/007_flow'))).toEqual(Object.keys(before))
    expect(JSON.parse(project.read('specs/007_flow/workflow/state.json'))).toMatchObject({ settled: true, outcome })
    expect(project.journal().at(-1)).toMatchObject({
      event: 'clear',
      task: '007_flow',
      detail: `settled the workflow "flow" (${outcome})`,
    })
    expect((await project.cli(['clear', '7'])).stdout).toBe('nothing to clear\n')
  })

  it('leaves it to `workflow resume`, after which it counts', async () => {
    const project = await endedRun('failed')
    await project.cli(['clear', '7'])
    expect((await project.cli(['workflow', 'resume', '7'], { env: ENV })).status).toBe(0)
    const [item] = (await project.cli(['status', '--json'])).json().items
    expect(item).toMatchObject({ kind: 'running' })
    await project.cli(['workflow', 'stop', '7', '--now'])
    expect((await project.cli(['status', '--exit-code'])).status).toBe(1)
  })

  it('ends the reports about a stalled run at the start of a session and in doctor', async () => {
    const project = await endedRun('stalled')
    const notice = async () => (await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }))).stdout
    const findings = async () => (await project.cli(['doctor'])).stdout
    expect(await notice()).toContain('a workflow that stalled')
    expect(await findings()).toContain('specs/007_flow')
    await project.cli(['clear', '7'], { env: OTHER })
    expect(await notice()).not.toContain('stalled')
    expect(await findings()).not.toContain('specs/007_flow')
  })

  it('accepts nothing in the session that ran it, whose agent would accept its own failure', async () => {
    const project = await endedRun('failed')
    project.marker('007_flow', { ...OWNED, agent_id: 'main' })
    const run = await project.cli(['clear', '7'], { env: ENV })
    expect(run.status).toBe(0)
    expect(run.stdout).toContain('cleared specs/007_flow: .postflight-pending')
    expect(run.stdout).toContain('specs/007_flow: status still lists its workflow "flow" (failed), because ')
    expect(run.stdout).toContain('In a terminal: postflight clear 007_flow\n')
    expect((await project.cli(['status', '--exit-code'])).status).toBe(1)
  })

  it('leaves a run that continues, one that was completed, and a state that cannot be read', async () => {
    const project = createSourceProject({ files: { 'flow.json': JSON.stringify(FLOWS.strict) } })
    await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'flow.json'])
    await project.cli(['workflow', 'start', '8', 'done', '--definition', 'flow.json'])
    project.write('specs/008_done/a.json', '{"verdict":"pass"}')
    await project.cli(['workflow', 'next', '8'])
    project.write('specs/009_bad/workflow/state.json', 'garbage')
    const before = project.snapshot('specs')
    for (const task of ['7', '8', '9']) {
      expect(await project.cli(['clear', task])).toMatchObject({ status: 0, stdout: 'nothing to clear\n' })
    }
    expect(project.snapshot('specs')).toEqual(before)
  })
})

describe.concurrent('clear --all', () => {
  it.each(['clear --all', 'clear --all --dry-run'])(
    'names each run that goes on, and how to stop it: %s',
    async (line) => {
      const project = createSourceProject({ files: { 'flow.json': JSON.stringify(FLOWS.strict) } })
      await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'flow.json'], { env: ENV })
      await project.cli(['workflow', 'start', '8', 'over', '--definition', 'flow.json'], { env: ENV })
      await project.cli(['workflow', 'stop', '8', '--now'])
      const goesOn = 'specs/007_flow: the workflow goes on; to stop it: postflight workflow stop 007_flow --now'
      expect((await project.cli(line.split(' '))).stdout).toBe(`nothing to clear\n${goesOn}\n`)
      expect(JSON.parse(project.read('specs/007_flow/workflow/state.json'))).toMatchObject({ active: true })
    },
  )

  it('clears every task, whatever is in its marker', async () => {
    const project = withMarker('', '.')
    await project.hook(subagentStop())
    project.marker('001_a', OWNED)
    project.marker('archive/002_b', 'garbage')
    project.marker('003_c', { ...OWNED, cc_session_id: OTHER_SESSION })
    project.write('specs/004_d/.postflight-loop-guard', '2')
    project.write('specs/005_e/.return-meta.json', '{}')
    expect(await project.cli(['clear', '--all', '--return-meta'])).toMatchObject({ status: 0 })
    const left = Object.keys(project.snapshot('specs')).filter((name) => /\.(postflight-|return)/.test(name))
    expect(left).toEqual(['005_e/.return-meta.json', 'archive/002_b/.postflight-unparsed'])
  })

  it('clears the others if some cannot be cleared, and says all of it', async () => {
    const project = withMarker(OWNED, '001_a')
    for (const task of ['002_b', '004_d'])
      mkdirSync(project.at(`specs/${task}/.postflight-pending`), { recursive: true })
    project.marker('003_c', { ...OWNED, checks: [{ run: 'echo red; false' }] })
    const run = await project.cli(['clear', '--all'], { env: ENV })
    expect(run.status).toBe(65)
    expect(run.stderr).toMatch(/^[^\n]*002_b[^\n]*cannot be read[^\n]*\n$/)
    expect(run.stdout).toMatch(/^cleared specs\/001_a.*echo red.*\nspecs\/004_d[^\n]*cannot be read[^\n]*\n$/s)
    expect(project.has('specs/001_a/.postflight-pending')).toBe(false)
  })
})

describe.concurrent('clear --orphaned', () => {
  it('clears the markers that no session will come back for, and leaves every live one', async () => {
    const project = withMarker(OWNED, '001_live')
    project.marker('002_old_but_mine', { ...OWNED, created: hoursAgo(48) })
    project.marker('003_other_live', { ...OWNED, cc_session_id: OTHER_SESSION, created: hoursAgo(2) })
    project.marker('004_other_old', { ...OWNED, cc_session_id: OTHER_SESSION, created: hoursAgo(25) })
    project.marker('005_unowned_live', '')
    makeOld(project.at(project.marker('006_unowned_old', '')), 25)
    project.write('specs/007_abandoned/.postflight-abandoned', '{}')
    project.write('specs/008_left/.postflight-loop-guard', '2')
    project.write('specs/009_left/.postflight-claims/pf_abcdefghijkl.1', 'f1-1')
    project.write('specs/010_foreign/.return-meta.json', '{}')
    const run = await project.cli(['clear', '--orphaned', '--json'], { env: ENV })
    const cleared = run.json().cleared.map((one: { task: string }) => one.task)
    expect(cleared.join(' ')).toBe('004_other_old 006_unowned_old 007_abandoned 008_left 009_left')
    expect(project.has('specs/010_foreign/.return-meta.json')).toBe(true)
  })
})

describe('clear --orphaned, when a marker is made after its look', () => {
  it.each([
    ['beside an abandoned marker', '.postflight-abandoned', { ...OWNED, cc_session_id: OTHER_SESSION }],
    ['in place of an expired one', '.postflight-pending', {}],
  ])('%s, keeps it', async (_where, name, fields) => {
    const project = createSourceProject()
    project.write(`specs/259_x/${name}`, JSON.stringify({ ...fields, created: hoursAgo(48) }))
    const lock = project.at('specs/259_x/.postflight-lock')
    let made = false
    const { end: restore } = instrument([lock], (_call, run) => {
      if (!made) {
        made = true
        rmSync(project.at('specs/259_x/.postflight-pending'), { force: true })
        project.marker('259_x', OWNED)
      }
      return run()
    })
    try {
      const run = await project.cli(['clear', '--orphaned'], { env: ENV })
      expect(made).toBe(true)
      expect(run).toMatchObject({ status: 0, stderr: '' })
      expect(JSON.parse(project.read('specs/259_x/.postflight-pending'))).toEqual(OWNED)
    } finally {
      restore()
    }
  })
})
