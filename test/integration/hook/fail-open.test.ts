import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { canRun, HOOK_BUNDLE, LAUNCHER, runProcess, skipNote } from '../../support/process.ts'
import {
  claudeHookEnv,
  copyPackage,
  createProject,
  type HookOptions,
  type Project,
  type ProjectOptions,
  withoutPrivileges,
} from '../../support/project.ts'

const OWNED = { cc_session_id: SESSION, agent_id: 'agent-a', reason: 'pending' }
const UNOWNED = { reason: 'pending' }
const FOLDER = 'specs/259_x'
const MARKER = `${FOLDER}/.postflight-pending`

/** The hook must answer within this time (ms), whatever happens to its stdin. */
const LIMIT_MS = 5000

/** A hook that answers within this time (ms) has not waited for its stdin. */
const AT_ONCE_MS = 2900

/** For the rows of a long table: a few of its rows start the process that a host starts. */
const SOURCES: ProjectOptions = { sources: true }

function withMarker(fields: Readonly<Record<string, unknown>> | string, options: ProjectOptions = {}): Project {
  const project = createProject(options)
  project.marker('259_x', fields)
  return project
}

// Other texts that are no payload, and other forms of one, are rows of unit/hosts/payload.test.ts.
describe.concurrent('an invalid stdin allows the stop, touches nothing, and is reported on stderr', () => {
  const nested = 20_000
  it.each<[string, HookOptions, ProjectOptions?]>([
    ['half an object', { input: JSON.stringify(subagentStop()).slice(0, -20) }],
    ['an array', { input: '[]' }, SOURCES],
    ['binary', { input: randomBytes(65_536) }, SOURCES],
    ['NULs', { input: new Uint8Array(4096) }, SOURCES],
    ['10 MB of binary', { input: randomBytes(10_000_000) }],
    ['half of 10 MB', { input: `{"session_id":"${'x'.repeat(10_000_000)}` }, SOURCES],
    ['an array nested 20,000 deep', { input: '['.repeat(nested) + ']'.repeat(nested) }, SOURCES],
    ['half an array nested 20,000 deep', { input: '['.repeat(nested) }],
    ['endless spaces', { endless: ' '.repeat(65_536) }],
    ['an endless object', { endless: `{"a":"${'b'.repeat(65_536)}` }],
    ['endless objects', { endless: `${JSON.stringify({ session_id: SESSION, x: 'y'.repeat(5000) })}\n`.repeat(20) }],
    ['half an object on a pipe that stays open', { input: '{"session_id":', keepOpen: true }],
  ])('%s', async (_what, stdin, options) => {
    const project = withMarker(UNOWNED, options)
    const before = project.snapshot()
    const run = await project.hook(undefined, stdin)
    expect(run.stdout).toBe('{}\n')
    expect(run.stderr).toMatch(/^postflight-guard: the stop was allowed: [^\n]+\n$/)
    expect(run.stderr.length).toBeLessThan(2000)
    expect(run.durationMs).toBeLessThan(LIMIT_MS)
    expect(project.snapshot()).toEqual(before)
  })
})

// One after another: this process feeds the endless rows above, and meanwhile it would feed these too late.
describe('a valid stdin is answered as usual', () => {
  it('of 10 MB', async () => {
    const project = withMarker(OWNED)
    const input = JSON.stringify(subagentStop({ last_assistant_message: 'x'.repeat(10_000_000) }))
    expect((await project.hook(undefined, { input })).answer.decision).toBe('block')
  })

  it.each([1, 300_000])('on a pipe that stays open, at once: a message of %i characters', async (length) => {
    const input = JSON.stringify(subagentStop({ last_assistant_message: 'x'.repeat(length) }))
    const run = await withMarker(OWNED).hook(undefined, { input, keepOpen: true })
    expect(run.answer.decision).toBe('block')
    expect(run.durationMs).toBeLessThan(AT_ONCE_MS)
  })
})

