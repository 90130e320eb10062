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
  const printed: string[] = []
  const program = buildProgram({
    version: '1.2.3',
    stdout: { write: (text) => void printed.push(text) },
    run: async (invocation, options) => void ran.push({ invocation, options }),
  })
  const error = await program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { ran, printed: printed.join(''), error }
}

const NO_OPTIONS = { root: undefined, json: false, quiet: false }

/** The options that a command has where none are given. */
const DEFAULTS: Partial<Record<Invocation['command'], object>> = {
  create: { step: [], check: [], stepCheck: [], force: false },
  clear: {
    ...{ all: false, orphaned: false, returnMeta: false, dryRun: false },
    ...{ runChecks: false, unchecked: false, timeout: 600_000 },
  },
  step: { undo: false, runChecks: false, timeout: 600_000 },
  install: { host: 'claude', scope: 'project', dryRun: false, force: false },
  uninstall: { host: 'claude', dryRun: false },
  init: { skip: [], yes: false, dryRun: false, force: false },
  status: { exitCode: false, github: false, expect: [], watch: false },
  inspect: { exitCode: false, watch: false },
  bypass: { all: false },
  done: { all: false, list: false },
  logs: { count: 20, follow: false },
  'workflow start': { fresh: false, set: [] },
  'workflow status': { watch: false },
  'workflow next': { peek: false, timeout: 600_000 },
  'workflow resume': { take: false, trust: false },
  'workflow check': { timeout: 600_000 },
  'workflow stop': { now: false },
}

/** The command line, its arguments, and the options that differ from the defaults. */
type Row = readonly [line: string, given: readonly unknown[], options?: object]

/** Every command with every argument and option. */
const ROWS: readonly Row[] = [
  [
    'create 7 a_slug --skill s --operation research --reason "two words" --session-id sess_1 --host-session h --agent main --agent-type helper --force',
    ['7', 'a_slug'],
    {
      ...{ skill: 's', operation: 'research', reason: 'two words', sessionId: 'sess_1', hostSession: 'h' },
      ...{ agent: 'main', agentType: 'helper', force: true },
    },
  ],
  ['create --step first 7 "--step=the second" --step -x', ['7', undefined], { step: ['first', 'the second', '-x'] }],
  ['create 7 --reason ""', ['7', undefined], { reason: '' }],
  ['create -- -7 --force', ['-7', '--force']],
  ['create 7 -- --json', ['7', '--json']],
  ['clear 7 --run-checks --unchecked --timeout 90', ['7'], { runChecks: true, unchecked: true, timeout: 90_000 }],
  ['clear --all', [undefined], { all: true }],
  ['clear --orphaned', [undefined], { orphaned: true }],
  ['clear . --return-meta --dry-run', ['.'], { returnMeta: true, dryRun: true }],
  ['clear -- --all', ['--all']],
  [
    'status --exit-code --github --session s --expect 259 --expect 7_x',
    [],
    { exitCode: true, github: true, expect: ['259', '7_x'], session: 's' },
  ],
  ['status --watch', [], { watch: true }],
  ['status --shared up', [], { shared: 'up' }],
  ['inspect', [undefined]],
  ['inspect 7 --exit-code --watch', ['7'], { exitCode: true, watch: true }],
  ['statusline', []],
  ['report', [undefined]],
  ['report 7 --html x.html', ['7'], { html: 'x.html' }],
  ['completion zsh', ['zsh']],
  ['complete clear ""', [['clear', '']]],
  ['step 7 2', ['7', '2']],
  ['step 7 "git commit" --undo', ['7', 'git commit'], { undo: true }],
  ['step -- 7 --undo', ['7', '--undo']],
  ['wait 7 --for "an answer" --host-session s1', ['7'], { for: 'an answer', hostSession: 's1' }],
  ['bypass 7', ['7']],
  ['bypass --all', [undefined], { all: true }],
  ['done', []],
  ['done --all --list', [], { all: true, list: true }],
  ['trust --yes', [], { yes: true }],
  ['adopt 7', ['7']],
  ['adopt 7 --host-session h --agent=a', ['7'], { hostSession: 'h', agent: 'a' }],
  ['explain', []],
  ['explain --payload -', [], { payload: '-' }],
  ['logs', []],
  ['logs -n 0', [], { count: 0 }],
  ['logs --count 007 --follow', [], { count: 7, follow: true }],
  ['install --host opencode --scope user --dry-run', [], { host: 'opencode', scope: 'user', dryRun: true }],
  ['install --force', [], { force: true }],
  ['install --reactive rules.json', [], { reactive: 'rules.json' }],
  ['init', []],
  [
    'init --scope user --skip hook --skip skill --yes --dry-run --force',
    [],
    { scope: 'user', skip: ['hook', 'skill'], yes: true, dryRun: true, force: true },
  ],
  ['uninstall', []],
  ['uninstall --host opencode --scope nowhere --dry-run', [], { host: 'opencode', dryRun: true, scope: 'nowhere' }],
  ['doctor', []],
  ['workflow validate f.yaml', ['f.yaml']],
  ['workflow start 7 --definition f.yaml', ['7', undefined], { definition: 'f.yaml' }],
  ['workflow start 7 --definition f.yaml --share', ['7', undefined], { definition: 'f.yaml', share: 'origin' }],
  [
    'workflow start 7 a_slug --definition f.yaml --host-session h --parent-session p --fresh --set issue=42 --set a=b=c',
    ['7', 'a_slug'],
    { definition: 'f.yaml', hostSession: 'h', parentSession: 'p', fresh: true, set: ['issue=42', 'a=b=c'] },
  ],
  ['workflow status', [undefined]],
  ['workflow status 7 --watch', ['7'], { watch: true }],
  ['workflow next 7', ['7']],
  ['workflow next 7 --peek', ['7'], { peek: true }],
  ['workflow check 7', ['7']],
  ['workflow resume 7 --trust --from plan', ['7'], { trust: true, from: 'plan' }],
  ['workflow stop 7', ['7']],
  ['workflow stop 7 --now', ['7'], { now: true }],
  ['workflow approve 7', ['7']],
  ['workflow approve 7 --note "use the table"', ['7'], { note: 'use the table' }],
  ['workflow reject 7 --reason "no test"', ['7'], { reason: 'no test' }],
  ['workflow retry 7 --step 3', ['7'], { step: 3 }],
  ['workflow skip 7 --step 12', ['7'], { step: 12 }],
  ['workflow resume 7 --host-session h --parent-session p', ['7'], { hostSession: 'h', parentSession: 'p' }],
  ['workflow resume 7 --shared --take', ['7'], { take: true, shared: 'origin' }],
  ['workflow share 7', ['7', undefined]],
  ['workflow share 7 up', ['7', 'up']],
  ['workflow publish 7', ['7']],
  ['workflow release 7', ['7']],
  ['workflow abort 7', ['7']],
  ['workflow history 7', ['7']],
  ['workflow graph f.yaml', ['f.yaml']],
  [
    'workflow simulate f.yaml --fail a:1 --fail b/2 --case a=x --steps b=2 --set issue=42',
    ['f.yaml'],
    { fail: ['a:1', 'b/2'], case: ['a=x'], steps: ['b=2'], set: ['issue=42'] },
  ],
]

