import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import type { GlobalOptions } from '../../../src/cli/command.ts'
import type { Invocation } from '../../../src/cli/commands/command-list.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import { PostflightError } from '../../../src/kernel/errors.ts'

/** The result of a command line: the command that it would run, and the printed text. */
interface Read {
  readonly ran: readonly { readonly invocation: Invocation; readonly options: GlobalOptions }[]
  readonly printed: string
  readonly error: unknown
}

async function read(words: readonly string[]): Promise<Read> {
  const ran: { invocation: Invocation; options: GlobalOptions }[] = []
  let printed = ''
  const program = buildProgram({
    version: '1.2.3',
    stdout: {
      write: (text) => {
        printed += text
      },
    },
    run: async (invocation, options) => {
      ran.push({ invocation, options })
    },
  })
  const error = await program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { ran, printed, error }
}

const NO_OPTIONS = { root: undefined, json: false, quiet: false }

const CREATE = { step: [], check: [], stepCheck: [], force: false }
const CLEAR = {
  ...{ all: false, orphaned: false, returnMeta: false, dryRun: false },
  ...{ runChecks: false, unchecked: false, timeout: 600_000 },
}
const STEP = { undo: false, runChecks: false, timeout: 600_000 }
const INSTALL = { host: 'claude', scope: 'project', dryRun: false, force: false }
const UNINSTALL = { host: 'claude', dryRun: false }
const INIT = { skip: [], yes: false, dryRun: false, force: false }

type Row = readonly [line: string, Invocation['command'], given: readonly unknown[], options: object]

