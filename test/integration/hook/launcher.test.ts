import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { ABANDONED_FILE, MARKER_FILE } from '../../../src/kernel/files.ts'
import { findRoots, PROJECT_VARIABLES, startFolders } from '../../../src/project/root.ts'
import { foldersHolding, listTaskFolders } from '../../../src/project/task-folders.ts'
import { LAUNCHER } from '../../support/process.ts'

/**
 * The launcher answers `{}` without starting Node if nothing is pending. It must search wherever the Node hook
 * searches, so the two are compared on random projects. The only program on its PATH is our own `node`, which prints
 * one word.
 */

const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'postflight-launcher-')))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }), 60_000)

const LAUNCHER_COPY = join(base, 'package', 'hooks', 'postflight-hook')
const NODE_STARTED = 'node was started\n'
const BIN = join(base, 'bin')

// Ends every search: the other files in the temporary folder do not belong to this test.
fs.mkdirSync(join(base, '.git'))
fs.mkdirSync(dirname(LAUNCHER_COPY), { recursive: true })
fs.copyFileSync(LAUNCHER, LAUNCHER_COPY)
fs.chmodSync(LAUNCHER_COPY, 0o755)
fs.mkdirSync(join(base, 'package', 'dist', 'cli'), { recursive: true })
for (const bundle of ['hook.js', 'cli/cli.js']) fs.writeFileSync(join(base, 'package', 'dist', bundle), '')
fs.mkdirSync(BIN)
fs.writeFileSync(join(BIN, 'node'), `#!/bin/sh\nprintf '%s' '${NODE_STARTED}'\n`, { mode: 0o755 })

const pathOf = (program: string): string =>
  spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim()

// The shells are found on the PATH of the test, and then get only ours.
const SHELL_PATHS = [['sh'], ['bash', '--posix'], ['busybox', 'sh'], ['ksh']]
  .map(([program = '', ...words]) => [pathOf(program), ...words])
  .filter(([program]) => program !== '')

const NAMES = [
  ...['specs', 'a', 'archive', '012_x', '9', '0', '259_prove_completeness', 'X1', '٣_digit'],
  ...['.hidden', '..x', '...', '.-'],
  ...['with space', ' ', ' lead', 'trail ', 'new\nline', '\n', 'end\n', 'tab\t', '\u0007bell', '\u001b[31m'],
  ...['-dash', '--', '-e', '*', '?', '[a]', '[!0]', '{a,b}', '\\', '\\n', 'back\\slash', '~', '$HOME', '`x`', '$(x)'],
  ...["it's", '"quoted"', '#x', '!x', '&', ';', '|', '<', '>', '(', ')', '%s', '%', '=', 'a=b', ':', ','],
  ...['ü', 'u\u0308', '漢字', '🚀', 'é'],
]
const name = fc.constantFrom(...NAMES)
/** A folder named specs may be the specs/ of the level above it. */
const levelName = fc.oneof({ weight: 3, arbitrary: name }, { weight: 1, arbitrary: fc.constant('specs') })

/** The kinds of things that may have the marker's name. */
const entry = fc.constantFrom('file', 'file', 'empty', 'folder', 'link', 'link to nothing')

const FILES = [MARKER_FILE, MARKER_FILE, ABANDONED_FILE, `${ABANDONED_FILE}.1`, 'plan.md', '.postflight-loop-guard']

/** A place inside specs/, and the file to put there. */
const item = fc.record({
  /** Folders below specs/, each a real one or a link to another folder. */
  folders: fc.array(fc.record({ name, isLink: fc.constantFrom(false, false, false, true) }), { maxLength: 4 }),
  file: fc.constantFrom(...FILES),
  entry,
})

/** One folder between the top of the project and the agent's folder. */
const level = fc.record({
  name: levelName,
  specs: fc.constantFrom('none', 'none', 'folder', 'folder', 'link', 'file'),
  git: fc.constantFrom('none', 'none', 'none', 'folder', 'file', 'link to nothing'),
  items: fc.array(item, { maxLength: 3 }),
})

type Level = typeof level extends fc.Arbitrary<infer T> ? T : never
type Item = typeof item extends fc.Arbitrary<infer T> ? T : never

