/** Creates throw-away projects, and runs the hook and the CLI in them: the built files as processes, or the sources in this one. */

import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { HOOK_HOSTS } from '../../src/hosts/hook-hosts.ts'
import { readDocument } from './documents.ts'
import type { Fields } from './payloads.ts'
import { CLI, LAUNCHER, NOBODY, PACKAGE, type ProcessResult, runProcess } from './process.ts'
import { PROCESSES, type ProgramOptions, SOURCES } from './programs.ts'

export interface RunOptions extends Partial<Omit<ProgramOptions, 'env'>> {
  /** Variables that are added to the clean environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

export interface HookOptions extends RunOptions {
  /** The hook's own arguments, such as SessionStart. */
  readonly words?: readonly string[]
  /** The command that is started, as a process, instead of `hooks/postflight-hook`. */
  readonly program?: readonly [string, ...string[]]
}

/** What a project is like. It is a repository, which bounds every search. */
export interface ProjectOptions {
  readonly name?: string
  /** `false` leaves out the folder that makes it a root. */
  readonly specs?: boolean
  readonly git?: boolean
  /** The content of files in it. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** The settings of the user start the hook, on every host that names its session: so no command says that they do not. */
  readonly wired?: boolean
  /**
   * Runs the sources of the hook and the CLI in this process instead of starting the built files. That takes some
   * fiftieth of the time: for long tables, and for what only the sources can be given, such as a limit or a folder.
   */
  readonly sources?: boolean
}

export interface HookRun extends ProcessResult {
  readonly answer: {
    readonly decision?: string
    readonly reason?: string
    readonly systemMessage?: string
    readonly hookSpecificOutput?: {
      readonly hookEventName: string
      readonly additionalContext: string
      readonly permissionDecision?: string
      readonly permissionDecisionReason?: string
    }
  }
}

export interface CliRun extends ProcessResult {
  /** The one JSON document on stdout, checked against the command's schema. */
  readonly json: () => JsonDocument
}

// biome-ignore lint/suspicious/noExplicitAny: tests read documents of many shapes, and compare what they read
export type JsonDocument = any

export interface Project {
  /** The folder that contains the project, its home and its PATH. */
  readonly base: string
  readonly dir: string
  readonly home: string
  /** The clean environment: PATH and HOME. */
  readonly env: Readonly<Record<string, string>>
  at(...names: string[]): string
  write(name: string, text: string | Uint8Array, mode?: number): string
  read(name: string): string
  has(name: string): boolean
  /** Writes a marker: fields as JSON, or any text. Returns its path in the project. */
  marker(task: string, content: Fields | string): string
  /** Creates the transcript of a session that begins now. Returns its path. */
  transcript(): string
  /** The content of every file and folder below `name` except `.git`: equal snapshots mean that nothing changed. */
  snapshot(name?: string): Record<string, string>
  journal(): Record<string, unknown>[]
  /** Runs the hook, and checks that it ends with exit code 0 and one line of JSON. */
  hook(payload: Fields | string | undefined, options?: HookOptions): Promise<HookRun>
  cli(words: readonly string[], options?: RunOptions): Promise<CliRun>
  shell(script: string, options?: RunOptions & { readonly shell?: string }): Promise<ProcessResult>
}

const made: string[] = []

/** Removes the projects of a test file. Its tests run side by side, so none of them can do that earlier. */
export function removeProjects(): void {
  for (const base of made.splice(0)) fs.rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

export function createProject(options: ProjectOptions = {}): Project {
  const programs = options.sources === true ? SOURCES : PROCESSES
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'postflight-test-')))
  made.push(base)
  const dir = join(base, options.name ?? 'project')
  const home = join(base, 'home')
  const bin = join(base, 'bin')
  for (const folder of [dir, home, bin]) fs.mkdirSync(folder, { recursive: true })
  for (const folder of options.git === false ? [home] : [home, dir]) fs.mkdirSync(join(folder, '.git'))
  if (options.specs !== false) fs.mkdirSync(join(dir, 'specs'))
  if (options.wired === true) for (const file of USER_SETTINGS) wire(join(home, file))
  fs.symlinkSync(process.execPath, join(bin, 'node'))
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home }
  const at = (...names: string[]): string => join(dir, ...names)

  const inside = (given: RunOptions): ProgramOptions => ({
    ...given,
    cwd: given.cwd ?? dir,
    env: { ...env, ...given.env },
  })

  const write = (name: string, text: string | Uint8Array, mode?: number): string => {
    const target = at(name)
    fs.mkdirSync(dirname(target), { recursive: true })
    fs.writeFileSync(target, text)
    if (mode !== undefined) fs.chmodSync(target, mode)
    return target
  }
  for (const [file, text] of Object.entries(options.files ?? {})) write(file, text)

  return {
    base,
    dir,
    home,
    env,
    at,
    write,
    read: (name) => fs.readFileSync(at(name), 'utf8'),
    has: (name) => fs.lstatSync(at(name), { throwIfNoEntry: false }) !== undefined,
    marker(task, content) {
      const name = join('specs', task, '.postflight-pending')
      write(name, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
      return name
    },
    transcript() {
      const file = join(home, '.claude', 'projects', 'x', `${randomUUID()}.jsonl`)
      fs.mkdirSync(dirname(file), { recursive: true })
      fs.writeFileSync(file, '{}\n')
      return file
    },
    snapshot: (name = '.') => snapshotOf(at(name)),
    journal: () => journalOf(dir),
    async hook(payload, given = {}) {
      const { program, words = [], ...rest } = given
      const input = typeof payload === 'object' ? JSON.stringify({ cwd: given.cwd ?? dir, ...payload }) : payload
      const options = inside({ input, ...rest })
      const result = await (program === undefined
        ? programs.hook(words, options)
        : runProcess(program[0], [...program.slice(1), ...words], options))
      expect({ status: result.status, signal: result.signal }, result.stderr).toEqual({ status: 0, signal: null })
      expect(result.stdout).toMatch(/^\{.*\}\n$/)
      return { ...result, answer: JSON.parse(result.stdout) as HookRun['answer'] }
    },
    async cli(words, given = {}) {
      const result = await programs.cli(words, inside(given))
      expect(result.signal).toBe(null)
      expect([0, 1, 64, 65, 73], result.stderr).toContain(result.status)
      return { ...result, json: () => readDocument(words, result.stdout) as JsonDocument }
    },
    shell: (script, { shell = 'sh', ...given } = {}) => runProcess(shell, ['-c', script], inside(given)),
  }
}