/** Every command with every argument and option. */
const ROWS: readonly Row[] = [
  ['create 7', 'create', ['7', undefined], CREATE],
  ['create 7 a_slug', 'create', ['7', 'a_slug'], CREATE],
  [
    'create 7 --skill s --operation research --reason "two words" --session-id sess_1 --host-session h --agent main --agent-type helper --force',
    'create',
    ['7', undefined],
    {
      ...{ ...CREATE, skill: 's', operation: 'research', reason: 'two words', sessionId: 'sess_1' },
      ...{ hostSession: 'h', agent: 'main', agentType: 'helper', force: true },
    },
  ],
  [
    'create --step first 7 "--step=the second" --step -x',
    'create',
    ['7', undefined],
    { ...CREATE, step: ['first', 'the second', '-x'] },
  ],
  ['create 7 --reason ""', 'create', ['7', undefined], { ...CREATE, reason: '' }],
  ['create -- -7 --force', 'create', ['-7', '--force'], CREATE],
  ['create 7 -- --json', 'create', ['7', '--json'], CREATE],
  ['clear 7', 'clear', ['7'], CLEAR],
  [
    'clear 7 --run-checks --unchecked --timeout 90',
    'clear',
    ['7'],
    { ...CLEAR, runChecks: true, unchecked: true, timeout: 90_000 },
  ],
  ['clear', 'clear', [undefined], CLEAR],
  ['clear --all', 'clear', [undefined], { ...CLEAR, all: true }],
  ['clear --orphaned', 'clear', [undefined], { ...CLEAR, orphaned: true }],
  ['clear . --return-meta --dry-run', 'clear', ['.'], { ...CLEAR, returnMeta: true, dryRun: true }],
  ['clear -- --all', 'clear', ['--all'], CLEAR],
  ['status', 'status', [], { exitCode: false, github: false, expect: [], watch: false }],
  [
    'status --exit-code --github --session s --expect 259 --expect 7_x',
    'status',
    [],
    { exitCode: true, github: true, expect: ['259', '7_x'], watch: false, session: 's' },
  ],
  ['status --watch', 'status', [], { exitCode: false, github: false, expect: [], watch: true }],
  ['status --shared up', 'status', [], { exitCode: false, github: false, expect: [], watch: false, shared: 'up' }],
  ['inspect', 'inspect', [undefined], { exitCode: false, watch: false }],
  ['inspect 7 --exit-code --watch', 'inspect', ['7'], { exitCode: true, watch: true }],
  ['statusline', 'statusline', [], {}],
  ['report', 'report', [undefined], {}],
  ['report 7 --html x.html', 'report', ['7'], { html: 'x.html' }],
  ['completion zsh', 'completion', ['zsh'], {}],
  ['complete clear ""', 'complete', [['clear', '']], {}],
  ['step 7 2', 'step', ['7', '2'], STEP],
  ['step 7 "git commit" --undo', 'step', ['7', 'git commit'], { ...STEP, undo: true }],
  ['step -- 7 --undo', 'step', ['7', '--undo'], STEP],
  ['wait 7 --for "an answer"', 'wait', ['7'], { for: 'an answer' }],
  ['wait 7 --for x --host-session s1', 'wait', ['7'], { for: 'x', hostSession: 's1' }],
  ['bypass 7', 'bypass', ['7'], { all: false }],
  ['bypass --all', 'bypass', [undefined], { all: true }],
  ['done', 'done', [], { all: false, list: false }],
  ['done --all --list', 'done', [], { all: true, list: true }],
  ['trust --yes', 'trust', [], { yes: true }],
  ['adopt 7', 'adopt', ['7'], {}],
  ['adopt 7 --host-session h --agent=a', 'adopt', ['7'], { hostSession: 'h', agent: 'a' }],
  ['explain', 'explain', [], {}],
  ['explain --payload -', 'explain', [], { payload: '-' }],
  ['logs', 'logs', [], { count: 20, follow: false }],
  ['logs -n 0', 'logs', [], { count: 0, follow: false }],
  ['logs -n50', 'logs', [], { count: 50, follow: false }],
  ['logs --count 007 --follow', 'logs', [], { count: 7, follow: true }],
  ['install', 'install', [], INSTALL],
  [
    'install --host opencode --scope user --dry-run',
    'install',
    [],
    { host: 'opencode', scope: 'user', dryRun: true, force: false },
  ],
  ['install --force', 'install', [], { ...INSTALL, force: true }],
  ['install --reactive rules.json', 'install', [], { ...INSTALL, reactive: 'rules.json' }],
  ['init', 'init', [], INIT],
  [
    'init --scope user --skip hook --skip skill --yes --dry-run --force',
    'init',
    [],
    { scope: 'user', skip: ['hook', 'skill'], yes: true, dryRun: true, force: true },
  ],
  ['uninstall', 'uninstall', [], UNINSTALL],
  [
    'uninstall --host opencode --scope nowhere --dry-run',
    'uninstall',
    [],
    { ...UNINSTALL, host: 'opencode', scope: 'nowhere', dryRun: true },
  ],
  ['doctor', 'doctor', [], {}],
  ['workflow validate f.yaml', 'workflow validate', ['f.yaml'], {}],
  [
    'workflow start 7 --definition f.yaml',
    'workflow start',
    ['7', undefined],
    { definition: 'f.yaml', fresh: false, set: [] },
  ],
  [
    'workflow start 7 --definition f.yaml --share',
    'workflow start',
    ['7', undefined],
    { definition: 'f.yaml', fresh: false, set: [], share: 'origin' },
  ],
  [
    'workflow start 7 a_slug --definition f.yaml --host-session h --parent-session p --fresh --set issue=42 --set a=b=c',
    'workflow start',
    ['7', 'a_slug'],
    { definition: 'f.yaml', hostSession: 'h', parentSession: 'p', fresh: true, set: ['issue=42', 'a=b=c'] },
  ],
  ['workflow status', 'workflow status', [undefined], { watch: false }],
  ['workflow status 7 --watch', 'workflow status', ['7'], { watch: true }],
  ['workflow next 7', 'workflow next', ['7'], { peek: false, timeout: 600_000 }],
  ['workflow next 7 --peek', 'workflow next', ['7'], { peek: true, timeout: 600_000 }],
  ['workflow check 7', 'workflow check', ['7'], { timeout: 600_000 }],
  ['workflow resume 7 --trust', 'workflow resume', ['7'], { take: false, trust: true }],
  ['workflow stop 7', 'workflow stop', ['7'], { now: false }],
  ['workflow stop 7 --now', 'workflow stop', ['7'], { now: true }],
  ['workflow approve 7', 'workflow approve', ['7'], {}],
  ['workflow approve 7 --note "use the table"', 'workflow approve', ['7'], { note: 'use the table' }],
  ['workflow reject 7 --reason "no test"', 'workflow reject', ['7'], { reason: 'no test' }],
  ['workflow retry 7 --step 3', 'workflow retry', ['7'], { step: 3 }],
  ['workflow skip 7 --step 12', 'workflow skip', ['7'], { step: 12 }],
  ['workflow resume 7 --from plan', 'workflow resume', ['7'], { take: false, trust: false, from: 'plan' }],
  ['workflow resume 7', 'workflow resume', ['7'], { take: false, trust: false }],
  [
    'workflow resume 7 --host-session h --parent-session p',
    'workflow resume',
    ['7'],
    { take: false, trust: false, hostSession: 'h', parentSession: 'p' },
  ],
  ['workflow resume 7 --shared --take', 'workflow resume', ['7'], { take: true, trust: false, shared: 'origin' }],
  ['workflow share 7', 'workflow share', ['7', undefined], {}],
  ['workflow share 7 up', 'workflow share', ['7', 'up'], {}],
  ['workflow publish 7', 'workflow publish', ['7'], {}],
  ['workflow release 7', 'workflow release', ['7'], {}],
  ['workflow abort 7', 'workflow abort', ['7'], {}],
  ['workflow history 7', 'workflow history', ['7'], {}],
  ['workflow graph f.yaml', 'workflow graph', ['f.yaml'], {}],
  [
    'workflow simulate f.yaml --fail a:1 --fail b/2 --case a=x --steps b=2 --set issue=42',
    'workflow simulate',
    ['f.yaml'],
    { fail: ['a:1', 'b/2'], case: ['a=x'], steps: ['b=2'], set: ['issue=42'] },
  ],
]