const otherKind = fc.constantFrom(
  ...(['link', 'link up', 'relative', 'dots', 'slash', 'file', 'nowhere', 'empty', 'name only'] as const),
)
const target = fc.record({
  kind: fc.oneof({ weight: 2, arbitrary: fc.constant('level') }, { weight: 3, arbitrary: otherKind }),
  at: fc.nat(9),
})

const project = fc.record({
  levels: fc.array(level, { minLength: 1, maxLength: 4 }),
  /** A second project beside the first. */
  other: fc.array(level, { minLength: 1, maxLength: 2 }),
  cwd: fc.nat(9),
  /** True if the shell's PWD names its folder through a link. */
  logicalPwd: fc.boolean(),
  variables: fc.dictionary(fc.constantFrom('POSTFLIGHT_ROOT', ...PROJECT_VARIABLES), target, { maxKeys: 3 }),
  locale: fc.constantFrom({}, { LC_ALL: 'C.UTF-8' }),
})

type Plan = typeof project extends fc.Arbitrary<infer T> ? T : never

interface Built {
  /** The folder of both projects. */
  readonly top: string
  readonly cwd: string
  readonly variables: Record<string, string>
  readonly pwd: string | undefined
  /** The file names that were put anywhere. */
  readonly placed: ReadonlySet<string>
}

let projectCount = 0

function build(plan: Plan): Built {
  projectCount += 1
  const top = join(base, `project-${projectCount}`)
  const placed = new Set<string>()
  let linkCount = 0

  /** A folder elsewhere, as the target of a link. */
  const elsewhere = (): string => {
    linkCount += 1
    const folder = join(top, 'elsewhere', String(linkCount))
    fs.mkdirSync(folder, { recursive: true })
    return folder
  }
  const put = (specs: string, { folders, file, entry: what }: Item): void => {
    let folder = specs
    for (const { name: folderName, isLink } of folders) {
      folder = join(folder, folderName)
      tryTo(() => (isLink ? fs.symlinkSync(elsewhere(), folder) : fs.mkdirSync(folder)))
    }
    const path = join(folder, file)
    tryTo(() => {
      if (what === 'folder') fs.mkdirSync(path)
      else if (what === 'link') fs.symlinkSync(elsewhere(), path)
      else if (what === 'link to nothing') fs.symlinkSync('nowhere-at-all', path)
      else fs.writeFileSync(path, what === 'empty' ? '' : '{}')
      placed.add(file)
    })
  }
  const buildLevels = (start: string, levels: readonly Level[]): string[] => {
    let folder = start
    return levels.map(({ name: ownName, specs: wanted, git, items }, at) => {
      folder = join(folder, ownName)
      // The next level is this one's specs/.
      const specs = wanted !== 'none' && levels[at + 1]?.name === 'specs' ? 'folder' : wanted
      fs.mkdirSync(folder, { recursive: true })
      if (git === 'folder') fs.mkdirSync(join(folder, '.git'))
      else if (git === 'file') fs.writeFileSync(join(folder, '.git'), 'gitdir: elsewhere')
      else if (git !== 'none') fs.symlinkSync('nowhere-at-all', join(folder, '.git'))
      const specsFolder = join(folder, 'specs')
      tryTo(() => {
        if (specs === 'folder') fs.mkdirSync(specsFolder)
        else if (specs === 'link') fs.symlinkSync(elsewhere(), specsFolder)
        else if (specs === 'file') fs.writeFileSync(specsFolder, '')
      })
      if (specs === 'folder' || specs === 'link') for (const one of items) put(specsFolder, one)
      return folder
    })
  }

  const levels = buildLevels(join(top, 'one'), plan.levels)
  const all = [...levels, ...buildLevels(join(top, 'two'), plan.other)]
  const pick = (folders: readonly string[], at: number): string => folders[at % folders.length] as string
  const cwd = pick(levels, plan.cwd)
  const linkTo = (folder: string): string => {
    linkCount += 1
    const link = join(top, `link-${linkCount}`)
    fs.symlinkSync(folder, link)
    return link
  }
  const variables = Object.entries(plan.variables).map(([variable, { kind, at }]) => {
    const folder = pick(all, at)
    const values: Record<typeof kind, () => string> = {
      level: () => folder,
      link: () => linkTo(folder),
      // By its text this is the folder of the link; by the file system it is the parent of the link's target.
      'link up': () => `${linkTo(folder)}/../${folder.slice(top.length + 1)}`,
      relative: () => `../${folder.split('/').at(-1)}`,
      dots: () => `${folder}/./../${folder.split('/').at(-1)}`,
      slash: () => `${folder}///`,
      file: () => touched(join(folder, 'a file')),
      nowhere: () => join(folder, 'nowhere'),
      empty: () => '',
      'name only': () => folder.split('/').at(-1) ?? '',
    }
    return [variable, values[kind]()]
  })
  return { top, cwd, variables: Object.fromEntries(variables), pwd: plan.logicalPwd ? linkTo(cwd) : undefined, placed }
}

