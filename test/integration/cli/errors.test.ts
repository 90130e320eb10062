import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS } from '../../support/command-documents.ts'
import { SESSION } from '../../support/payloads.ts'
import { CLI, canRun, HOOK_BUNDLE, LAUNCHER, PACKAGE, runProcess, skipNote } from '../../support/process.ts'
import {
  createProject,
  createSourceProject,
  makeOld,
  type Project,
  withMarker,
  withoutPrivileges,
} from '../../support/project.ts'

const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', steps: ['one'] }

/** A lock older than this (ms) was left behind. */
const STALE_MS = 5_000

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/

describe.concurrent('a usage error is exit code 64 and one line on stderr', () => {
  // The rules of a command line: unit/cli/program.test.ts.
  it.each([
    [['--nonsense']],
    [['create', 'not a task']],
    [['clear']],
    [['bypass']],
    [['adopt', '7']],
    [['inspect', '--root', 'nowhere']],
    [['inspect', '--root', '']],
    [['\u001b[31m\u0007']],
    [['create', '\u001b[31m\nforged line']],
    [['--x\nforged']],
  ])('%j', async (words) => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/007_x'))
    const before = project.snapshot()
    const run = await project.cli(words)
    expect(run).toMatchObject({ status: 64, stdout: '', stderr: expect.stringMatching(/^postflight: [^\n]+\n$/) })
    expect(run.stderr).not.toMatch(CONTROL)
    expect(run.stderr.length).toBeLessThan(1500)
    expect(project.snapshot()).toEqual(before)
  })

  it.each([
    ['nonsense', '`postflight --help`'],
    ['create', '`postflight create --help`'],
    ['--root clear create 7 --nonsense', '`postflight create --help`'],
    ['workflow', '`postflight workflow --help`'],
    ['workflow nonsense', '`postflight workflow --help`'],
    ['workflow start 7 x --definiton flow.yaml', 'Did you mean --definition?'],
    ['workflow start 7 x --definiton=flow.yaml', 'Did you mean --definition?'],
    ['workflow start 7 x', 'Missing option --definition <file>. See `postflight workflow start --help`.'],
    ['create 7 x --skil s', 'Did you mean --skill?'],
    ['inspect --rot=x', 'Did you mean --root?'],
    ['--versoin', 'Did you mean --version?'],
    ['workflow stat', 'Did you mean status?'],
    ['workflow st', 'Did you mean one of start, status, stop?'],
    ['insp', 'Did you mean inspect?'],
    ['history 7', 'Did you mean workflow history?'],
    ['crate 7', 'Did you mean create?'],
    ['clear all', 'Task "all" does not exist: did you mean --all?'],
    ['clear ALL', 'Task "ALL" does not exist: did you mean --all?'],
    ['clear orphans', 'Task "orphans" does not exist: did you mean --orphaned?'],
    ['bypass all', 'Task "all" does not exist: did you mean --all?'],
    ['create 7 x --agent main --agent-type worker', 'Give --agent main or --agent-type, not both'],
    ['--quiet hook', 'Start the hook as `postflight hook`'],
    ['logs -n many', '-n takes a whole number, not "many"'],
    ['report --html ', '--html takes the name of a file, not ""'],
    ['workflow skip 7 --step 0', '--step takes the number of a step, from 1, not "0"'],
    ['status --shared 7', '--shared takes the name of a git remote, not "7"'],
    ['workflow resume --shared 7', '--shared takes the name of a git remote (write the task before it)'],
    ['clear 7 --timeout 0', '--timeout takes a number of seconds from 1 to 999999'],
    [`create 7 ${'x'.repeat(121)}`, 'is too long: the maximum is 120 characters'],
    [`create 8_${'x'.repeat(120)}`, 'is too long: the maximum is 120 characters'],
    ['create 1234567 x', 'the task number 1234567 is too large: the maximum is 999999'],
    ['create 1234567_x', 'the task number 1234567 is too large: the maximum is 999999'],
  ])('%s: %s', async (line, said) => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/007_x'))
    const run = await project.cli(line.split(' '))
    expect(run).toMatchObject({ status: 64, stdout: '', stderr: expect.stringContaining(said) })
    expect(run.stderr).toMatch(/^[^\n]+\n$/)
    expect(run.stderr.match(/did you mean/gi) ?? []).toHaveLength(/did you mean/i.test(said) ? 1 : 0)
  })

  it('no option is meant by the name of a folder that exists', async () => {
    const project = withMarker({ cc_session_id: SESSION }, 'all')
    expect((await project.cli(['clear', 'all'])).stdout).toContain('cleared specs/all: .postflight-pending')
  })

  // The names of new folders: unit/project/task-folder.test.ts.
  it.each(['a b', "it's", '$(id)', 'a\nb', '-rf'])(
    'a new folder named %j is refused, and one that exists is found',
    async (slug) => {
      const project = createSourceProject()
      const before = project.snapshot()
      for (const words of [['7', slug], [`7_${slug}`]]) {
        const { status, stdout, stderr } = await project.cli(['create', ...words])
        expect({ status, stdout }).toEqual({ status: 64, stdout: '' })
        expect(stderr).toMatch(/^postflight: (?:invalid (?:slug|task) |Unknown option )[^\n]+\n$/)
      }
      expect(project.snapshot()).toEqual(before)
      project.marker(`007_${slug}`, OWNED)
      const created = await project.cli(['create', '7', '--host-session', SESSION])
      expect(created).toMatchObject({ status: 0, stdout: expect.stringMatching(/^renewed /) })
      expect((await project.cli(['clear', `007_${slug}`])).stdout).toMatch(/^cleared /)
    },
  )

  it('a new folder may have a name in any script', async () => {
    const project = createSourceProject()
    expect((await project.cli(['create', '7', '日本語'])).status).toBe(0)
    expect(project.has('specs/007_日本語/.postflight-pending')).toBe(true)
  })

  it('cuts a very long word', async () => {
    const project = createSourceProject()
    const runs = [await project.cli(['inspect', 'x'.repeat(100_000)]), await project.cli(['create', '9'.repeat(300)])]
    for (const { status, stderr } of runs) {
      expect(status).toBe(64)
      expect(stderr.length).toBeLessThan(200)
    }
  })
})