describe('an empty stdin is the stop of an unknown sub-agent, as for the shell hook that never reads stdin', () => {
  it.each([
    ['end of file', '"$HOOK" < /dev/null'],
    ['closed', '"$HOOK" <&-'],
    ['a folder', '"$HOOK" < .'],
  ])('%s', async (_what, script) => {
    const held = await withMarker(UNOWNED).shell(script, { env: { HOOK: LAUNCHER } })
    const notHeld = await withMarker(OWNED).shell(script, { env: { HOOK: LAUNCHER } })
    expect(held).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(held.stdout)).toMatchObject({ decision: 'block' })
    expect(notHeld).toMatchObject({ status: 0, stdout: '{}\n', stderr: '' })
  })

  it('open and silent: answered within 5 s, and reported on stderr', async () => {
    const run = await withMarker(UNOWNED).hook(undefined, { input: 'open' })
    expect(run).toMatchObject({ answer: { decision: 'block' }, stderr: expect.stringMatching(/^[^\n]+ms\)[^\n]+\n$/) })
    expect(run.durationMs).toBeLessThan(LIMIT_MS)
  })

  const hasScript = canRun('script -qec true /dev/null')
  it.runIf(hasScript)(`a terminal: answered at once${skipNote(hasScript, 'script is not installed')}`, async () => {
    const run = await withMarker(UNOWNED).shell(`script -qec '"${LAUNCHER}"' /dev/null`, { input: 'open' })
    expect(JSON.parse(run.stdout)).toMatchObject({ decision: 'block' })
    expect(run.durationMs).toBeLessThan(AT_ONCE_MS)
  })
})

describe.concurrent('without a marker the answer does not wait for stdin', () => {
  it.each([
    ['open and silent', 'open'],
    ['a million characters', 'x'.repeat(1_000_000)],
  ])('%s', async (_what, input) => {
    const run = await createProject().hook(undefined, { input })
    expect(run).toMatchObject({ stdout: '{}\n', stderr: '' })
    expect(run.durationMs).toBeLessThan(AT_ONCE_MS)
  })
})

describe.concurrent('an agent with limited permissions', () => {
  /** What the hook answers while `name` has these rights. */
  async function answer(project: Project, name: string, mode: number, env: Record<string, string> = {}) {
    chmodSync(project.at(name), mode)
    const user = withoutPrivileges(project)
    const run = await project.hook(subagentStop(), { ...user, program: [user.launcher], env })
    chmodSync(project.at(name), 0o755)
    expect(run.durationMs).toBeLessThan(LIMIT_MS)
    return run
  }

  it.each([
    ['an unreadable marker', MARKER, 0o000],
    ['a read-only task folder', FOLDER, 0o555],
    ['an unreadable loop guard', `${FOLDER}/.postflight-loop-guard`, 0o000],
    ['a read-only claims folder', `${FOLDER}/.postflight-claims`, 0o555],
    ['an unreadable claims folder', `${FOLDER}/.postflight-claims`, 0o333],
  ])('is not blocked by %s, and the user of Claude Code is notified', async (_what, name, mode) => {
    const project = withMarker(OWNED)
    if (name.endsWith('loop-guard')) project.write(name, '1\n')
    if (name.endsWith('claims')) mkdirSync(project.at(name))
    const before = project.snapshot(FOLDER)
    const run = await answer(project, name, mode, claudeHookEnv(project, SESSION))
    expect(run.answer).toEqual({ systemMessage: expect.stringContaining('so the stop was allowed') })
    expect(run.stderr).toContain('EACCES')
    expect(project.snapshot(FOLDER)).toEqual(before)
  })

  it.each(['specs', FOLDER])('is not blocked by an unsearchable folder: %s', async (name) => {
    const project = withMarker(OWNED)
    const before = project.snapshot()
    expect((await answer(project, name, 0o000)).stdout).toBe('{}\n')
    expect(project.snapshot()).toEqual(before)
  })

  it('is blocked even if the journal cannot be written', async () => {
    const run = await answer(withMarker(OWNED), 'specs', 0o555)
    expect(run.answer.decision).toBe('block')
    expect(run.stderr).toContain('journal.jsonl cannot be written to (EACCES)')
  })

  it('is blocked by a marker that can be counted, beside one that cannot', async () => {
    const project = withMarker(OWNED)
    project.marker('001_locked', { ...OWNED, reason: 'cannot be counted' })
    const run = await answer(project, 'specs/001_locked', 0o555)
    expect(run.answer.reason).toContain('Task 259_x')
    expect(run.answer.reason).not.toContain('cannot be counted')
    expect(run.stderr).toContain('specs/001_locked/.postflight-pending could not be used')
  })

  it('may stop every time when a spent marker cannot be renamed', async () => {
    const project = withMarker(OWNED)
    for (let index = 0; index < 3; index++) await project.hook(subagentStop())
    for (let index = 0; index < 2; index++) expect((await answer(project, FOLDER, 0o555)).stdout).toBe('{}\n')
    expect(project.has(MARKER)).toBe(true)
  })

  it('may stop when a bypassed marker cannot be removed', async () => {
    const run = await answer(withMarker({ ...OWNED, stop_hook_active: true }), FOLDER, 0o555)
    expect(run).toMatchObject({ stdout: '{}\n', stderr: expect.stringContaining('EACCES') })
  })
})