function touched(file: string): string {
  fs.writeFileSync(file, '')
  return file
}

/** Does `action` if it is possible: two places of one plan may be the same, or one may lie below a file. */
function tryTo(action: () => void): void {
  try {
    action()
  } catch {
    // The second place is left as it is.
  }
}

/** True if the Node hook would find a file with one of these names. */
function nodeFinds({ cwd, variables }: Built, names: readonly string[]): boolean {
  return findRoots(startFolders({ payloadCwd: cwd, environment: variables, cwd })).some((root) => {
    const { folders } = listTaskFolders(root)
    return names.some((fileName) => foldersHolding(folders, fileName).length > 0)
  })
}

function launch(shell: readonly string[], built: Built, locale: Record<string, string>, words: readonly string[] = []) {
  const [program = '', ...first] = shell
  const { error, stdout, stderr, status } = spawnSync(program, [...first, LAUNCHER_COPY, ...words], {
    cwd: built.cwd,
    env: { PATH: BIN, ...locale, ...built.variables, ...(built.pwd !== undefined && { PWD: built.pwd }) },
    input: '',
    encoding: 'utf8',
  })
  // bash complains about a locale that the machine does not have.
  const complaints = stderr.split('\n').filter((line) => line !== '' && !line.includes('setlocale'))
  expect({ error, complaints, status }).toEqual({ error: undefined, complaints: [], status: 0 })
  return stdout
}