describe.concurrent('a negative result is exit code 1', () => {
  const NO_FOLDER = /^postflight: task 9 has no folder [^\n]+\n$/
  // Without advice that would be refused: `create` makes no marker there.
  const NO_MARKER = /^postflight: no marker in specs\/ itself(?!.*create)[^\n]+\n$/
  // With the command that lists the tasks of workflows, and no other.
  const NO_RUN = /^postflight: (?!.*inspect).*`postflight workflow status` lists [^\n]+\n$/

  const rows = (said: RegExp, lines: string[]) => lines.map((line): [string, RegExp] => [line, said])

  it.each([
    ...rows(NO_FOLDER, ['inspect 9', 'step 9 one', 'bypass 9', 'adopt 9 --host-session s']),
    ...rows(/^postflight: [^\n]+\n$/, ['bypass 7']),
    ...rows(NO_MARKER, ['step . 1', 'adopt . --host-session s']),
    ...rows(NO_RUN, ['workflow next 9', 'workflow status 9', 'workflow stop 9', 'workflow resume 9']),
    ...rows(NO_RUN, ['workflow abort 9', 'workflow history 9', 'workflow graph 9']),
  ])('%s', async (line, said) => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/007_x'))
    const run = await project.cli(line.split(' '))
    expect(run).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(said) })
  })

  it.each(['step 7 one', 'bypass --all', 'logs', 'adopt 7 --host-session s'])('without a root: %s', async (line) => {
    const run = await createSourceProject({ specs: false }).cli(line.split(' '))
    expect(run).toMatchObject({ status: 1, stderr: expect.stringMatching(/no specs\/ folder in .*--root/) })
  })
})

