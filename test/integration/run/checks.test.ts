import { createHash } from 'node:crypto'
import { existsSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SESSION, stop } from '../../support/payloads.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }

/** A definition of one phase with this check. */
const flow = (check: object, more: object = {}): string =>
  JSON.stringify({
    name: 'flow',
    phases: [{ id: 'build', prompt: 'Build it.', artifact: 'report.md', check, ...more }],
  })

/** A run whose phase has a check that fails until the file `fixed` exists. */
async function startedRun(check: object = {}, env: Record<string, string> = ENV): Promise<Project> {
  const project = createSourceProject()
  project.write('src/code.ts', 'one')
  project.write(
    'flow.json',
    flow({ run: 'echo ran >> ran; echo "test 7 failed"; test -e fixed', files: ['src/**'], ...check }),
  )
  expect((await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], { env })).status).toBe(0)
  return project
}

const REPORT = 'specs/007_x/report.md'
const state = (project: Project) => JSON.parse(project.read('specs/007_x/workflow/state.json'))
const checksIn = (project: Project) =>
  project
    .journal()
    .flatMap(({ event, detail }) => (event === 'workflow' && /^check /.test(String(detail)) ? [detail] : []))
const ran = (project: Project) => (project.has('ran') ? project.read('ran').split('\n').length - 1 : 0)
const reasonOf = async (project: Project, prompt = 'p1') =>
  (await project.hook(stop({ prompt_id: prompt }))).answer.reason

describe('a phase with a check, driven by the hook', () => {
  it('asks for it in the prompt, and passes when the agent ran it and it succeeded', async () => {
    const project = await startedRun()
    const prompt = await reasonOf(project)
    project.write(REPORT, 'x')

    const red = await project.cli(['workflow', 'check', '7'], { env: ENV })
    project.write('fixed', '')
    const green = await project.cli(['workflow', 'check', '7', '--json'], { env: ENV })
    const again = await project.cli(['workflow', 'check', '7'], { env: ENV })
    const end = await project.hook(stop())

    expect(prompt).toContain(
      `Then run \`postflight workflow check 007_x --root ${project.dir}\`. It runs the check \`echo ran`,
    )
    expect(red.status).toBe(1)
    expect(red.stdout).toMatch(
      /^the check `echo ran.*` failed \(exit code 1; .*\)\. The end of its output:\n {2}test 7 failed\n$/,
    )
    expect(green.json()).toMatchObject({ result: 'passed', receipt: 'checks/build/1-1.json', failed: null })
    expect(again.stdout).toContain('was not run again')
    expect(ran(project)).toBe(2)
    expect(checksIn(project)).toEqual([
      expect.stringMatching(/^check failed: echo ran.* \(exit code 1; .* s\)$/),
      expect.stringMatching(/^check passed: echo ran.* \(.* s\)$/),
    ])
    expect(end.answer.decision).toBe(undefined)
    expect(state(project)).toMatchObject({ outcome: 'completed' })
    const report = (await project.cli(['report', '7'])).stdout
    expect(report).toContain('Run flow: completed')
    expect(report, 'a check of a phase is not a promise').not.toContain('Promise')
  })

  it('counts an attempt where it was never run, and the next prompt says so', async () => {
    const project = await startedRun()
    await reasonOf(project)
    project.write(REPORT, 'x')

    const reason = await reasonOf(project)

    expect(reason).toContain('attempt 2 of 3')
    expect(reason).toContain('Problem with the last result: the check `echo ran')
    expect(reason).toContain(`was not run: \`postflight workflow check 007_x --root ${project.dir}\` runs it`)
    expect(ran(project)).toBe(0)
  })

  it('shows the output of a failed one in the next prompt', async () => {
    const project = await startedRun()
    await reasonOf(project)
    project.write(REPORT, 'x')
    await project.cli(['workflow', 'check', '7'], { env: ENV })

    const reason = await reasonOf(project)

    expect(reason).toContain('attempt 2 of 3')
    expect(reason).toMatch(
      /failed \(exit code 1\); `postflight workflow check .*` runs it again\. The end of its output:\ntest 7 failed\n/,
    )
    expect(ran(project)).toBe(1)
  })

  it.each([
    ['a bound file', (project: Project) => project.write('src/code.ts', 'other')],
    ['the time of a bound file', (project: Project) => utimesSync(project.at('src/code.ts'), 1, 1)],
    ['the artifact', (project: Project) => project.write(REPORT, 'y')],
  ])('is void after a change of %s, and is run again', async (_, change) => {
    const project = await startedRun()
    await reasonOf(project)
    project.write(REPORT, 'x')
    project.write('fixed', '')
    await project.cli(['workflow', 'check', '7'], { env: ENV })
    change(project)

    const reason = await reasonOf(project)
    const again = await project.cli(['workflow', 'check', '7'], { env: ENV })
    await project.hook(stop())

    expect(reason).toMatch(/changed after the check `.*` had run, so its result no longer counts/)
    expect(again.status).toBe(0)
    expect(ran(project)).toBe(2)
    expect(state(project)).toMatchObject({ outcome: 'completed' })
  })

  it('does not pass with a receipt of another run, another command or a garbled one', async () => {
    const project = await startedRun()
    await reasonOf(project)
    project.write(REPORT, 'x')
    project.write('fixed', '')
    await project.cli(['workflow', 'check', '7'], { env: ENV })
    const receipt = 'specs/007_x/checks/build/1-1.json'
    const good = JSON.parse(project.read(receipt))

    for (const bad of [
      { ...good, run: 'wf_other' },
      { ...good, command: 'true' },
      { ...good, files: 'x'.repeat(9) && [1] },
      'x',
    ]) {
      project.write(receipt, JSON.stringify(bad))
      const { stdout } = await project.cli(['workflow', 'next', '7', '--peek', '--json'], { env: ENV })
      expect(JSON.parse(stdout).command).toBe('prompt')
    }
  })

  it('is not run before the artifact is there', async () => {
    const project = await startedRun()

    const run = await project.cli(['workflow', 'check', '7', '--json'], { env: ENV })

    expect(run.status).toBe(1)
    expect(run.json()).toMatchObject({ result: 'too-early', receipt: null })
    expect(ran(project)).toBe(0)
  })
})