describe.concurrent('in the place of one of our files', () => {
  it.each([
    ['a folder for the marker', MARKER, 'mkdir'],
    ['a named pipe for the marker', MARKER, 'mkfifo'],
    ['a link for the marker', MARKER, 'ln -s ../../README'],
    ['a link to nothing for the marker', MARKER, 'ln -s nowhere'],
    ['a folder for the loop guard', `${FOLDER}/.postflight-loop-guard`, 'mkdir'],
    ['a named pipe for the loop guard', `${FOLDER}/.postflight-loop-guard`, 'mkfifo'],
    ['a link for the loop guard', `${FOLDER}/.postflight-loop-guard`, 'ln -s ../../README'],
    ['a file for the claims', `${FOLDER}/.postflight-claims`, 'touch'],
    ['a link for the claims', `${FOLDER}/.postflight-claims`, 'ln -s ../..'],
    ['a named pipe for the claims', `${FOLDER}/.postflight-claims`, 'mkfifo'],
    ['too many claims', `${FOLDER}/.postflight-claims`, 'mkdir "$NAME" && seq -f "$NAME/f1-%g.1" 1001 | xargs touch'],
  ])('%s allows the stop and stays as it is', async (_what, name, command) => {
    // Opening a pipe without a writer may wait for ever.
    const project = withMarker(OWNED, { sources: command !== 'mkfifo' })
    // What the hook removes if it lies in the marker's place.
    const precious = JSON.stringify({ ...OWNED, stop_hook_active: true })
    project.write('README', precious)
    await project.shell(`rm -f "$NAME" && ${command} "$NAME"`, { env: { NAME: project.at(name) } })
    const before = project.snapshot(FOLDER)
    const run = await project.hook(subagentStop(), { env: claudeHookEnv(project, SESSION) })
    expect(run.answer.systemMessage).toContain('so the stop was allowed')
    expect(run.durationMs).toBeLessThan(LIMIT_MS)
    expect(project.snapshot(FOLDER)).toEqual(before)
    expect(project.read('README')).toBe(precious)
  })

  it.each([
    ['a file for the journal’s folder', 'touch specs/.postflight'],
    ['a link for the journal’s folder', 'ln -s ../src specs/.postflight'],
    ['a folder for the journal', 'mkdir -p specs/.postflight/journal.jsonl'],
    ['a link for the journal', 'mkdir specs/.postflight && ln -s ../../README specs/.postflight/journal.jsonl'],
    ['a named pipe for the journal', 'mkdir specs/.postflight && mkfifo specs/.postflight/journal.jsonl'],
  ])('%s: the stop is blocked, and stderr says that nothing was recorded', async (_what, command) => {
    const project = withMarker(OWNED, { sources: !command.includes('mkfifo') })
    project.write('README', 'precious')
    mkdirSync(project.at('src'))
    await project.shell(command)
    const run = await project.hook(subagentStop())
    expect(run.answer.decision).toBe('block')
    expect(run.stderr).toMatch(/journal\.jsonl/)
    expect(run.durationMs).toBeLessThan(LIMIT_MS)
    expect(project.read('README')).toBe('precious')
    expect(project.snapshot('src')).toEqual({})
  })

  it('a folder for the abandoned marker: it stays, and the marker gets another name', async () => {
    const project = withMarker(OWNED)
    mkdirSync(project.at(`${FOLDER}/.postflight-abandoned`))
    for (let index = 0; index < 3; index++) await project.hook(subagentStop())
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    expect(Object.keys(project.snapshot(FOLDER))).toEqual(['.postflight-abandoned', '.postflight-abandoned.1'])
  })

  it('a folder for the lock: the stop of a spent marker is allowed, and the marker stays', async () => {
    const project = withMarker(OWNED)
    for (let index = 0; index < 3; index++) await project.hook(subagentStop())
    mkdirSync(project.at(`${FOLDER}/.postflight-lock`))
    const run = await project.hook(subagentStop(), { env: claudeHookEnv(project, SESSION) })
    expect(run.answer.systemMessage).toContain('so the stop was allowed')
    expect(run.durationMs).toBeLessThan(LIMIT_MS)
    expect(project.has(MARKER)).toBe(true)
  })
})