describe.concurrent('a file that cannot be written is exit code 73 and named', () => {
  const IN_TASK = ['create 7 --operation plan', 'step 7 one', 'bypass 7', 'adopt 7 --host-session s', 'clear 7']

  it.each([
    ['specs', 'specs/008_y', ['create 8 y']],
    ['specs/007_x', 'specs/007_x', IN_TASK],
    ['.', '.claude', ['install']],
    ['.claude', '.claude', ['install']],
  ])('in the read-only folder %s: %s', async (folder, named, lines) => {
    const project = createSourceProject()
    if (folder === '.claude') mkdirSync(project.at('.claude'))
    project.marker('007_x', OWNED)
    const user = withoutPrivileges(project)
    chmodSync(project.at(folder), 0o555)
    const before = project.snapshot()
    for (const line of lines) {
      const run = await runProcess(join(project.base, 'bin', 'node'), [user.cli, ...line.split(' ')], {
        cwd: project.dir,
        env: { ...project.env, POSTFLIGHT_HOST_SESSION: SESSION },
        uid: user.uid,
      })
      expect(run.status, line).toBe(73)
      expect(run.stderr, line).toMatch(/^postflight: cannot write [^\n]+\n$/)
      expect(run.stderr, line).toContain(named)
      expect(project.snapshot(), line).toEqual(before)
    }
    chmodSync(project.at(folder), 0o755)
  })

  it('a lock that is a folder is exit code 65 at once, because waiting would not help', async () => {
    const project = withMarker(OWNED, '007_x')
    mkdirSync(project.at('specs/007_x/.postflight-lock'))
    const run = await project.cli(['step', '7', 'one'])
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('.postflight-lock') })
  })

  it('a lock whose process was just killed is waited for, then taken over', async () => {
    const project = withMarker(OWNED, '007_x', createProject)
    const ageMs = 4200
    makeOld(project.write('specs/007_x/.postflight-lock', '12345 999\n'), ageMs / 3_600_000)
    const run = await project.cli(['step', '7', 'one'])
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.durationMs).toBeGreaterThan(STALE_MS - ageMs)
    expect(project.has('specs/007_x/.postflight-lock')).toBe(false)
  })

  it('a journal that cannot be written leads to a note, and the command succeeds', async () => {
    const project = createSourceProject({ files: { 'specs/.postflight': 'no folder' } })
    const run = await project.cli(['create', '7', 'x'])
    expect(run.status).toBe(0)
    expect(run.stderr).toMatch(/^postflight: not recorded in the journal: [^\n]+\n$/)
    expect(project.has('specs/007_x/.postflight-pending')).toBe(true)
  })
})