describe('workflow next', () => {
  it('runs the check itself: it fails, is reported, is fixed and passes', async () => {
    const project = await startedRun({}, {})
    const next = async () => (await project.cli(['workflow', 'next', '7', '--json'])).json()
    await next()
    project.write(REPORT, 'x')

    const red = await next()
    project.write('fixed', '')
    project.write(REPORT, 'y')
    const end = await next()

    expect(red).toMatchObject({
      command: 'prompt',
      attempt: 2,
      prompt: expect.stringContaining('The end of its output:\ntest 7 failed'),
    })
    expect(end).toMatchObject({ command: 'finish', outcome: 'completed' })
    expect(ran(project)).toBe(2)
  })

  it('runs nothing with --peek', async () => {
    const project = await startedRun({}, {})
    project.write(REPORT, 'x')

    await project.cli(['workflow', 'next', '7', '--peek'])

    expect(ran(project)).toBe(0)
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

  it.each([[['check', '7']], [['next', '7']], [['resume', '7']]])(
    'workflow %j runs no command that this user has not started',
    async (words) => {
      const project = await clonedRun()

      const run = await project.cli(['workflow', ...words], { env: ENV })

      expect(run.status).toBe(1)
      expect(run.stderr).toMatch(
        /runs commands \(`echo ran.*`\) that you have not started.*`postflight workflow resume 007_x --trust`/,
      )
      expect(ran(project)).toBe(0)
    },
  )

  it('resume --trust names the commands, and lets them run', async () => {
    const project = await clonedRun()

    const resumed = await project.cli(['workflow', 'resume', '7', '--trust'], { env: ENV })
    const run = await project.cli(['workflow', 'check', '7'], { env: ENV })

    expect(resumed.stdout).toContain('trusted from now on: echo ran >> ran;')
    expect(run.status).toBe(0)
    expect(ran(project)).toBe(1)
  })

  it('does not outlive a change of the commands', async () => {
    const project = await startedRun()
    project.write(REPORT, 'x')
    const changed = state(project)
    changed.definition.phases[0].check.run = 'touch harm'
    project.write('specs/007_x/workflow/state.json', JSON.stringify(changed))

    const run = await project.cli(['workflow', 'check', '7'], { env: ENV })

    expect(run.status).toBe(1)
    expect(project.has('harm')).toBe(false)
  })

  it('is the driving session’s where nothing can be noted outside of the repository', async () => {
    const project = createSourceProject()
    const unwritable = { ...ENV, XDG_STATE_HOME: project.at('flow.json') }
    project.write('flow.json', flow({ run: 'touch ran' }))
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], { env: unwritable })
    project.write(REPORT, 'x')

    const other = await project.cli(['workflow', 'check', '7'], {
      env: { ...unwritable, CLAUDE_CODE_SESSION_ID: 'other' },
    })
    const own = await project.cli(['workflow', 'check', '7'], { env: unwritable })

    expect(other.status).toBe(1)
    expect(own.status).toBe(0)
    expect(existsSync(`${project.home}/.local`)).toBe(false)
  })
})