const COMMAND_LINES = ROWS.map(([line, given, options]) => {
  const command = /^(?:workflow )?\S+/.exec(line)?.[0] as Invocation['command']
  const words = Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word)
  return [words, { command, arguments: given, options: { ...DEFAULTS[command], ...options } } as Invocation] as const
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
    ...DECLARED.filter(({ command }) => command.registeredArguments.some(({ required }) => required)).map(({ words }) =>
      words.join(' '),
    ),
    ...['create --force', 'step 7', 'workflow start --definition f.yaml'],
  ])('a missing argument: %s', async (line) => {
    expect(await refused(line.split(' '))).toBe('commander.missingArgument')
  })

  it.each([
    ...['create 7 --skill', 'create 7 --step', 'explain --payload', 'logs -n', 'install --scope', 'inspect --root'],
    'workflow start 7 --definition',
  ])('an option without its value: %s', async (line) => {
    expect(await refused(line.split(' '))).toBe('commander.optionMissingArgument')
  })

  it.each(['nonsense', 'Create 7', 'workflow nonsense'])('an unknown command: %s', async (line) => {
    expect(await refused(line.split(' '))).toBe('commander.unknownCommand')
  })

  const invalid = (option: string, value: string) => ({ code: 'value-invalid', args: { option, value } })
  const noDefinition = { code: 'usage', args: { detail: expect.stringContaining('--definition <file>') } }
  const row = (...cells: [why: string, words: string[], error: object]) => cells
  it.each([
    row('a workflow without its definition', ['workflow', 'start', '7'], noDefinition),
    ...['many', '-1', '1.5', '1e3', '', ' 5'].map((value) =>
      row('a count that is not a whole number', ['logs', `--count=${value}`], invalid('-n', value)),
    ),
    row('a task in the place of a remote', ['workflow', 'resume', '--shared', '7'], invalid('--shared', '7')),
    row(
      'a task in the place of a remote to share with',
      ['workflow', 'start', '--definition', 'f.yaml', '--share', '7'],
      invalid('--share', '7'),
    ),
    row('the hook, which is started before this program', ['hook'], { code: 'usage' }),
  ])('%s: %j', async (_, words, expected) => {
    const { ran, printed, error } = await read(words)
    expect({ ran, printed }).toEqual({ ran: [], printed: '' })
    expect(error).toBeInstanceOf(PostflightError)
    expect(error).toMatchObject(expected)
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