const USER_SETTINGS = [
  '.claude/settings.json',
  ...Object.values(HOOK_HOSTS).map(({ folder, file }) => `${folder}/${file}`),
]

function wire(settings: string): void {
  fs.mkdirSync(dirname(settings), { recursive: true })
  fs.writeFileSync(settings, JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: LAUNCHER }] }] } }))
}

/** Creates a project whose hook and CLI run the sources in this process: `ProjectOptions.sources`. */
export function createSourceProject(options: ProjectOptions = {}): Project {
  return createProject({ ...options, sources: true })
}

export interface DependentProject {
  readonly project: Project
  readonly folder: string
  /** Runs the sources as the CLI of that copy: words, or a line of them. */
  readonly cli: (words: readonly string[] | string, options?: RunOptions) => Promise<CliRun>
}

export function createDependentProject(options: ProjectOptions = {}): DependentProject {
  const project = createSourceProject(options)
  const folder = copyPackage(project.at('node_modules/postflight-guard'))
  const cli: DependentProject['cli'] = (words, options) =>
    project.cli(typeof words === 'string' ? words.split(' ') : words, { packageFolder: folder, ...options })
  return { project, folder, cli }
}

export interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

export async function findingsOf(
  cli: (words: readonly string[], options?: RunOptions) => Promise<ProcessResult>,
  options?: RunOptions,
): Promise<{ status: number | null; wrong: Finding[]; all: Finding[]; stdout: string }> {
  const { status, stdout } = await cli(['doctor', '--json'], options)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { status, all: findings, wrong: findings.filter(({ ok }) => !ok), stdout }
}

/** Commits the files of a project without git, and returns a linked worktree of it. */
export async function linkWorktree(project: Project): Promise<string> {
  const commit = 'git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x --allow-empty'
  expect(await project.shell(`${commit} && git worktree add -q ../linked`)).toMatchObject({ status: 0 })
  return project.at('../linked')
}

export function withMarker(content: object | string = {}, task = '259_x', create = createSourceProject): Project {
  const project = create()
  project.marker(task, typeof content === 'string' ? content : { ...content })
  return project
}

function journalOf(root: string): Record<string, unknown>[] {
  const text = fs.readFileSync(join(root, 'specs', '.postflight', 'journal.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

function snapshotOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of namesBelow(folder).sort()) {
    const target = join(folder, name)
    const stats = fs.lstatSync(target)
    if (stats.isSymbolicLink()) found[name] = `link to ${fs.readlinkSync(target)}`
    else if (stats.isFile()) found[name] = fs.readFileSync(target, 'latin1')
    else found[name] = stats.isDirectory() ? 'folder' : 'something else'
  }
  return found
}

/** Every name below a folder except `.git`; links are not followed. */
function namesBelow(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === '.git') return []
    const below = entry.isDirectory() ? namesBelow(join(folder, entry.name)) : []
    return [entry.name, ...below.map((name) => join(entry.name, name))]
  })
}

export function claudeHookEnv(project: Project, session: string): Record<string, string> {
  return { CLAUDE_PROJECT_DIR: project.dir, CLAUDE_CODE_SESSION_ID: session, CLAUDECODE: '1' }
}

export function makeOld(file: string, hours: number): void {
  const time = Date.now() / 1000 - hours * 3600
  fs.utimesSync(file, time, time)
}

/** The time some hours ago, as `date -u +%Y-%m-%dT%H:%M:%SZ` prints it. */
export function hoursAgo(hours: number): string {
  return `${new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 19)}Z`
}

export interface Unprivileged {
  readonly uid?: number
  /** The launcher in a folder that this user may read. */
  readonly launcher: string
  readonly cli: string
}

/**
 * Makes rights matter even for root, which ignores them. When root runs the tests, the project is given to the user
 * `nobody`, and its processes run as that user, from a copy of the package that it may read. Otherwise nothing changes.
 */
export function withoutPrivileges(project: Project): Unprivileged {
  if (process.getuid?.() !== 0) return { launcher: LAUNCHER, cli: CLI }
  const copy = copyPackage(join(project.base, 'package'))
  fs.chmodSync(project.base, 0o755)
  for (const name of ['.', ...namesBelow(project.base)]) {
    const target = join(project.base, name)
    if (!fs.lstatSync(target).isSymbolicLink()) fs.chownSync(target, NOBODY, NOBODY)
  }
  return { uid: NOBODY, launcher: join(copy, 'hooks', 'postflight-hook'), cli: join(copy, 'bin', 'postflight.js') }
}

export function copyPackage(folder: string): string {
  fs.mkdirSync(folder, { recursive: true })
  for (const name of ['bin', 'dist', 'examples', 'hooks', 'plugin', 'package.json']) {
    fs.cpSync(join(PACKAGE, name), join(folder, name), { recursive: true })
  }
  return folder
}