describe('the receipt of a check', () => {
  it('is void when an artifact of any size gets other bytes, also with the old time', async () => {
    for (const size of [3, 5_000_000]) {
      const project = await startedRun({ run: 'echo ran >> ran' })
      const bytes = Buffer.alloc(size, 0x80)
      writeFileSync(project.write(REPORT, ''), bytes)
      const { atime, mtime } = statSync(project.at(REPORT))
      expect((await project.cli(['workflow', 'check', '7'], { env: ENV })).status).toBe(0)
      // Another byte that is not UTF-8 either, at the same time.
      writeFileSync(project.at(REPORT), Buffer.concat([bytes.subarray(1), Buffer.from([0x81])]))
      utimesSync(project.at(REPORT), atime, mtime)

      const again = await project.cli(['workflow', 'check', '7', '--json'], { env: ENV })

      expect(again.json().message).not.toContain('was not run again')
      expect(ran(project)).toBe(2)
    }
  })

  describe('and its artifact', () => {
    const RECEIPT = 'specs/007_x/checks/build/1-1.json'
    const SMALL = 1_000
    const LARGE = 4_194_305

    /** A run whose check was green on an artifact of this size. */
    async function checkedRun(size: number): Promise<Project> {
      const project = await startedRun({ run: 'echo ran >> ran' })
      writeFileSync(project.write(REPORT, ''), Buffer.alloc(size, 0x61))
      expect((await project.cli(['workflow', 'check', '7'], { env: ENV })).status).toBe(0)
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

    it('is not read at a stop while its size and times are those of the receipt', async () => {
      const project = await checkedRun(SMALL)
      changeReceipt(project, { artifact: 'another hash' })

      expect(await passes(project)).toBe(true)
    })

    it('is hashed where only its times differ', async () => {
      const project = await checkedRun(SMALL)
      touch(project)

      expect(await passes(project)).toBe(true)
    })

    it('is never hashed above 4 MiB: its size and times decide', async () => {
      const [same, touched] = [await checkedRun(LARGE), await checkedRun(LARGE)]
      touch(touched)

      expect(JSON.parse(same.read(RECEIPT)).artifact).toBe('')
      expect(await passes(same)).toBe(true)
      expect(await passes(touched)).toBe(false)
      await touched.cli(['workflow', 'check', '7'], { env: ENV })
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
    const project = createSourceProject()
    project.write('flow.json', flow({ run: 'true', files: ['**'] }))
    project.write('specs/archive/003_old/plan.md', 'x')
    project.write('specs/workflow/plan.md', 'x')
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], { env: ENV })
    project.write(REPORT, 'x')
    project.write('specs/archive/003_old/workflow/state.json', '{}')
    project.write('specs/008_other/.postflight-pending', '{}')
    const ours = ['checks/build/2-1.json', 'checks/build/1-1.json.7-x-1.tmp', 'artifacts/build/1-report.md']
    for (const file of ours) project.write(`specs/007_x/${file}`, 'x')
    const own = ['checks/list.md', 'checks/build/rules.json', 'artifacts/drawing.svg', 'artifacts/build/notes.md']
    for (const file of own) project.write(`specs/007_x/${file}`, 'x')

    await project.cli(['workflow', 'check', '7'], { env: ENV })

    const { files } = JSON.parse(project.read('specs/007_x/checks/build/1-1.json'))
    const names: string[] = files.map((file: { path: string }) => file.path)
    expect(names).toEqual(
      expect.arrayContaining(['../../flow.json', '../archive/003_old/plan.md', '../workflow/plan.md', ...own]),
    )
    expect(names.filter((name) => /postflight|007_x.workflow|state\.json/.test(name) || ours.includes(name))).toEqual(
      [],
    )
    const again = await project.cli(['workflow', 'check', '7'], { env: ENV })
    expect(again.stdout).toContain('so it was not run again')
  })

  it('is refused with its own words where the state has a pattern that is not allowed', async () => {
    const project = createSourceProject()
    project.write('flow.json', flow({ run: 'true', files: ['src/*'] }))
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], { env: ENV })
    project.write(REPORT, 'x')
    const state = 'specs/007_x/workflow/state.json'
    project.write(state, project.read(state).replaceAll('src/*', 'src/{1..100000}'))
    await project.cli(['workflow', 'resume', '7', '--trust'], { env: ENV })

    const { status, stderr } = await project.cli(['workflow', 'check', '7'], { env: ENV })

    expect({ status, stderr }).toEqual({
      status: 65,
      stderr: expect.stringMatching(/^postflight: check\.files of phase "build" has a pattern that is not allowed/),
    })
  })

  it('names the files that its result is not bound to: links, and those in node_modules', async () => {
    const project = createSourceProject()
    project.write('flow.json', flow({ run: 'true', files: ['src/**', 'node_modules/dep/index.js', '**/*.js'] }))
    project.write('node_modules/dep/index.js', '1')
    project.write('src/real.ts', '1')
    symlinkSync('real.ts', project.at('src/link.ts'))
    symlinkSync(project.at('node_modules'), project.at('src/deps'))
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], { env: ENV })
    project.write(REPORT, 'x')

    const run = await project.cli(['workflow', 'check', '7'], { env: ENV })

    expect(run.stdout).toContain(
      'its result is not bound to src/deps (a link), src/link.ts (a link), node_modules/dep/index.js (node_modules) and node_modules (node_modules): a change there does not make it void\n',
    )
  })

  it('is bound to at most 2,000 files', async () => {
    const project = await startedRun()
    for (let number = 0; number < 2_001; number++) project.write(`src/${number}`, '')
    project.write(REPORT, 'x')

    const run = await project.cli(['workflow', 'check', '7'], { env: ENV })

    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('names more than 2000 files') })
    expect(ran(project)).toBe(0)
  })
})