it.concurrent('a full disk allows the stop, counts nothing, and leaves every file as it was', async () => {
  const project = withMarker(OWNED)
  const before = project.snapshot(FOLDER)
  // With a limit of 0 bytes per file every write fails, as on a full disk. Pipes have no limit.
  const program = ['sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$0"', LAUNCHER] as const
  const run = await project.hook(subagentStop(), { program, env: claudeHookEnv(project, SESSION) })
  expect(run.answer.systemMessage).toContain('so the stop was allowed')
  const after = project.snapshot(FOLDER)
  expect(after['.postflight-pending']).toBe(before['.postflight-pending'])
  expect(Object.keys(after)).not.toContain('.postflight-loop-guard')
  expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
})

describe.concurrent('an answer that is not read', () => {
  it.each([
    ['pending', 'no JSON', ['stdout']],
    ['pending', 'no JSON', ['stdout', 'stderr']],
    ['nothing pending', undefined, ['stdout']],
    ['nothing pending', undefined, ['stdout', 'stderr']],
  ] as const)('is not an error: %s, %s, the readers of %j went away', async (_what, text, unread) => {
    const project = createProject()
    if (text !== undefined) project.marker('259_x', text)
    const run = await runProcess(LAUNCHER, [], { cwd: project.dir, env: project.env, input: '{', unread })
    expect({ status: run.status, signal: run.signal }).toEqual({ status: 0, signal: null })
  })

  it('is not an error if the complaint on stderr is lost too', async () => {
    const project = withMarker(UNOWNED)
    mkdirSync(project.at('empty'))
    const env = { PATH: project.at('empty') }
    const run = await runProcess('/bin/sh', [LAUNCHER], { cwd: project.dir, env, unread: ['stderr'] })
    expect(run).toMatchObject({ status: 0, signal: null, stdout: '{}\n' })
  })

  it.each([
    ['stdout is closed', '"$HOOK" >&-'],
    ['stdout is a full device', 'if [ -e /dev/full ]; then "$HOOK" > /dev/full; else "$HOOK" >&-; fi'],
    ['stderr is closed', '"$HOOK" 2>&- > /dev/null'],
    ['both are closed', '"$HOOK" >&- 2>&-'],
    ['all three are closed', '"$HOOK" <&- >&- 2>&-'],
  ])('is not an error: %s', async (_what, script) => {
    const pending = withMarker('no JSON')
    for (const project of [pending, createProject()]) {
      expect(await project.shell(script, { env: { HOOK: LAUNCHER } })).toMatchObject({ status: 0, signal: null })
    }
    expect(pending.read(MARKER)).toBe('no JSON')
  })
})

