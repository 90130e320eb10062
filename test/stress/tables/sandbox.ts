/** Throw-away projects for a user who is not root, with canaries outside of them, and processes that run in them. */

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { NOBODY, type ProcessResult, runProcess } from '../../support/process.ts'
import { SOURCES } from '../../support/programs.ts'
import { copyPackage } from '../../support/project.ts'

/** True when root runs the tests. Root ignores rights, so the tests' processes then run as the user `nobody`. */
export const IS_ROOT = process.getuid?.() === 0
const USER = IS_ROOT ? NOBODY : undefined

/** The text of every file outside of a project: a program that prints it has read outside of the project. */
export const CANARY = 'canary-that-nobody-may-read'

/** How long an empty Node process takes (ms) on the machine that the limits were written for, with a test beside it. */
const START_MS = 100

/** Whether something took longer than `limitMs` on this machine, which may be busy or slow. A hang takes longer anywhere. */
export function tookTooLong(durationMs: number, limitMs: number): boolean {
  if (durationMs <= limitMs) return false
  const startedMs = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return durationMs > limitMs * Math.min(4, Math.max(1, (performance.now() - startedMs) / START_MS))
}

export type PackageCopy = ReturnType<typeof makePackageCopy>

/** A copy of the package that the user `nobody` may read and start; a test file creates it once. */
export function makePackageCopy() {
  const base = makeBase('postflight-package-')
  const folder = copyPackage(join(base, 'package'))
  const [launcher, cli] = [join(folder, 'hooks', 'postflight-hook'), join(folder, 'bin', 'postflight.js')]
  return { folder, launcher, cli, remove: () => fs.rmSync(base, { recursive: true, force: true }) }
}

function makeBase(prefix: string): string {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), prefix)))
  fs.chmodSync(base, 0o755)
  return base
}

export type Sandbox = ReturnType<typeof makeSandbox>

export interface SandboxRun {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** True to run as root, if the tests do. */
  readonly asRoot?: boolean
}

type HereRun = Omit<SandboxRun, 'asRoot'> & { readonly packageFolder?: string }

/** A project with `specs/`, bounded by a `.git` folder, and a folder of canaries beside it. */
export function makeSandbox() {
  const base = makeBase('postflight-sandbox-')
  const project = join(base, 'project')
  const outside = join(base, 'outside')
  const home = join(base, 'home')
  const bin = join(base, 'bin')
  for (const folder of [project, outside, home, bin, join(base, '.git'), join(project, 'specs')]) fs.mkdirSync(folder)
  fs.symlinkSync(process.execPath, join(bin, 'node'))
  const env: Readonly<Record<string, string>> = { PATH: `${bin}:/usr/bin:/bin`, HOME: home }
  const at = (...names: string[]): string => join(project, ...names)
  let sealed: Record<string, string> = {}
  return {
    ...{ base, project, outside, env, at },
    write(name: string, content: string | Uint8Array) {
      fs.mkdirSync(dirname(at(name)), { recursive: true })
      fs.writeFileSync(at(name), content)
      return at(name)
    },
    /** Gives all files to the user that processes run as. Call it when the files are complete. */
    hand() {
      if (USER === undefined) return
      for (const folder of [project, outside, home]) walk(folder, (target) => fs.lchownSync(target, NOBODY, NOBODY))
    },
    /** Records the files outside of the project; `outsideProblems` returns their changes and reads. */
    seal() {
      // With `relatime` a read updates the access time only if that is older than the last change.
      walk(outside, (target, kind) => {
        if (kind === 'file') fs.utimesSync(target, new Date(Date.now() - 3_600_000), new Date())
      })
      sealed = describeTree(outside)
    },
    outsideProblems() {
      const now = describeTree(outside)
      return [...new Set([...Object.keys(sealed), ...Object.keys(now)])]
        .filter((name) => sealed[name] !== now[name])
        .map((name) => `${name}: ${sealed[name]} → ${now[name]}`)
    },
    run(program: string, words: readonly string[], options: SandboxRun = {}): Promise<ProcessResult> {
      return runProcess(program, words, {
        cwd: options.cwd ?? project,
        env: { ...env, ...options.env },
        input: options.input ?? '',
        uid: options.asRoot === true ? undefined : USER,
      })
    },
    /** Runs the sources in this process, with the rights of the tests: faster, where no rights and no launcher matter. */
    here: (program: 'hook' | 'cli', words: readonly string[], { cwd = project, ...options }: HereRun = {}) =>
      SOURCES[program](words, { ...options, cwd, env: { ...env, ...options.env } }),
    remove() {
      if (!fs.existsSync(base)) return
      // Tests may have taken the owner's rights away.
      walk(base, (target, kind) => {
        if (kind === 'folder') fs.chmodSync(target, 0o755)
      })
      fs.rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

/** Calls `visit` for a folder and everything below it, folders first; links are not followed. */
export function walk(target: string, visit: (target: string, kind: string) => void): void {
  const stats = fs.lstatSync(target, { throwIfNoEntry: false })
  if (stats === undefined) return
  const kind = stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other'
  visit(target, kind)
  if (kind !== 'folder') return
  for (const name of fs.readdirSync(target)) walk(join(target, name), visit)
}

/** Kind, rights and times of everything in a folder, without reads, which would change access times. */
function describeTree(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  walk(folder, (target, kind) => {
    const stats = fs.lstatSync(target, { bigint: true })
    const times = kind === 'file' ? `${stats.atimeNs} ${stats.mtimeNs} ${stats.size}` : `${stats.mtimeNs}`
    found[target] = `${kind} ${stats.mode} ${times}${kind === 'link' ? fs.readlinkSync(target) : ''}`
  })
  return found
}

export async function withSandbox<T>(sandbox: Sandbox, use: (sandbox: Sandbox) => T | Promise<T>): Promise<T> {
  try {
    return await use(sandbox)
  } finally {
    sandbox.remove()
  }
}

/** Says what cannot be seen: if this file system does not record reads, the canaries show only changes. */
export async function noteBlindness(): Promise<void> {
  const notesReads = await withSandbox(makeSandbox(), ({ outside, seal, outsideProblems }) => {
    const file = join(outside, 'probe')
    fs.writeFileSync(file, 'x')
    seal()
    fs.readFileSync(file)
    return outsideProblems().length > 0
  })
  if (!notesReads)
    console.warn('this file system records no reads: the canaries show only changes and what was printed')
}

export function makePipe(target: string): void {
  const { status, stderr } = spawnSync('mkfifo', [target], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mkfifo: ${stderr}`)
}

/** True when a file with this size and beginning lies below `folder`, under any name. */
export function liesBelow(folder: string, wanted: { readonly size: number; readonly beginning: Buffer }): boolean {
  let found = false
  walk(folder, (target, kind) => {
    if (found || kind !== 'file' || fs.statSync(target).size < wanted.size) return
    found = fs.readFileSync(target).subarray(0, Math.max(wanted.size, 1)).includes(wanted.beginning)
  })
  return found
}