const COMMAND_LINES = ROWS.map(([line, command, given, options]) => {
  const words = Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word)
  return [words, { command, arguments: given, options } as Invocation] as const
})

/** One command line for each command: its first row. */
const ONE_EACH = COMMAND_LINES.filter(
  ([, { command }], index) => COMMAND_LINES.findIndex(([, one]) => one.command === command) === index,
)

/** Every declared command but the hook, with the words that name it. */
const DECLARED = buildProgram({ version: '', stdout: { write: () => {} }, run: async () => {} })
  .commands.flatMap((command) => [
    { words: [command.name()], command },
    ...command.commands.map((below) => ({ words: [command.name(), below.name()], command: below })),
  ])
  .filter(({ words, command }) => command.commands.length === 0 && words[0] !== 'hook')

describe('a command line becomes a command with its arguments and options', () => {
  it.each(COMMAND_LINES)('%j', async (words, invocation) => {
    expect(await read(words)).toStrictEqual({
      ran: [{ invocation, options: NO_OPTIONS }],
      printed: '',
      error: undefined,
    })
  })

  it('the table has every command with all its options', () => {
    // Sorted, so that a failure shows only what is missing.
    const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort()
    const declared = DECLARED.map(({ words, command }) => [
      words.join(' '),
      sorted(command.options.map((option) => option.attributeName())),
    ])
    const listed = ONE_EACH.map(([, { command }]) => [
      command,
      sorted(COMMAND_LINES.flatMap(([, one]) => (one.command === command ? Object.keys(one.options) : []))),
    ])
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(declared))
  })
})

describe('the options of every command', () => {
  const GIVEN = ['--root', '/p', '--json', '--quiet']
  const options = { root: '/p', json: true, quiet: true }

  it.each(ONE_EACH)('may come before the command: %j', async (words, invocation) => {
    expect((await read([...GIVEN, ...words])).ran).toStrictEqual([{ invocation, options }])
  })

  it.each(ONE_EACH)('may come after it: %j', async (words, invocation) => {
    expect((await read([...words, ...GIVEN])).ran).toStrictEqual([{ invocation, options }])
  })

  it.each(ONE_EACH)(
    'may come right after its name, and the last of two roots counts: %j',
    async (words, invocation) => {
      const [name = '', ...others] = words
      expect((await read(['--root', '/other', name, ...GIVEN, ...others])).ran).toStrictEqual([{ invocation, options }])
    },
  )

  it('may be given one by one', async () => {
    const one = async (...words: string[]) => (await read(words)).ran[0]?.options
    expect(await one('--root=/p', 'inspect')).toStrictEqual({ ...NO_OPTIONS, root: '/p' })
    expect(await one('inspect', '--json')).toStrictEqual({ ...NO_OPTIONS, json: true })
    expect(await one('inspect', '--quiet')).toStrictEqual({ ...NO_OPTIONS, quiet: true })
    expect(await one('--root', 'clear', 'inspect')).toStrictEqual({ ...NO_OPTIONS, root: 'clear' })
  })
})