function fakeNode(script: string): string {
  const bin = fs.mkdtempSync(join(base, 'node-'))
  fs.writeFileSync(join(bin, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return bin
}

it('the launcher, in each shell, starts Node if the Node hook would find something, and not if there is nothing', () => {
  fc.assert(
    fc.property(project, fc.constantFrom('Stop', 'SessionStart', 'StatusLine'), (plan, event) => {
      const built = build(plan)
      const names = event === 'Stop' ? [MARKER_FILE] : [MARKER_FILE, ABANDONED_FILE]
      // A status line without anything to show is empty.
      const idle = event === 'StatusLine' ? '' : '{}\n'
      const words = event === 'Stop' ? [] : [event]
      const answers = SHELL_PATHS.map((shell) => [shell, launch(shell, built, plan.locale, words)] as const)
      const isFound = nodeFinds(built, names)
      // If a variable names a file, the Node hook decides about its parent.
      const isPlain = Object.values(built.variables).every(
        (value) => !fs.statSync(resolve(built.cwd, value), { throwIfNoEntry: false })?.isFile(),
      )
      fs.rmSync(built.top, { recursive: true, force: true })
      for (const [shell, answer] of answers) {
        expect([idle, NODE_STARTED], shell[0]).toContain(answer)
        if (isFound) expect(answer, shell[0]).toBe(NODE_STARTED)
        if (isPlain && !names.some((fileName) => built.placed.has(fileName))) expect(answer, shell[0]).toBe(idle)
      }
    }),
    { numRuns: 120 },
  )
})

describe.each(SHELL_PATHS.map((shell) => ({ name: shell.join(' '), shell })))('the launcher in $name', ({ shell }) => {
  const HOOK = '[ ! -f "/x/hooks/postflight-hook" ] || exec "/x/hooks/postflight-hook"'
  const twice = (...scopes: string[]): string => {
    const removal = scopes.map((scope) => `postflight uninstall --scope ${scope}`).join(' && ')
    return `postflight-guard is set up twice, as a plugin and in settings, so its hook runs twice. \`${removal}\` ends it.`
  }

  /** What a session of the plugin says with these settings, in the project and of the user. */
  function sessionOfPlugin(files: Record<string, string>, variables: Record<string, string> = {}) {
    const built = withFiles(files)
    const ofProject = { CLAUDE_PROJECT_DIR: built.cwd, HOME: join(built.cwd, 'home') }
    const environment = { CLAUDE_PLUGIN_ROOT: '/plugin', CLAUDECODE: '1', ...ofProject, ...variables }
    return (word = 'SessionStart') => launch(shell, built, environment, [word])
  }

  const settings = (command: string): string =>
    JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }, null, 2)

  it.each([
    ['the project', ['.claude/settings.json'], ['project'], {}],
    ['this machine', ['.claude/settings.local.json'], ['local'], {}],
    ['the user', ['home/.claude/settings.json'], ['user'], {}],
    ['another folder of the user', ['other/settings.json'], ['user'], { CLAUDE_CONFIG_DIR: 'other' }],
    ['two', ['.claude/settings.json', 'home/.claude/settings.json'], ['project', 'user'], {}],
  ])('tells a session of the plugin that the settings of %s start the hook too', (_whose, files, scopes, more) => {
    const start = sessionOfPlugin(Object.fromEntries(files.map((file) => [file, settings(HOOK)])), more)
    expect(JSON.parse(start())).toEqual({ systemMessage: twice(...scopes) })
  })

  it.each([
    ['no settings', {}, {}],
    ['a folder in their place', { '.claude/settings.json/x': '' }, {}],
    ['rules alone', { '.claude/settings.json': '{"permissions":{"allow":["Bash(postflight create *)"]}}' }, {}],
    ['a script of the user', { '.claude/settings.json': settings('~/bin/postflight-hook') }, {}],
    ['a hook beyond the first lines', { '.claude/settings.json': `${'\n'.repeat(3000)}${settings(HOOK)}` }, {}],
    ['no plugin', { '.claude/settings.json': settings(HOOK) }, { CLAUDE_PLUGIN_ROOT: '' }],
    ['another host', { '.claude/settings.json': settings(HOOK) }, { CLAUDECODE: '' }],
  ])('says nothing of it with %s', (_what, files, variables) => {
    expect(sessionOfPlugin(files, variables)()).toBe('{}\n')
  })

  it.each([
    ['{}', { systemMessage: twice('project') }],
    [
      '{"hookSpecificOutput":{"additionalContext":"a \\"systemMessage\\""}}',
      { systemMessage: twice('project'), hookSpecificOutput: { additionalContext: 'a "systemMessage"' } },
    ],
    ['{"systemMessage":"other"}', { systemMessage: 'other' }],
  ])('says it beside the answer of Node %s, and at no stop', (said, answer) => {
    const files = { '.claude/settings.json': settings(HOOK), 'specs/001_x/.postflight-pending': '' }
    const start = sessionOfPlugin(files, { PATH: fakeNode(`printf '%s' '${said}'`) })
    expect(JSON.parse(start())).toEqual(answer)
    expect(start('')).toBe(`${said}\n`)
  })

  it('with the word Agent starts Node only if a report is kept', () => {
    const ours = 'specs/.postflight'
    const built = withFiles(emptyFiles([`specs/${MARKER_FILE}`, `specs/${ABANDONED_FILE}`, `${ours}/journal.jsonl`]))
    for (const folder of ['src', `${ours}/reports`]) fs.mkdirSync(join(built.cwd, folder))
    const below = { ...built, cwd: join(built.cwd, 'src') }
    expect(launch(shell, below, {}, ['Agent'])).toBe('{}\n')
    fs.writeFileSync(join(built.cwd, ours, 'reports/agent-a'), 'x')
    expect(launch(shell, below, {}, ['Agent'])).toBe(NODE_STARTED)
    const elsewhere = { ...withFiles(), variables: { CLAUDE_PROJECT_DIR: below.cwd } }
    expect(launch(shell, elsewhere, {}, ['Agent'])).toBe(NODE_STARTED)
  })
})

const emptyFiles = (names: readonly string[]) => Object.fromEntries(names.map((file) => [file, '']))

function withFiles(files: Readonly<Record<string, string>> = {}): Built {
  projectCount += 1
  const cwd = join(base, `project-${projectCount}`)
  fs.mkdirSync(join(cwd, '.git'), { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(cwd, file)), { recursive: true })
    fs.writeFileSync(join(cwd, file), text)
  }
  return { top: cwd, cwd, variables: {}, pwd: undefined, placed: new Set() }
}