describe.concurrent('the hook’s surroundings', () => {
  const unfinished = `the hook did not finish (it needs Node 20.19, or 22.12 or later; its Node is ${process.version})`
  it.each(['node is not on the PATH', 'dist/hook.js is missing', unfinished])(
    '%s: the stop is allowed, stderr says so, and the user of Claude Code is told',
    async (what) => {
      const project = withMarker(UNOWNED)
      const copy = copyPackage(join(project.base, 'package'))
      mkdirSync(project.at('empty'))
      if (what.startsWith('dist')) rmSync(join(copy, 'dist'), { recursive: true })
      if (what === unfinished) writeFileSync(join(copy, 'dist', 'hook.js'), 'process.exit(2)')
      const path = what.startsWith('node') ? { PATH: project.at('empty') } : {}
      const program = ['/bin/sh', join(copy, 'hooks', 'postflight-hook')] as const
      const run = (env = {}) => project.hook(subagentStop(), { program, env: { ...env, ...path } })
      expect(await run()).toMatchObject({ stdout: '{}\n', stderr: expect.stringContaining(what) })
      const { answer } = await run(claudeHookEnv(project, SESSION))
      expect(answer).toEqual({ systemMessage: expect.stringContaining(what) })
    },
  )

  it('no process can be started: the stop is allowed, and stderr says so; the shell alone would end with 2', async () => {
    const project = withMarker(UNOWNED)
    const { uid, launcher } = withoutPrivileges(project)
    const before = project.snapshot()
    // The limit is -p in dash, and -u in other shells.
    const program = ['/bin/sh', '-c', '{ ulimit -p 1 || ulimit -u 1; } 2>/dev/null; exec "$0"', launcher] as const
    const { answer } = await project.hook(subagentStop(), { program, env: claudeHookEnv(project, SESSION), uid })
    expect(answer).toEqual({ systemMessage: expect.stringContaining('no process could be started') })
    expect(project.snapshot()).toEqual(before)
    const full = ['/bin/sh', '-c', '! command -v dash >/dev/null || ulimit -n 11; exec "$0"', launcher] as const
    await project.hook(subagentStop(), { program: full, uid })
  })

  it("Node's own variables do not reach the hook", async () => {
    const project = withMarker(UNOWNED)
    const env = { NODE_OPTIONS: '--no-such-option', NODE_EXTRA_CA_CERTS: '/nowhere/ca.pem' }
    const run = await project.hook(subagentStop(), { env })
    expect(run.answer.decision).toBe('block')
    expect(run.stderr).toBe('')
  })

  it('the hook runs from a package folder with spaces, and through links to it', async () => {
    const project = withMarker(UNOWNED)
    const folder = join(project.base, 'a package')
    cpSync(copyPackage(join(project.base, 'package')), folder, { recursive: true })
    symlinkSync(join('..', 'a package', 'hooks', 'postflight-hook'), join(project.base, 'bin', 'first'))
    symlinkSync('first', join(project.base, 'bin', 'postflight-hook'))
    const run = await project.hook(subagentStop(), { program: [join(project.base, 'bin', 'postflight-hook')] })
    expect(run.answer.decision).toBe('block')
  })
})

describe.concurrent('POSTFLIGHT_DISABLE=1', () => {
  it.each(['launcher', 'bundle'])('allows the stop and touches nothing (%s)', async (what) => {
    const project = withMarker({ ...UNOWNED, stop_hook_active: true })
    project.marker('001_owned', OWNED)
    const before = project.snapshot()
    const program: readonly [string, ...string[]] =
      what === 'launcher' ? [LAUNCHER] : [join(project.base, 'bin', 'node'), HOOK_BUNDLE]
    const run = await project.hook(subagentStop(), { program, env: { POSTFLIGHT_DISABLE: '1' }, input: 'open' })
    expect(run).toMatchObject({ stdout: '{}\n', stderr: '' })
    expect(run.durationMs).toBeLessThan(AT_ONCE_MS)
    expect(project.snapshot()).toEqual(before)
  })

  it.each(['', '0'])('is not the same as the value %j, with which the stop is blocked', async (value) => {
    const project = withMarker(UNOWNED)
    expect((await project.hook(subagentStop(), { env: { POSTFLIGHT_DISABLE: value } })).answer.decision).toBe('block')
  })
})
