/** Throw-away projects for a user whom rights bind, with canaries outside of them, and processes run in them. */

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { NOBODY, type ProcessResult, runProcess } from '../../support/process.ts'
import { copyPackage } from '../../support/project.ts'

/** Rights do not bind root: run by root, the tests' processes belong to nobody. */
export const IS_ROOT = process.getuid?.() === 0
const USER = IS_ROOT ? NOBODY : undefined

/** Stands in every file outside of a project; where it is read out, somebody went where he should not. */
export const CANARY = 'canary-that-nobody-may-read'

/**
 * How long (ms) something may take that must be done within `ms` on a machine that has time for it. Where others keep
 * the processors busy, what is measured is them; a hang goes over this limit too.
 */
export function limitMs(ms: number): number {
  const [load = 0] = loadavg()
  return load > 2 * availableParallelism() ? ms * 4 : ms
}

/** A copy of the package that nobody may read and start, made once for a test file. */
export interface PackageCopy {
  readonly folder: string
  readonly launcher: string
  readonly cli: string
  remove(): void
}

export function makePackageCopy(): PackageCopy {
  const folder = makeBase('postflight-package-')
  copyPackage(join(folder, 'package'))
  const at = (...names: string[]): string => join(folder, 'package', ...names)
  return {
    folder: at(),
    launcher: at('hooks', 'postflight-hook'),
    cli: at('bin', 'postflight.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function makeBase(prefix: string): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  chmodSync(base, 0o755)
  return base
}

export interface Sandbox {
  readonly base: string
  readonly project: string
  readonly outside: string
  readonly env: Readonly<Record<string, string>>
  /** A path in the project. */
  at(...names: string[]): string
  write(name: string, content: string | Uint8Array): string
  /** Gives everything to the user that processes run as. Call it when the state is made. */
  hand(): void
  /** Notes what is outside the project; `outsideProblems` says what became of it. */
  seal(): void
  outsideProblems(): string[]
  run(program: string, words: readonly string[], options?: SandboxRun): Promise<ProcessResult>
  remove(): void
}

export interface SandboxRun {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Run as root, where the tests are. */
  readonly asRoot?: boolean
}

/** A project with `specs/`, bounded by a `.git` folder, and a folder of canaries beside it. */
export function makeSandbox(): Sandbox {
  const base = makeBase('postflight-sandbox-')
  const project = join(base, 'project')
  const outside = join(base, 'outside')
  const home = join(base, 'home')
  const bin = join(base, 'bin')
  for (const folder of [project, outside, home, bin, join(base, '.git'), join(project, 'specs')]) mkdirSync(folder)
  symlinkSync(process.execPath, join(bin, 'node'))
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home }
  const at = (...names: string[]): string => join(project, ...names)
  let sealed: Record<string, string> = {}
  return {
    base,
    project,
    outside,
    env,
    at,
    write(name, content) {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), content)
      return at(name)
    },
    hand() {
      if (USER === undefined) return
      for (const folder of [project, outside, home]) walk(folder, (target) => lchownSync(target, NOBODY, NOBODY))
    },
    seal() {
      // Under `relatime` a read moves the time of access only where it is older than the last change.
      walk(outside, (target, kind) => {
        if (kind === 'file') utimesSync(target, new Date(Date.now() - 3_600_000), new Date())
      })
      sealed = describeTree(outside)
    },
    outsideProblems() {
      const now = describeTree(outside)
      const names = new Set([...Object.keys(sealed), ...Object.keys(now)])
      return [...names]
        .filter((name) => sealed[name] !== now[name])
        .map((name) => `${name}: ${sealed[name]} → ${now[name]}`)
    },
    run(program, words, options = {}) {
      return runProcess(program, words, {
        cwd: options.cwd ?? project,
        env: { ...env, ...options.env },
        input: options.input ?? '',
        uid: options.asRoot === true ? undefined : USER,
      })
    },
    remove() {
      if (!existsSync(base)) return
      // The owner may have been denied his own folders.
      walk(base, (target, kind) => {
        if (kind === 'folder') chmodSync(target, 0o755)
      })
      rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

/** Calls `visit` for a folder and everything below it, folders first; links are not followed. */
export function walk(target: string, visit: (target: string, kind: string) => void): void {
  const stats = lstatSync(target, { throwIfNoEntry: false })
  if (stats === undefined) return
  const kind = stats.isDirectory()
    ? 'folder'
    : stats.isFile()
      ? 'file'
      : stats.isSymbolicLink()
        ? 'link'
        : stats.isFIFO()
          ? 'pipe'
          : 'other'
  visit(target, kind)
  if (kind !== 'folder') return
  for (const name of readdirSync(target)) walk(join(target, name), visit)
}

/** Content, rights and times of everything in a folder, without reading it in a way that would leave traces. */
function describeTree(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  walk(folder, (target, kind) => {
    const stats = lstatSync(target, { bigint: true })
    const times = kind === 'file' ? `${stats.atimeNs} ${stats.mtimeNs} ${stats.size}` : `${stats.mtimeNs}`
    found[target] = `${kind} ${stats.mode} ${times}${kind === 'link' ? readlinkSync(target) : ''}`
  })
  return found
}

/** Whether this file system notes when a file was read: without that the canaries show changes alone. */
export function notesReads(): boolean {
  const sandbox = makeSandbox()
  try {
    const file = join(sandbox.outside, 'probe')
    writeFileSync(file, 'x')
    sandbox.seal()
    readFileSync(file)
    return sandbox.outsideProblems().length > 0
  } finally {
    sandbox.remove()
  }
}

export function makePipe(target: string): void {
  const { status, stderr } = spawnSync('mkfifo', [target], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mkfifo: ${stderr}`)
}

/** Whether a file (by size and beginning) lies somewhere below `folder`, under any name. */
export function liesBelow(folder: string, wanted: { readonly size: number; readonly beginning: Buffer }): boolean {
  let found = false
  walk(folder, (target, kind) => {
    if (found || kind !== 'file' || statSync(target).size < wanted.size) return
    found = readFileSync(target).subarray(0, Math.max(wanted.size, 1)).includes(wanted.beginning)
  })
  return found
}
