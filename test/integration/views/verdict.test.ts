import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, stop } from '../../support/payloads.ts'
import { CLI, runProcess } from '../../support/process.ts'
import { createSourceProject, hoursAgo, type Project } from '../../support/project.ts'

/**
 * The verdict of `status --exit-code` where a file is gone, and what a green one says. Which entries of the journal tell of
 * a missing file is in unit/project/marker-record.test.ts.
 */

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const OTHER = { CLAUDE_CODE_SESSION_ID: OTHER_SESSION }
const MARKER = 'specs/259_x/.postflight-pending'
const JOURNAL = 'specs/.postflight/journal.jsonl'

/** A project in which `create` wrote the marker of task 259. */
async function made(...options: string[]): Promise<Project> {
  const project = createSourceProject()
  const run = await project.cli(['create', '259', 'x', '--agent', 'main', ...options], { env: ENV })
  expect(run.status, run.stderr).toBe(0)
  return project
}

function remove(project: Project, ...names: string[]): void {
  for (const name of names) rmSync(project.at(name), { recursive: true })
}

async function verdict(project: Project, ...words: string[]) {
  const run = await project.cli(['status', '--exit-code', '--json', ...words])
  const { items } = run.json()
  return { status: run.status, kinds: items.map(({ kind }: { kind: string }) => kind), json: run.json() }
}

const ours = (words: string) => (project: Project) => project.cli(words.split(' '), { env: ENV })

function moveToArchive(project: Project): void {
  project.write('specs/archive/x', '')
  renameSync(project.at('specs/259_x'), project.at('specs/archive/259_x'))
}

const RED = { status: 1, kinds: ['removed'] }
const GREEN = { status: 0, kinds: [] }

/** Gives the marker of task 259 up: three blocked stops, and one that is let through. */
async function giveUp(project: Project): Promise<void> {
  for (let count = 0; count < 4; count++) await project.hook(stop())
  expect(project.has('specs/259_x/.postflight-abandoned')).toBe(true)
}