describe.concurrent('output', () => {
  it.each([
    ...['create 8 y', 'clear 7', 'inspect', 'step 7 one', 'bypass 7', 'adopt 7 --host-session s', 'explain', 'logs'],
    ...['install', 'uninstall', 'doctor'],
  ])('of %s with --quiet is only what a script needs', async (line) => {
    const { stdout } = await withMarker(OWNED, '007_x').cli([...line.split(' '), '--quiet'])
    expect(stdout).toMatch(/^(?:create|adopt)/.test(line) ? /^pf_[a-z0-9]{12}\n$/ : /^$/)
  })

  it.each([
    [['nonsense'], 'usage', 64],
    [['create', '7', '../x'], 'slug-invalid', 64],
    [['inspect', '9'], 'task-unknown', 1],
    [['explain', '--payload', 'nowhere'], 'file-unreadable', 65],
  ])('of an error with --json is a document too: %j', async (words, code, status) => {
    const run = await createSourceProject().cli([...words, '--json'])
    expect(run.status).toBe(status)
    const { error } = run.json()
    expect(error).toEqual({ code, message: expect.any(String) })
    expect(run.stderr).toBe(`postflight: ${error.message}\n`)
  })

  it('has no color without a terminal, whatever the environment says', async () => {
    const project = withMarker(OWNED, '007_x', createProject)
    for (const word of ['inspect', 'doctor', 'explain', '--help', 'nonsense']) {
      const run = await project.cli([word], { env: { FORCE_COLOR: '1', TERM: 'xterm-256color' } })
      expect(run.stdout + run.stderr, word).not.toContain('\u001b')
    }
  })

  const hasScript = canRun('script -qec true /dev/null')
  it.runIf(hasScript)(
    `has colour on a terminal, and none with NO_COLOR or TERM=dumb${skipNote(hasScript, 'script is not installed')}`,
    async () => {
      const project = withMarker(OWNED, '007_x')
      const script = `script -qec '"${process.execPath}" "${CLI}" inspect' /dev/null < /dev/null`
      expect((await project.shell(script, { env: { TERM: 'xterm' } })).stdout).toContain('\u001b[')
      const plain = [{ TERM: 'xterm', NO_COLOR: '1' }, { TERM: 'dumb' }]
      for (const env of plain) expect((await project.shell(script, { env })).stdout).not.toContain('\u001b[')
    },
  )

  describe('that is large', () => {
    const large = (): Project => {
      const project = createProject()
      for (let index = 0; index < 300; index++) project.marker(`${index}_x`, { ...OWNED, reason: 'long '.repeat(500) })
      return project
    }

    it('ends without an error when the reader goes away', async () => {
      const project = large()
      expect(await project.cli(['inspect'], { unread: ['stdout'] })).toMatchObject({ status: 0, stderr: '' })
      const piped = await project.shell(`{ "${process.execPath}" "${CLI}" inspect; echo $? >&2; } | head -1`)
      expect(piped.stderr).toBe('0\n')
    })

    it('is complete', async () => expect((await large().cli(['inspect', '--json'])).json().markers).toHaveLength(300))
  })
})

const hasFullDevice = canRun('test -c /dev/full')

describe
  .skipIf(!hasFullDevice)
  .concurrent(
    `output that cannot be written is exit code 73 with one line on stderr${skipNote(hasFullDevice, 'there is no /dev/full')}`,
    () => {
      const LOST =
        'postflight: the output could not be written (ENOSPC): the command ran, but its result was not printed.\n'

      it.each([
        ...['create 8 y', 'clear 7 --json', 'inspect', 'inspect --json', 'bypass 7 --json', 'install --json'],
        ...['workflow status --json', '--help', 'create --help', '--version'],
      ])('%s', async (line) => {
        const [project, intact] = [createProject(), createSourceProject()]
        for (const each of [project, intact]) each.marker('007_x', OWNED)
        const lost = await project.shell(`"${process.execPath}" "${CLI}" ${line} > /dev/full`)
        await intact.cli(line.split(' '))
        expect(lost).toMatchObject({ status: 73, stdout: '', stderr: LOST })
        expect(Object.keys(project.snapshot())).toEqual(Object.keys(intact.snapshot()))
      })

      it('create made a marker that blocks and can be cleared', async () => {
        const project = createProject()
        const env = { POSTFLIGHT_HOST_SESSION: SESSION, POSTFLIGHT_AGENT: 'main' }
        const create = await project.shell(`"${process.execPath}" "${CLI}" create 8 y > /dev/full`, { env })
        expect(create).toMatchObject({ status: 73, stderr: LOST })
        const [entry] = project.journal()
        expect(JSON.parse(project.read('specs/008_y/.postflight-pending'))).toMatchObject({ id: entry?.marker_id })
        expect((await project.hook({ hook_event_name: 'Stop', session_id: SESSION })).answer.decision).toBe('block')
        expect((await project.cli(['clear', '8'])).status).toBe(0)
      })

      it('an error keeps its exit code, and with --json its line', async () => {
        const run = await createProject().shell(`"${process.execPath}" "${CLI}" inspect 9 --json > /dev/full`)
        expect(run.status).toBe(1)
        expect(run.stderr).toMatch(/^postflight: task 9 has no folder [^\n]+\n$/)
      })
    },
  )

