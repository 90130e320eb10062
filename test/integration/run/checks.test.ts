import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkCommand } from '../../../src/run/store/receipts.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import { createSourceProject, type Project } from '../../support/project.ts'
import { wholeSeconds } from '../../support/whole-seconds.ts'

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }

const flow = (check: object): string =>
  JSON.stringify({ name: 'flow', phases: [{ id: 'build', prompt: 'Build it.', artifact: 'report.md', check }] })

const START = ['workflow', 'start', '7', 'x', '--definition', 'flow.json']

/** A run whose phase has a check that fails until the file `fixed` exists. */
async function startedRun(check: object = {}, env: Record<string, string> = ENV): Promise<Project> {
  const project = createSourceProject({ files: { 'src/code.ts': 'one' } })
  const failing = { run: 'echo ran >> ran; echo "test 7 failed"; test -e fixed', files: ['src/**'] }
  project.write('flow.json', flow({ ...failing, ...check }))
  expect(await project.cli(START, { env })).toMatchObject({ status: 0 })
  return project
}

async function writtenRun(): Promise<Project> {
  const project = await startedRun()
  await reasonOf(project)
  project.write(REPORT, 'x')
  return project
}

const check = (project: Project, ...words: string[]) => project.cli(['workflow', 'check', '7', ...words], { env: ENV })

const REPORT = 'specs/007_x/report.md'
const RECEIPT = 'specs/007_x/checks/build/1-1.json'
const STATE = 'specs/007_x/workflow/state.json'
const state = (project: Project) => JSON.parse(project.read(STATE))
const ran = (project: Project) => (project.has('ran') ? project.read('ran').split('\n').length - 1 : 0)
const reasonOf = async (project: Project) => (await project.hook(stop({ prompt_id: 'p1' }))).answer.reason