describe.concurrent('a marker that was removed by hand', () => {
  it('makes the verdict red, until `clear` of its task accepts it, and blocks no stop', async () => {
    const project = await made('--operation', 'plan')
    expect(await verdict(project)).toMatchObject({ status: 1, kinds: ['pending'] })
    remove(project, MARKER)
    expect(await verdict(project)).toMatchObject(RED)
    for (const event of [stop(), stop({ hook_event_name: 'SessionStart', source: 'startup' })]) {
      expect((await project.hook(event)).answer).toEqual({})
    }
    const human = await project.cli(['status'])
    expect(human.status).toBe(0)
    expect(human.stdout).toMatch(/^✗ removed by hand: specs\/259_x · in the journal \d+ s ago · session /)
    expect(human.stdout).toContain('  → if its postflight is done or no longer wanted: postflight clear 259_x')
    const stdout = 'settled specs/259_x: its marker was removed by hand, and its file is gone\n'
    expect(await project.cli(['clear', 'specs/259_x/'])).toMatchObject({ status: 0, stdout })
    expect(await verdict(project)).toMatchObject(GREEN)
    expect((await project.cli(['clear', '259'])).stdout).toBe('nothing to clear\n')
    // Another program wrote to the journal.
    const odd = ['x'.repeat(300), 'x\0y'].map(
      (task, at) => `${JSON.stringify({ ...project.journal()[0], task, marker_id: `pf_00000000000${at}` })}\n`,
    )
    project.write(JOURNAL, odd.join(''))
    expect(await verdict(project)).toMatchObject({ status: 1, kinds: ['removed', 'removed'] })
  })

  it('is one whose whole folder was removed, too, and is accepted without it', async () => {
    const project = await made()
    remove(project, 'specs/259_x')
    expect((await project.cli(['clear', '259', '--dry-run'])).stdout).toMatch(/^would settle specs\/259_x/)
    expect(await verdict(project)).toMatchObject(RED)
    await project.cli(['clear', '259_x'])
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it('is accepted by `clear --all`, and not by `clear --orphaned` or by `clear` of another task', async () => {
    const project = await made()
    remove(project, MARKER)
    await project.cli(['clear', '300'])
    await project.cli(['clear', '--orphaned'])
    expect(await verdict(project)).toMatchObject(RED)
    await project.cli(['clear', '--all'])
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it.each<[string, (project: Project) => unknown]>([
    ['was cleared', ours('clear 259')],
    ['was replaced', (project) => project.cli(['create', '259', '--force', '--operation', 'o2'], { env: OTHER })],
    ['was adopted and cleared', (project) => project.cli(['adopt', '259'], { env: OTHER })],
    ['was bypassed, which the hook removes', (project) => ours('bypass 259')(project).then(() => project.hook(stop()))],
    ['lies in another folder: its id is searched', moveToArchive],
  ])('is not one that %s', async (_what, end) => {
    const project = await made('--operation', 'o')
    await end(project)
    expect((await verdict(project)).kinds).not.toContain('removed')
    await project.cli(['clear', '259'], { env: OTHER })
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it('counts for 24 hours, and with --session for each of its sessions at any time', async () => {
    const project = await made()
    remove(project, MARKER)
    const [line] = project.journal()
    project.write(JOURNAL, `${JSON.stringify({ ...line, time: hoursAgo(25) })}\n`)
    expect(await verdict(project)).toMatchObject(GREEN)
    expect(await verdict(project, '--session', SESSION)).toMatchObject(RED)
    expect(await verdict(project, '--session', OTHER_SESSION)).toMatchObject(GREEN)
  })

  it('is remembered in the old journal after a rotation', async () => {
    const project = await made()
    remove(project, MARKER)
    renameSync(project.at(JOURNAL), project.at('specs/.postflight/journal.old.jsonl'))
    expect(await verdict(project)).toMatchObject(RED)
  })

  it('is one again if `create` makes another marker, until that one passes its checks', async () => {
    const project = await made('--check', 'test -e done')
    remove(project, MARKER)
    // The clock is set back.
    project.write(JOURNAL, `${JSON.stringify({ ...project.journal()[0], time: hoursAgo(-1) })}\n`)
    // Its own session cannot get rid of the checks.
    for (const words of [['259'], ['--all'], ['259', '--unchecked']]) {
      const run = await project.cli(['clear', ...words], { env: ENV })
      expect(run.status, words.join(' ')).toBe(1)
      expect(run.stdout).toContain('was removed by hand, and its checks (`test -e done`) have not passed since')
    }
    await project.cli(['create', '259', '--agent', 'main'], { env: ENV })
    expect(await project.cli(['clear', '259', '--json'], { env: ENV })).toMatchObject({ status: 1 })
    expect(await verdict(project)).toMatchObject(RED)
    await project.cli(['create', '259', '--agent', 'main', '--check', 'test -e done'], { env: ENV })
    project.write('done', '')
    expect(await ours('clear 259')(project)).toMatchObject({ status: 0 })
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it.each<[string, string[], Record<string, string>, boolean]>([
    ['`clear --all`', ['--all'], {}, false],
    ['`clear --all` at a terminal', ['--all'], {}, true],
    ['`clear 259` of another session', ['259'], OTHER, false],
    ['`clear 259` of another session at a terminal', ['259'], OTHER, true],
    ['`clear 259` of a program', ['259'], {}, false],
    ['`clear 259` in a shell of Claude Code at a terminal', ['259'], { CLAUDECODE: '1' }, true],
  ])('with checks is not accepted by %s, but with --unchecked', async (_what, words, env, atTerminal) => {
    const project = await made('--check', 'false')
    remove(project, MARKER)
    const options = { env, answers: atTerminal ? [] : undefined }
    const run = await project.cli(['clear', ...words], options)
    const stdout = expect.stringMatching(/have not passed since.*`--unchecked` settles it\./)
    expect(run).toMatchObject({ status: 1, stdout })
    expect(await verdict(project)).toMatchObject(RED)
    expect(await project.cli(['clear', ...words, '--unchecked'], options)).toMatchObject({ status: 0 })
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it('with checks is accepted by a person who names the task at a terminal', async () => {
    const project = await made('--check', 'false')
    remove(project, MARKER)
    expect(await project.cli(['clear', '259'], { answers: [] })).toMatchObject({ status: 0 })
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it('is nothing that `clear` speaks of after it has removed the marker, even if the journal cannot be written', async () => {
    const project = await made('--check', 'true')
    const before = project.read(JOURNAL)
    remove(project, JOURNAL)
    project.write('journal', before)
    symlinkSync(project.at('journal'), project.at(JOURNAL))
    const run = await ours('clear 259')(project)
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('not recorded in the journal') })
    expect(run.stdout).not.toContain('by hand')
  })
})

it('a marker that is made or cleared while the verdict looks is not one that was removed by hand', async () => {
  const project = await made()
  const lock = 'specs/259_x/.postflight-lock'
  const before = project.read(JOURNAL)
  await ours('clear 259')(project)
  const after = project.read(JOURNAL)
  // As on a slow disk: `clear` has removed the marker, and still holds its lock.
  project.write(JOURNAL, before)
  project.write(lock, '')
  setTimeout(() => {
    project.write(JOURNAL, after)
    remove(project, lock)
  }, 700)
  const commands = 'for _ in 1 2 3 4 5 6; do "$0" "$1" clear 259; "$0" "$1" create 259 --agent main; done'
  let isOver = false
  const options = { cwd: project.dir, env: { ...project.env, ...ENV }, limitMs: 50_000 }
  expect(await runProcess(process.execPath, [CLI, 'status', '--exit-code'], options)).toMatchObject({ status: 0 })
  await ours('create 259 --agent main')(project)
  const others = runProcess('sh', ['-c', commands, process.execPath, CLI], options)
  others.finally(() => {
    isOver = true
  })
  const seen = new Set<string>()
  while (!isOver) for (const kind of (await verdict(project)).kinds) seen.add(kind)
  expect((await others).status).toBe(0)
  expect([...seen]).toEqual(['pending'])
})

describe.concurrent('an abandoned marker that was removed by hand', () => {
  const ABANDONED = 'specs/259_x/.postflight-abandoned'

  const WAYS: [string, string, (project: Project) => Promise<unknown>][] = [
    ['cleared without its checks', 'unchecked', ours('clear 259 --unchecked')],
    ['given up, without its note too', 'abandoned', giveUpWithoutNote],
    ['bypassed', 'unchecked', (project) => ours('bypass 259')(project).then(() => project.hook(stop()))],
    ['replaced by one without checks', 'unchecked', ours('create 259 --force --operation o2 --agent main')],
    ['adopted for another session', 'unchecked', ours(`adopt 259 --host-session ${OTHER_SESSION}`)],
  ]

  it.each(WAYS)('makes the verdict red until a person settles it: %s', async (_what, kind, end) => {
    const project = await made('--check', 'false')
    await end(project)
    remove(project, ABANDONED)
    await ours('clear 259')(project)
    expect(project.has(MARKER)).toBe(false)
    expect(await verdict(project)).toMatchObject({ status: 1, kinds: [kind] })
    const { stdout } = await project.cli(['status', '--github'])
    expect(stdout).toContain('the abandoned marker was removed by hand. Its checks have not passed since ("false").')
    const settled = await project.cli(['clear', '259'], { answers: [] })
    expect(settled.stdout).toMatch(/^settled specs\/259_x: its marker (?:ended|was given up)/)
    expect(await verdict(project)).toMatchObject(GREEN)
  })

  it.each(WAYS)('is not one that `clear` removed after its checks: %s', async (_what, _kind, end) => {
    const project = await made('--check', 'test -e done')
    await end(project)
    expect(project.has(ABANDONED)).toBe(true)
    project.write('done', '')
    expect(await ours('clear 259')(project)).toMatchObject({ status: 0 })
    await project.cli(['clear', '259'])
    expect(project.has(ABANDONED)).toBe(false)
    expect(await verdict(project, '--expect', '259')).toMatchObject(GREEN)
  })

  it('is not one that was adopted and then cleared', async () => {
    const project = await made('--check', 'test -e done')
    await giveUpWithoutNote(project)
    await project.cli(['adopt', '259', '--agent', 'main'], { env: ENV })
    project.write('done', '')
    await ours('clear 259')(project)
    expect(await verdict(project)).toMatchObject(GREEN)
  })
})

/** The same without the note about it, which `git clean -fdx` removes. */
async function giveUpWithoutNote(project: Project): Promise<void> {
  await giveUp(project)
  remove(project, 'specs/.postflight/given-up')
}

describe.concurrent('the verdict and a hostile journal', () => {
  it('is red if the journal cannot be read', async () => {
    const project = createSourceProject({ files: { elsewhere: '', 'specs/.postflight/x': '' } })
    symlinkSync(project.at('elsewhere'), project.at(JOURNAL))
    const { status, json } = await verdict(project)
    expect(status).toBe(1)
    expect(json.items).toMatchObject([{ kind: 'unsearched', path: JOURNAL }])
  })

  it('never prints what a terminal would obey, and never takes it for another annotation', async () => {
    const project = await made()
    remove(project, MARKER)
    const [line] = project.journal()
    const hostile = { ...line, task: 'a\u001b[2J\r\n::error::forged\u202e%0A', host_session: 's\u001b[31m' }
    project.write(JOURNAL, `not json\n[1]\nnull\n${JSON.stringify(hostile)}\n`)
    const human = await project.cli(['status'])
    const github = await project.cli(['status', '--github'])
    for (const { stdout } of [human, github]) expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(github.stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(github.stdout).toContain('%250A')
    expect(await project.cli(['clear', '--all'])).toMatchObject({ status: 0 })
  })

  it('is red if the journal is longer than ours can be: its beginning may have been hidden', async () => {
    const project = await made()
    remove(project, MARKER)
    project.write(JOURNAL, `${project.read(JOURNAL)}${'x'.repeat(2_097_152)}\n`)
    const { status, json } = await verdict(project)
    expect(status).toBe(1)
    expect(json.items).toMatchObject([{ kind: 'unsearched', message: expect.stringContaining('larger than 2097152') }])
  })
})

it.concurrent('a green verdict says what was cleared, and which checks passed', async () => {
  const project = await made('--check', 'true')
  await ours('clear 259')(project)
  await project.cli(['create', '7', 'y', '--agent', 'main'], { env: ENV })
  await project.cli(['clear', '7'], { env: ENV })
  const run = await project.cli(['status', '--exit-code', '--github'])
  const stdout = `2 cleared, 1 of them with checks (passed: true), none pending in ${project.dir}\n`
  expect(run).toMatchObject({ status: 0, stdout })
  expect((await verdict(project)).json).toMatchObject({ cleared: 2, checks_passed: ['true'] })
  const ofSession = await project.cli(['status', '--session', SESSION])
  expect(ofSession.stdout).toBe(stdout.replace(project.dir, `session ${SESSION}`))
})

describe.concurrent('status --expect', () => {
  it('is 0 only after that task’s marker was made and cleared', async () => {
    const project = await made('--check', 'true')
    const expected = async () => (await project.cli(['status', '--expect', '259'])).status
    expect(await expected()).toBe(1)
    await ours('clear 259')(project)
    expect(await expected()).toBe(0)
    expect((await project.cli(['status', '--expect', 'specs/259_x/', '--session', SESSION])).status).toBe(0)
    expect((await project.cli(['status', '--expect', '259', '--session', OTHER_SESSION])).status).toBe(1)
    expect((await project.cli(['--expect', '259', '--expect', '260', '--quiet'])).status).toBe(1)
  })

  it('says what is missing, once for each task, also in a wrong folder, and refuses what cannot be a task', async () => {
    const project = await made('--check', 'true', '--check', 'false')
    const run = await project.cli(['status', '--github', '--expect', '259', '--expect', '260', '--expect', '260'])
    expect(run.status).toBe(1)
    expect(run.stdout.trimEnd().split('\n')).toEqual([
      '::error title=postflight pending,file=specs/259_x/.postflight-pending::Task 259: its postflight is still pending.',
      `::error title=postflight expected,file=specs::Task 260: no marker was made, and no workflow completed, in ${project.dir}.`,
    ])
    expect((await project.cli(['status', '--expect', '260', '--session', OTHER_SESSION])).stdout).toBe(
      `✗ expected: Task 260: no marker was made by session ${OTHER_SESSION}, and no workflow completed, in ${project.dir}.\n`,
    )
    const empty = createSourceProject({ specs: false })
    const stdout = `✗ expected: Task 259: no marker was made, and no workflow completed, in ${empty.dir}.\n`
    expect(await empty.cli(['status', '--expect', '259'])).toMatchObject({ status: 1, stdout })
    expect((await project.cli(['status', '--expect', '../x'])).status).toBe(64)
  })

  it.each([
    ['bypass 259', 'its marker was not cleared.'],
    ['adopt 259', 'its marker was cleared, but without its checks ("true").'],
  ])('says that a marker ended without its checks: %s', async (words, said) => {
    const project = await made('--check', 'true')
    await project.cli(words.split(' '), { env: OTHER })
    await project.hook(stop())
    await project.cli(['clear', '259'], { env: OTHER })
    expect(await project.cli(['status', '--expect', '259'])).toMatchObject({
      status: 1,
      stdout: expect.stringContaining(said),
    })
  })

  it('is 0 for a task whose workflow was completed, and red for every other end of it', async () => {
    const project = createSourceProject()
    const phases = [{ id: 'plan', prompt: 'Plan.', artifact: 'plan.md' }]
    project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
    const expected = async (...words: string[]) => (await project.cli(['status', '--expect', '259', ...words])).status
    for (const task of ['259', '260']) {
      await project.cli(['workflow', 'start', task, 'x', '--definition', 'flow.json'], { env: ENV })
    }
    expect(await expected()).toBe(1)
    project.write('specs/259_x/plan.md', 'x')
    await project.cli(['workflow', 'next', '259'], { env: ENV })
    await project.cli(['workflow', 'abort', '260'], { env: ENV })
    expect(await expected()).toBe(0)
    expect(await expected('--session', SESSION)).toBe(0)
    expect(await expected('--session', OTHER_SESSION)).toBe(1)
    expect((await project.cli(['status', '--expect', '260'])).stdout).toContain(
      'Task 260: no marker was made, and no workflow',
    )
    expect((await project.cli(['status'])).stdout).toMatch(/^1 workflow completed, none pending in /)
    await project.cli(['create', '259', '--agent', 'main'], { env: ENV })
    remove(project, MARKER)
    expect(await expected()).toBe(1)
  })
})

it.concurrent('an annotation reads like a sentence', async () => {
  const project = await made('--check', 'exit 1', '--step', 'commit')
  await ours('clear 259')(project)
  await giveUp(project)
  expect((await project.cli(['status', '--github'])).stdout).toBe(
    '::error title=postflight abandoned,file=specs/259_x/.postflight-abandoned::Task 259: the agent gave up after 3 blocked stops. Check "exit 1" failed (exit 1). Not ticked: "commit".\n',
  )
})

describe.concurrent('postflight without a command', () => {
  it.each([
    [['--github', '--exit-code']],
    [['--session', SESSION, '--exit-code', '--json']],
    [['--quiet', '--exit-code']],
  ])('takes the options of status: %j', async (words) => {
    const project = await made()
    const run = await project.cli(words)
    const withoutAges = (text: string): string => text.replace(/\d+(?: s|,)/g, 'some time')
    expect(run.status, run.stderr).toBe(1)
    expect(withoutAges(run.stdout)).toBe(withoutAges((await project.cli(['status', ...words])).stdout))
  })
})