describe.concurrent('help and version', () => {
  it('--version prints the version', async () => {
    const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
    const run = await createSourceProject().cli(['--version'])
    expect(run).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('--help lists every command and every exit code, and the default of an option', async () => {
    const { stdout, status } = await createSourceProject().cli(['--help'])
    expect(status).toBe(0)
    // All but the hidden one. The hook has no document.
    for (const command of [...Object.keys(DOCUMENTS).filter((name) => name !== 'complete'), 'hook']) {
      const [name, below] = command.split(' ')
      // Those of a workflow stand behind it, in one sentence.
      expect(stdout).toMatch(new RegExp(`^ {2}${name} ${below === undefined ? '' : `[^.]*?\\b${below}\\b`}`, 'm'))
    }
    expect(stdout).toContain(
      'Exit codes: 0 success, 1 negative result, 64 usage error, 65 invalid data,\n70 internal error, 73 cannot write.',
    )
    const ofLogs = await createSourceProject().cli(['logs', '--help'])
    expect(ofLogs.stdout).toMatch(/--count <number> [^-]*\(default: 20\)/)
  })

  it.each([...Object.keys(DOCUMENTS), 'hook'])('%s --help shows an example of that command', async (command) => {
    const run = await createSourceProject().cli([...command.split(' '), '--help'])
    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining(`$ postflight ${command}`) })
    expect((await createSourceProject().cli(['help', ...command.split(' ')])).stdout).toBe(run.stdout)
  })
})

describe.concurrent('--root and POSTFLIGHT_ROOT', () => {
  it('name the project, from anywhere', async () => {
    const project = createSourceProject()
    const other = createSourceProject()
    project.marker('007_x', OWNED)
    const byOption = await other.cli(['inspect', '--json', '--root', project.dir])
    const byVariable = await other.cli(['inspect', '--json'], { env: { POSTFLIGHT_ROOT: project.dir } })
    for (const run of [byOption, byVariable]) expect(run.json().root).toBe(project.dir)
  })

  it('may be relative, and a link', async () => {
    const project = createSourceProject()
    symlinkSync(project.dir, join(project.base, 'link'))
    mkdirSync(project.at('src'))
    const relative = await project.cli(['inspect', '--json', '--root', '..'], { cwd: project.at('src') })
    const link = await project.cli(['inspect', '--json', '--root', join(project.base, 'link')])
    expect([relative.json().root, link.json().root]).toEqual([project.dir, project.dir])
  })

  it('are a usage error if they name no folder: another project must not be found instead', async () => {
    const project = withMarker(OWNED, '007_x')
    const byOption = await project.cli(['clear', '--all', '--root', 'nowhere'])
    const byVariable = await project.cli(['clear', '--all'], { env: { POSTFLIGHT_ROOT: '/nowhere/at/all' } })
    expect([byOption.status, byVariable.status]).toEqual([64, 64])
    expect(byVariable.stderr).toContain('POSTFLIGHT_ROOT')
    expect(project.has('specs/007_x/.postflight-pending')).toBe(true)
  })
})

describe.concurrent('exit code 2, which hosts read as a block,', () => {
  it('appears nowhere in the programs that are started', () => {
    const sources = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(PACKAGE, 'src', name))
    const found = [...sources, LAUNCHER, CLI].filter((file) =>
      /\bexit\s*\(?\s*2\b|exitCode\s*[=:]\s*2\b|\breturn 2\b|:\s*2,?\s*\/\/.*exit/.test(readFileSync(file, 'utf8')),
    )
    expect(sources.length).toBeGreaterThan(30)
    expect(found).toEqual([])
  })

  it('is not the exit code of a broken bundle: Node’s own is 1', async () => {
    const project = withMarker(OWNED, '007_x')
    // With such a small stack Node itself fails, as it may with a broken bundle.
    const run = await runProcess(process.execPath, ['--stack-size=10', HOOK_BUNDLE], {
      cwd: project.dir,
      env: project.env,
      input: '{}',
    })
    expect(run.status).not.toBe(2)
  })
})