describe('a phase with a check, driven by the hook', () => {
  it('asks for it in the prompt, and passes when the agent ran it and it succeeded', async () => {
    const project = await startedRun()
    const prompt = await reasonOf(project)
    project.write(REPORT, 'x')
    const red = await check(project)
    project.write('fixed', '')
    const green = await check(project, '--json')
    const again = await check(project)
    const end = await project.hook(stop())
    expect(prompt).toContain(`\`postflight workflow check 007_x --root ${project.dir}\`. It runs the check \`echo`)
    expect(red.status).toBe(1)
    expect(red.stdout).toMatch(/^the check `echo ran.*` failed \(exit code 1; .*\n {2}test 7 failed\n$/)
    expect(green.json()).toMatchObject({ result: 'passed', receipt: 'checks/build/1-1.json', failed: null })
    expect(again.stdout).toContain('was not run again')
    expect(ran(project)).toBe(2)
    const details = project.journal().map(({ detail }) => String(detail))
    expect(details.filter((detail) => detail.startsWith('check '))).toEqual([
      expect.stringMatching(/^check failed: echo ran.* \(exit code 1; .* s\)$/),
      expect.stringMatching(/^check passed: echo ran.* \(.* s\)$/),
    ])
    expect(end.answer.decision).toBe(undefined)
    expect(state(project)).toMatchObject({ outcome: 'completed' })
    const report = (await project.cli(['report', '7'])).stdout
    expect(report).toContain('Run "flow": completed')
    expect(report, 'a check of a phase is not a promise').not.toContain('Promise')
  })

  it.each<[string, boolean, RegExp]>([
    ['was never run', false, /Problem with the last result: the check `echo ran.*was not run: `postflight .*` runs it/],
    ['failed', true, /failed \(exit code 1\); `.*` runs it again\. The end of its output:\ntest 7 failed\n/],
  ])('counts an attempt if it %s, and the next prompt says so', async (_what, runs, said) => {
    const project = await writtenRun()
    if (runs) await check(project)
    const reason = await reasonOf(project)
    expect(reason).toContain('attempt 2 of 3')
    expect(reason).toMatch(said)
    expect(ran(project)).toBe(runs ? 1 : 0)
  })

  it.each<[string, (project: Project) => unknown, typeof wholeSeconds?]>([
    ['a bound file', (project) => project.write('src/code.ts', 'other')],
    ['the time of a bound file', (project) => utimesSync(project.at('src/code.ts'), 1, 1)],
    ['the artifact', (project) => project.write(REPORT, 'y')],
    ['a bound file in the same second', (project) => project.write('src/code.ts', 'two'), wholeSeconds],
  ])('is void after a change of %s, and is run again', async (_, change, mockTimes) => {
    const project = await writtenRun()
    project.write('fixed', '')
    const times = mockTimes?.()
    await check(project)
    change(project)
    const reason = await reasonOf(project)
    const again = await check(project)
    await project.hook(stop())
    times?.mockRestore()
    expect(reason).toMatch(/changed after the check `.*` had run, so its result no longer counts/)
    expect(again.status).toBe(0)
    expect(ran(project)).toBe(2)
    expect(state(project)).toMatchObject({ outcome: 'completed' })
  })

  it('counts no attempt while it runs: the agent is asked once whether it waits', async () => {
    const project = await writtenRun()
    project.write('specs/007_x/.postflight-checking', '')
    expect(await reasonOf(project)).toMatch(/running in the background: "echo ran.*postflight wait 007_x --for/s)
    expect(await reasonOf(project)).toBeUndefined()
    expect(state(project)).toMatchObject({ prompts: 1, phase_attempts: 0 })
    expect((await project.cli(['workflow', 'next', '7', '--peek'], { env: ENV })).stdout).toMatch(
      /^wait: the .* been running since /,
    )
  })

  it('does not pass with a receipt of another run, another command or a garbled one', async () => {
    const project = await writtenRun()
    project.write('fixed', '')
    await check(project)
    const good = JSON.parse(project.read(RECEIPT))
    for (const bad of [{ ...good, run: 'wf_other' }, { ...good, command: 'true' }, { ...good, files: [1] }, 'x']) {
      project.write(RECEIPT, JSON.stringify(bad))
      const peeked = await project.cli(['workflow', 'next', '7', '--peek', '--json'], { env: ENV })
      expect(peeked.json().command).toBe('prompt')
    }
  })

  it('is looked for in time, whatever number of attempts a cloned state has', async () => {
    const project = await writtenRun()
    project.write(STATE, JSON.stringify({ ...state(project), phase_attempts: 5_000_000 }))
    const before = process.cpuUsage().user
    expect((await project.hook(stop())).answer.decision).toBeUndefined()
    expect(process.cpuUsage().user - before).toBeLessThan(3_000_000)
  })

  it('is named by a command that finds the run in an archive, and the root if it is the file system', () => {
    const folder = { root: '/', path: '/specs/old/012_x', task: '012_x', relative: 'specs/old/012_x' }
    expect(checkCommand(folder)).toBe('postflight workflow check old/012_x --root /')
  })

  it('is not run before the artifact is there', async () => {
    const project = await startedRun()
    const run = await check(project, '--json')
    expect([run.status, run.json().result, run.json().receipt]).toEqual([1, 'too-early', null])
    expect(run.json().message).toContain('was not run, because the phase has no valid result yet: report.md is missing')
    expect(ran(project)).toBe(0)
    const phase = { ...JSON.parse(flow({ run: 'true' })).phases[0], steps: ['one'] }
    project.write('steps.json', JSON.stringify({ name: 'flow', phases: [phase] }))
    await project.cli(['workflow', 'start', '8', 'y', '--definition', 'steps.json'])
    await project.cli(['workflow', 'next', '8'])
    project.write('specs/008_y/report.md', 'x')
    const stdout = expect.stringContaining('result yet: not all of its steps have ended')
    expect(await project.cli(['workflow', 'check', '8'])).toMatchObject({ status: 1, stdout })
  })
})

describe('workflow next', () => {
  it('runs the check itself, but not with --peek: it fails, is reported, is fixed and passes', async () => {
    const project = await startedRun({}, {})
    const next = async (...words: string[]) => (await project.cli(['workflow', 'next', '7', '--json', ...words])).json()
    await next()
    project.write(REPORT, 'x')
    await next('--peek')
    expect(ran(project)).toBe(0)
    expect(await next()).toMatchObject({ attempt: 2, prompt: expect.stringContaining('test 7 failed') })
    project.write('fixed', '')
    project.write(REPORT, 'y')
    expect(await next()).toMatchObject({ command: 'finish', outcome: 'completed' })
    expect(ran(project)).toBe(2)
  })
})

describe('trust', () => {
  /** A run as it comes with a clone: another user started it on another machine. */
  async function clonedRun(env: Record<string, string> = ENV): Promise<Project> {
    const project = await startedRun({}, env)
    project.write(REPORT, 'x')
    project.write('fixed', '')
    rmSync(`${project.home}/.local`, { recursive: true })
    return project
  }

  it.each(['check', 'next', 'resume'])('%s runs no command that this user has not started', async (command) => {
    const project = await clonedRun()
    const { status, stderr } = await project.cli(['workflow', command, '7'], { env: ENV })
    expect(status).toBe(1)
    expect(stderr).toMatch(/runs commands \(`echo ran.*`\) that you have not started.*workflow resume 007_x --trust`/)
    expect(ran(project)).toBe(0)
  })

  it('resume --trust names the commands, and lets them run', async () => {
    const project = await clonedRun()
    const resumed = await project.cli(['workflow', 'resume', '7', '--trust'], { env: ENV })
    expect(resumed.stdout).toContain('trusted from now on: echo ran >> ran;')
    expect(await check(project)).toMatchObject({ status: 0 })
    expect(ran(project)).toBe(1)
  })

  it('does not outlive a change of the commands', async () => {
    const project = await startedRun()
    project.write(REPORT, 'x')
    const changed = state(project)
    changed.definition.phases[0].check.run = 'touch harm'
    project.write(STATE, JSON.stringify(changed))
    expect(await check(project)).toMatchObject({ status: 1 })
    expect(project.has('harm')).toBe(false)
  })

  it('is the driving session’s if nothing can be noted outside of the repository', async () => {
    const project = createSourceProject()
    const unwritable = { ...ENV, XDG_STATE_HOME: project.at('flow.json') }
    project.write('flow.json', flow({ run: 'touch ran' }))
    await project.cli(START, { env: unwritable })
    project.write(REPORT, 'x')
    const checked = async (session: string) => {
      const env = { ...unwritable, CLAUDE_CODE_SESSION_ID: session }
      return (await project.cli(['workflow', 'check', '7'], { env })).status
    }
    expect([await checked('other'), await checked(SESSION)]).toEqual([1, 0])
    const { CLAUDE_CODE_SESSION_ID: _session, ...env } = unwritable
    const resumed = await project.cli(['workflow', 'resume', '7', '--trust'], { env })
    expect(resumed).toMatchObject({ status: 73, stderr: expect.stringContaining('(trust is recorded there)') })
    expect(existsSync(`${project.home}/.local`)).toBe(false)
  })
})

describe('the receipt of a check', () => {
  it.each([3, 5_000_000])('is void when an artifact of %i bytes gets others at its old time', async (size) => {
    const project = await startedRun({ run: 'echo ran >> ran' })
    const bytes = Buffer.alloc(size, 0x80)
    writeFileSync(project.write(REPORT, ''), bytes)
    const { atime, mtime } = statSync(project.at(REPORT))
    expect((await check(project)).status).toBe(0)
    // Another byte that is not UTF-8 either, at the same time.
    writeFileSync(project.at(REPORT), Buffer.concat([bytes.subarray(1), Buffer.from([0x81])]))
    utimesSync(project.at(REPORT), atime, mtime)
    expect((await check(project, '--json')).json().message).not.toContain('was not run again')
    expect(ran(project)).toBe(2)
  })

  describe('and its artifact', () => {
    const SMALL = 1_000
    const LARGE = 4_194_305

    /** A run whose check was green on an artifact of this size. */
    async function checkedRun(size: number): Promise<Project> {
      const project = await startedRun({ run: 'echo ran >> ran' })
      writeFileSync(project.write(REPORT, ''), Buffer.alloc(size, 0x61))
      expect((await check(project)).status).toBe(0)
      return project
    }
    const changeReceipt = (project: Project, fields: object) =>
      project.write(RECEIPT, JSON.stringify({ ...JSON.parse(project.read(RECEIPT)), ...fields }))
    const passes = async (project: Project): Promise<boolean> => {
      await project.hook(stop())
      return state(project).outcome === 'completed'
    }
    /** Gives the artifact another time, and the same content. */
    const touch = (project: Project) => utimesSync(project.at(REPORT), 1, 1)

    it.each([
      ['is not read at a stop while its size and times are those of the receipt', { artifact: 'another hash' }],
      ['is hashed if only its times differ', undefined],
    ])('%s', async (_what, receipt) => {
      const project = await checkedRun(SMALL)
      if (receipt === undefined) touch(project)
      else changeReceipt(project, receipt)
      expect(await passes(project)).toBe(true)
    })

    it('is never hashed above 4 MiB: its size and times decide', async () => {
      const [same, touched] = [await checkedRun(LARGE), await checkedRun(LARGE)]
      touch(touched)
      expect(JSON.parse(same.read(RECEIPT)).artifact).toBe('')
      expect(await passes(same)).toBe(true)
      expect(await passes(touched)).toBe(false)
      await check(touched)
      expect(await passes(touched)).toBe(true)
    })

    it.each([
      [SMALL, true],
      [LARGE, false],
    ])('of %i bytes counts with the hash of an older receipt: %s', async (size, expected) => {
      const project = await checkedRun(size)
      const artifact = createHash('sha256').update(Buffer.alloc(size, 0x61)).digest('hex')
      changeReceipt(project, { artifact, artifact_file: undefined })
      expect(await passes(project)).toBe(expected)
    })
  })

  it('can pass with every file of the project: what is ours is never bound', async () => {
    const project = await startedRun({ run: 'true', files: ['**'] })
    const others = ['archive/003_old/plan.md', 'workflow/plan.md', 'archive/003_old/workflow/state.json']
    for (const file of [...others, '007_x/report.md', '008_other/.postflight-pending'])
      project.write(`specs/${file}`, '{}')
    const ours = ['checks/build/2-1.json', 'checks/build/1-1.json.7-x-1.tmp', 'artifacts/build/1-report.md']
    for (const file of ours) project.write(`specs/007_x/${file}`, 'x')
    const own = ['checks/a.md', 'checks/build/a.json', 'artifacts/a.svg', 'artifacts/build/a.md', 'step-result-a.json']
    for (const file of own) project.write(`specs/007_x/${file}`, 'x')
    await check(project)
    const names: string[] = JSON.parse(project.read(RECEIPT)).files.map((file: { path: string }) => file.path)
    const bound = ['flow.json', 'specs/archive/003_old/plan.md', 'specs/workflow/plan.md']
    expect(names).toEqual(expect.arrayContaining([...bound, ...own.map((name) => `./${name}`)]))
    const isOurs = (name: string) => /postflight|\.\/workflow|state\.json/.test(name) || ours.includes(name.slice(2))
    expect(names.filter(isOurs)).toEqual([])
    expect((await check(project)).stdout).toContain('so it was not run again')
    // The task's folder may be moved during the run.
    renameSync(project.at('specs/007_x'), project.at('specs/archive/007_x'))
    expect((await check(project)).stdout).toContain('so it was not run again')
  })

  it('is refused with its own words if the state has a pattern that is not allowed', async () => {
    const project = await startedRun({ run: 'true', files: ['src/*'] })
    project.write(REPORT, 'x')
    project.write(STATE, project.read(STATE).replaceAll('src/*', 'src/{1..100000}'))
    await project.cli(['workflow', 'resume', '7', '--trust'], { env: ENV })
    const refusal = /^postflight: check\.files of phase "build" has a pattern that is not allowed/
    expect(await check(project)).toMatchObject({ status: 65, stderr: expect.stringMatching(refusal) })
  })

  it('names the files that its result is not bound to: links, and those in node_modules', async () => {
    const project = await startedRun({ run: 'true', files: ['src/**', 'node_modules/dep/index.js', '**/*.js'] })
    project.write('node_modules/dep/index.js', '1')
    symlinkSync('code.ts', project.at('src/link.ts'))
    symlinkSync(project.at('node_modules'), project.at('src/deps'))
    project.write(REPORT, 'x')
    const files = 'src/deps (a link), src/link.ts (a link), node_modules/dep/index.js (node_modules) and node_modules'
    expect((await check(project)).stdout).toContain(`its result is not bound to ${files} (node_modules): `)
  })

  it('is bound to at most 2,000 files', async () => {
    const project = await startedRun()
    for (let number = 0; number < 2_001; number++) project.write(`src/${number}`, '')
    project.write(REPORT, 'x')
    const run = await check(project)
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('names more than 2000 files') })
    expect(ran(project)).toBe(0)
  })
})