describe('a wrong command line runs nothing', () => {
  const refused = async (words: readonly string[]): Promise<string> => {
    const { ran, printed, error } = await read(words)
    expect({ ran, printed }).toEqual({ ran: [], printed: '' })
    expect(error).toBeInstanceOf(CommanderError)
    const { code, exitCode } = error as CommanderError
    expect(exitCode).toBe(1)
    return code
  }

  it.each(ONE_EACH)('an unknown option: %j --nonsense', async (words) => {
    expect(await refused([...words, '--nonsense'])).toBe('commander.unknownOption')
    expect(await refused(['--nonsense', ...words])).toBe('commander.unknownOption')
  })

  // The line that `complete` gets may have any number of words.
  const bounded = ONE_EACH.filter(([, { command }]) => command !== 'complete')
  it.each(bounded)('one argument too many: %j extra', async (words, invocation) => {
    const optional = invocation.arguments.filter((argument) => argument === undefined).map(() => 'x')
    expect(await refused([...words, ...optional, 'extra'])).toBe('commander.excessArguments')
  })

  it.each([
    ...DECLARED.filter(({ command }) => command.registeredArguments.some(({ required }) => required)).map(
      ({ words }) => [words],
    ),
    [['create', '--force']],
    [['step', '7']],
    [['workflow', 'start', '--definition', 'f.yaml']],
  ])('a missing argument: %j', async (words) => {
    expect(await refused(words)).toBe('commander.missingArgument')
  })

  it.each([
    [['create', '7', '--skill']],
    [['create', '7', '--step']],
    [['explain', '--payload']],
    [['logs', '-n']],
    [['install', '--scope']],
    [['workflow', 'start', '7', '--definition']],
    [['inspect', '--root']],
  ])('an option without its value: %j', async (words) => {
    expect(await refused(words)).toBe('commander.optionMissingArgument')
  })

  it('a workflow without its definition', async () => {
    const { ran, printed, error } = await read(['workflow', 'start', '7'])

    expect({ ran, printed }).toEqual({ ran: [], printed: '' })
    expect(error).toMatchObject({ code: 'usage', args: { detail: expect.stringContaining('--definition <file>') } })
  })

  it.each([[['nonsense']], [['Create', '7']], [['workflow', 'nonsense']]])('an unknown command: %j', async (words) => {
    expect(await refused(words)).toBe('commander.unknownCommand')
  })

  it.each(['many', '-1', '1.5', '1e3', '', ' 5'])('a count that is not a whole number: %j', async (value) => {
    const { ran, error } = await read(['logs', `--count=${value}`])
    expect(ran).toEqual([])
    expect(error).toBeInstanceOf(PostflightError)
    expect(error).toMatchObject({ code: 'value-invalid', args: { option: '-n', value } })
  })

  it.each([
    [['workflow', 'resume', '--shared', '7'], '--shared'],
    [['workflow', 'start', '--definition', 'f.yaml', '--share', '7'], '--share'],
  ])('a task in the place of a remote: %j', async (words, option) => {
    const { ran, error } = await read(words)
    expect(ran).toEqual([])
    expect(error).toMatchObject({ code: 'value-invalid', args: { option, value: '7' } })
  })

  it('the hook, which is started before this program', async () => {
    const { ran, error } = await read(['hook'])
    expect(ran).toEqual([])
    expect(error).toMatchObject({ code: 'usage' })
  })
})

describe('help and version', () => {
  it.each([[['--help']], [['-h']], ...ONE_EACH.map(([words]) => [[...words, '--help']])])(
    '%j prints help and runs nothing',
    async (words) => {
      const { ran, printed, error } = await read(words)
      expect(ran).toEqual([])
      expect(printed).toMatch(/^Usage: postflight/)
      expect(printed).toMatch(/Examples?:\n {2}\$ postflight /)
      expect(error).toMatchObject({ code: 'commander.helpDisplayed', exitCode: 0 })
    },
  )

  it('--version prints the version', async () => {
    expect(await read(['--version'])).toMatchObject({ ran: [], printed: '1.2.3\n', error: { exitCode: 0 } })
    expect(await read(['-V'])).toMatchObject({ ran: [], printed: '1.2.3\n', error: { exitCode: 0 } })
  })
})