describe.concurrent('in a current folder that was removed', () => {
  const DEFINITION = JSON.stringify({ name: 'n', phases: [{ id: 'a', prompt: 'do', artifact: 'a.md' }] })
  const COMMANDS = [
    ...['create 2 y', 'inspect', 'step 1 one', 'bypass 1', 'adopt 1 --host-session another', 'logs'],
    ...['explain --payload payload.json', 'clear 1', 'doctor', 'install', 'install --host opencode'],
    ...['install --scope user', 'uninstall', 'workflow validate definition.json'],
    ...['workflow start 2 y --definition definition.json', 'workflow status', 'workflow next 1'],
    'workflow graph definition.json',
  ]

  /** Runs a command in a folder of the project that is removed before the command starts. */
  const runIn = async (project: Project, words: readonly string[], env: Record<string, string> = {}) => {
    mkdirSync(project.at('gone'))
    const program = ['-c', 'cd gone && rmdir ../gone && exec "$@"', 'sh', process.execPath, CLI, ...words]
    return runProcess('sh', program, { cwd: project.dir, env: { ...project.env, ...env } })
  }
  const createFilled = (): Project => {
    const project = withMarker(OWNED, '001_x')
    project.write('definition.json', DEFINITION)
    project.write('payload.json', '{}')
    return project
  }

  it.each(['create 2 y', 'install', 'workflow status'])('%s is refused in one line with its fix', async (line) => {
    const run = await runIn(createFilled(), line.split(' '))
    expect(run).toMatchObject({ status: 65, stdout: '' })
    expect(run.stderr).toMatch(
      /^postflight: the current folder was removed[^\n]* give --root with an absolute path\.\n$/,
    )
  })

  it.each(COMMANDS)('%s works as in the project where an absolute --root names it', async (line) => {
    const [project, other] = [createFilled(), createFilled()]
    const words = line.split(' ')
    const readable = ({ status, stdout, stderr }: Awaited<ReturnType<typeof runIn>>, { base }: Project): unknown => {
      const text = `${stdout}\n${stderr}`.replaceAll(base, 'BASE')
      return [status, text.replaceAll(/pf_\w+|\d+ s /g, '')]
    }
    const run = await runIn(project, ['--root', project.dir, ...words])
    expect(readable(run, project)).toEqual(readable(await other.cli(['--root', other.dir, ...words]), other))
    expect(run.stderr).not.toContain('current folder')
  })

  it('POSTFLIGHT_ROOT names the project too, but a relative path does not', async () => {
    const project = createFilled()
    expect((await runIn(project, ['inspect'], { POSTFLIGHT_ROOT: project.dir })).status).toBe(0)
    expect((await runIn(project, ['--root', '..', 'inspect'])).status).toBe(65)
  })

  it('a root that does not exist is named', async () => {
    const run = await runIn(createFilled(), ['--root', '/nowhere/at/all', 'inspect'])
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining('/nowhere/at/all (from --root)') })
  })

  it.runIf(process.platform === 'linux')('or whose name is not UTF-8, no other folder is taken for it', async () => {
    const project = createProject({ specs: false })
    mkdirSync(project.at('x\ufffd', 'specs'), { recursive: true })
    const script = `d="$(printf 'x\\377')" && mkdir "$d" && cd "$d" && exec "$0" "$1" create 1 x`
    const run = await runProcess('sh', ['-c', script, process.execPath, CLI], { cwd: project.dir, env: project.env })
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('its name is not UTF-8') })
    expect(readdirSync(project.at('x\ufffd', 'specs'))).toEqual([])
  })
})