describe('the launcher', () => {
  const shell = SHELL_PATHS[0] as string[]
  const DONE = 'specs/done.yaml'
  const MARKER = `specs/001_x/${MARKER_FILE}`
  const RUN = 'specs/.postflight/running/001_x'

  it('reads the same variables as the Node hook', () => {
    const text = fs.readFileSync(LAUNCHER, 'utf8')
    const [line] = /^for start in .*$/m.exec(text) ?? ['']
    const asked = [...line.matchAll(/\$\{(\w+)-\}/g)].map((match) => match[1])
    expect(asked.sort()).toEqual(['POSTFLIGHT_ROOT', ...PROJECT_VARIABLES].sort())
  })

  it('finds specs/ at the top of the file system', () => {
    // A copy of the script with another top, because a test cannot make /specs.
    const { top } = withFiles({ [MARKER]: '' })
    const script = fs.readFileSync(LAUNCHER, 'utf8').replaceAll('"$folder/specs"', '"$TOP$folder/specs"')
    expect(script).toContain('"$TOP$folder/specs"')
    const moved = join(dirname(LAUNCHER_COPY), 'moved')
    fs.writeFileSync(moved, script)
    const options = { cwd: dirname(shell[0] as string), env: { PATH: BIN, TOP: top }, encoding: 'utf8' as const }
    expect(spawnSync(shell[0] as string, [moved], options).stdout).toBe(NODE_STARTED)
  })

  it.each([
    ['Stop', true],
    ['SessionStart', true],
    ['', false],
    ['Agent', false],
    ['StatusLine', false],
  ])('with the word %j and a definition of done, or a broken link to one: Node starts is %j', (word, starts) => {
    const linked = withFiles({ 'specs/x': '' })
    fs.symlinkSync('/nowhere', join(linked.cwd, DONE))
    const answers = [withFiles({ [DONE]: '' }), linked].map((built) =>
      launch(shell, built, {}, word === '' ? [] : [word]),
    )
    expect(answers.map((answer) => answer === NODE_STARTED)).toEqual([starts, starts])
  })

  it.each([
    ['{}', NODE_STARTED],
    ['--root /nowhere', NODE_STARTED],
    ['SubagentStop', NODE_STARTED],
    ['Stop --root /nowhere', NODE_STARTED],
    ['Stop', '{}\n'],
  ])('with the words %j answers %j if nothing is pending', (words, answer) => {
    expect(launch(shell, withFiles(), {}, words.split(' '))).toBe(answer)
  })

  it.each(
    (
      'CDPATH=/ GLOBIGNORE=* SHELLOPTS=noglob SHELLOPTS=errexit:nounset BASHOPTS=failglob IFS=/ PWD=/nowhere OLDPWD=/ ' +
      'BASHOPTS=nullglob:dotglob:nocaseglob POSIXLY_CORRECT=1 found=x seen=x event=x folder=x ENV=/nowhere ' +
      'BASH_ENV=/nowhere LC_ALL=en_US.UTF-8 HOME='
    ).split(' '),
  )('finds the marker with %s in its environment', (assignment) => {
    const [variable = '', value = ''] = assignment.split('=')
    const built = withFiles({ [`specs/a b/${MARKER_FILE}`]: '' })
    for (const each of SHELL_PATHS) expect(launch(each, built, { [variable]: value })).toBe(NODE_STARTED)
  })

  const FUNCTIONS = '[ builtin cat cd command echo node printf read readlink shopt test'.split(' ')
  // In POSIX mode bash itself refuses to start with functions of these names.
  const SPECIAL = 'break continue exit export return set shift trap unset'.split(' ')
  const [bash] = SHELL_PATHS.find(([found = '']) => found.endsWith('/bash')) ?? []

  it.runIf(bash !== undefined).each([
    [['--posix'], FUNCTIONS],
    [[], [...FUNCTIONS, ...SPECIAL]],
  ])('calls no exported function, in bash %j', (words, names) => {
    const built = withFiles({ 'specs/001_x/plan.md': '' })
    const called = fs.mkdtempSync(join(base, 'called-'))
    const exported = names.map((name) => [`BASH_FUNC_${name}%%`, `() {  : >'${called}/${name}'\n}`])
    const answer = () => {
      const options = { cwd: built.cwd, env: { PATH: BIN, ...Object.fromEntries(exported) }, input: '' }
      const { stdout, status } = spawnSync(bash as string, [...words, LAUNCHER_COPY], { ...options, encoding: 'utf8' })
      return { stdout, status, called: fs.readdirSync(called) }
    }
    expect(answer()).toEqual({ stdout: '{}\n', status: 0, called: [] })
    fs.writeFileSync(join(built.cwd, MARKER), '')
    expect(answer()).toEqual({ stdout: NODE_STARTED, status: 0, called: [] })
  })

  it('does not go through a thousand links to a large folder, in any shell', () => {
    const [linked, real] = [withFiles({ 'specs/folder/x': '' }), withFiles({ 'specs/folder/x': '' })]
    const large = join(linked.cwd, 'large')
    for (let folder = 0; folder < 300; folder++) fs.mkdirSync(join(large, `a${folder}`), { recursive: true })
    for (const folder of [large, join(large, 'a0')]) fs.writeFileSync(join(folder, MARKER_FILE), '')
    for (let entry = 0; entry < 1000; entry++) {
      fs.symlinkSync(large, join(linked.cwd, 'specs', `x${entry}`))
      fs.mkdirSync(join(real.cwd, 'specs', `x${entry}`))
    }
    fs.symlinkSync(large, join(linked.cwd, 'specs', 'folder', 'link'))
    for (const words of SHELL_PATHS) {
      const measure = (built: Built): number => {
        const started = performance.now()
        expect(launch(words, built, {})).toBe('{}\n')
        return performance.now() - started
      }
      const ratios = Array.from({ length: 5 }, () => measure(linked) / measure(real)).sort((one, other) => one - other)
      expect(ratios[2], words[0]).toBeLessThan(2)
    }
  })

  it.each<[string, string[], string[], string[], boolean]>([
    ['a marker alone', ['Stop'], [MARKER], [], true],
    ['a marker alone', [], [MARKER], [], true],
    ['a run', ['Stop'], [RUN], [], false],
    ['a marker and a run', [], [MARKER, RUN], [], false],
    ['a marker here and a run in the project', ['Stop'], [MARKER], [RUN], false],
    ['a definition of done', ['Stop'], [MARKER, DONE], [], false],
    ['a marker here and a definition of done in the project', ['Stop'], [MARKER], [DONE], false],
    ['a marker at the start of a session', ['SessionStart'], [MARKER], [], false],
    ['a marker and an option of the hook', ['--root', '.'], [MARKER], [], false],
  ])(
    'lets Node start with a known hash seed only where nothing large is read: %s, %j',
    (_name, words, here, there, quick) => {
      const [built, project] = [withFiles(emptyFiles(here)), withFiles(emptyFiles(there))]
      const { stdout } = spawnSync(shell[0] as string, [LAUNCHER_COPY, ...words], {
        cwd: built.cwd,
        env: { PATH: fakeNode('printf "%s " "$@"'), CLAUDE_PROJECT_DIR: project.cwd },
        encoding: 'utf8',
      })
      const options = quick ? ['--no-rehash-snapshot', '--no-maglev'] : ['--no-maglev']
      expect(stdout).toMatch(new RegExp(`^${options.join(' ')} [^-]\\S*hook\\.js`))
    },
  )

  it.each(['a file', 'a pipe'])(
    'starts a Node without those options once more, with the whole payload in %s',
    (kind) => {
      const built = withFiles({ [MARKER]: '', payload: `{"x":"${'y'.repeat(100_000)}"}` })
      const refuses = 'case $1 in --no-*) echo "node: bad option: $1" >&2; exit 9 ;; esac'
      const bin = fakeNode(
        `${refuses}\necho "a complaint of the hook" >&2\nwhile read -r line || [ -n "$line" ]; do printf '%s' "\${#line}"; line=; done`,
      )
      const again = `"${LAUNCHER_COPY}" Stop`
      const line =
        kind === 'a file'
          ? `${again} < payload`
          : `(while read -r l || [ -n "$l" ]; do echo "$l"; l=; done < payload) | ${again}`
      const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` }
      const options = { cwd: built.cwd, env, encoding: 'utf8' as const }
      const { stdout, stderr, status } = spawnSync(shell[0] as string, ['-c', line], options)
      expect({ stdout, stderr, status }).toEqual({ stdout: '100008\n', stderr: 'a complaint of the hook\n', status: 0 })
    },
  )
})
