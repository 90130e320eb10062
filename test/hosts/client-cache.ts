/**
 * Keeps the real clients for the host tests. Each is fetched once from the npm registry, at a pinned version, into the
 * git-ignored `.cache/hosts/`, and is used only after it has answered `--version`.
 */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }
import type { HookHostName } from '../../src/hosts/hook-hosts.ts'
import { outputOf } from '../support/child-output.ts'

/** The pinned versions of the host tests. OpenCode has the version of its SDK, which drives it. */
const CLAUDE_CODE_VERSION = '2.1.332'
export const OPENCODE_VERSION = manifest.devDependencies['@opencode-ai/sdk']

type TestedClient = 'claude-code' | 'opencode' | HookHostName

/** The clients in the table of docs/hosts.md, by the folder of their tests. */
export const TESTED_CLIENTS: Readonly<Record<TestedClient, { title: string; version: string }>> = {
  'claude-code': { title: 'Claude Code', version: CLAUDE_CODE_VERSION },
  opencode: { title: 'OpenCode', version: OPENCODE_VERSION },
  codex: { title: 'Codex CLI', version: '0.171.0' },
  copilot: { title: 'Copilot CLI', version: '1.0.102' },
  qwen: { title: 'Qwen Code', version: '0.24.4' },
  droid: { title: 'Factory droid', version: '0.225.2' },
}

export function testedVersion(folder: TestedClient): string {
  return TESTED_CLIENTS[folder].version
}

/** A client that npm distributes as one package per platform. */
export interface Client {
  /** The platform's own package, for example `@anthropic-ai/claude-code-linux-x64`. */
  name: string
  version: string
  /** The executable's path inside the package. */
  binary: string
  /** The Node that runs it, if it is a script that needs another one than this. */
  node?: string
  /** The version that it prints, if that is not the package's. */
  prints?: string
  /** True to leave out optional dependencies, which it runs without. */
  withoutOptional?: boolean
  /** Unpacked size, for the progress line only; some registries do not report it. */
  megabytes?: number
}

const CACHE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '.cache', 'hosts')
/** The variable with the binaries that were checked; the set-up of the tests checks the clients of most files. */
const CHECKED = 'POSTFLIGHT_CHECKED_CLIENTS'
const SKIP_HINT = 'Set POSTFLIGHT_SKIP_HOSTS=1 to leave out the tests that need a real client.'
const FETCH_TIMEOUT_MS = 10 * 60_000
const VERSION_TIMEOUT_MS = 30_000

/** True when the tests that need a real client are switched off (`POSTFLIGHT_SKIP_HOSTS=1`). */
export function hostsSkipped(): boolean {
  const value = process.env.POSTFLIGHT_SKIP_HOSTS
  return value !== undefined && value !== '' && value !== '0'
}

/** This machine's platform as in npm package names: `linux-x64`, `linux-x64-musl`, `darwin-arm64`, … */
export function platformSuffix(): string {
  return `${process.platform}-${process.arch}${usesMusl() ? '-musl' : ''}`
}

export async function ensureClaudeCode(): Promise<string> {
  return ensureClient({
    name: `@anthropic-ai/claude-code-${platformSuffix()}`,
    version: CLAUDE_CODE_VERSION,
    binary: process.platform === 'win32' ? 'claude.exe' : 'claude',
    megabytes: 360,
  })
}

export async function ensureOpenCode(): Promise<string> {
  return ensureClient({
    // The package's name spells the platform as Node does, except for Windows.
    name: `opencode-${platformSuffix().replace('win32', 'windows')}`,
    version: OPENCODE_VERSION,
    binary: process.platform === 'win32' ? 'bin/opencode.exe' : 'bin/opencode',
  })
}

const ready = new Map<string, Promise<string>>()

/** Path of a client's binary, fetched on first use, by any number of processes: the first to rename its copy into place wins. */
export function ensureClient(client: Client): Promise<string> {
  const key = `${client.name}@${client.version}`
  const known = ready.get(key)
  if (known !== undefined) return known
  const asked = provide(client)
  ready.set(key, asked)
  // A failure is not remembered: the network may be back for the next test file.
  asked.catch(() => ready.delete(key))
  return asked
}

async function provide(client: Client): Promise<string> {
  // The package's name includes the platform, so one checkout can serve a host and a container.
  const home = join(CACHE, `${basename(client.name)}-${client.version}`)
  const cached = binaryIn(home, client)
  if (existsSync(cached)) {
    if (process.env[CHECKED]?.split(' ').includes(cached)) return cached
    if ((await versionProblem(cached, client)) === undefined) return noted(cached)
    await rm(home, { recursive: true, force: true })
  }

  await mkdir(CACHE, { recursive: true })
  const temporary = await mkdtemp(join(CACHE, '.fetching-'))
  try {
    await fetchInto(temporary, client)
    const problem = await versionProblem(binaryIn(temporary, client), client)
    if (problem !== undefined) {
      throw new Error(`${client.name}@${client.version} does not run: ${problem}. ${SKIP_HINT}`)
    }
    await moveIntoPlace(temporary, home, cached)
    return noted(cached)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Notes for this process and its children that a client runs: a check costs a start of the client. */
function noted(binary: string): string {
  process.env[CHECKED] = `${process.env[CHECKED] ?? ''} ${binary}`
  return binary
}

function binaryIn(folder: string, client: Client): string {
  return join(folder, 'node_modules', ...client.name.split('/'), ...client.binary.split('/'))
}

async function moveIntoPlace(temporary: string, home: string, cached: string): Promise<void> {
  try {
    await rename(temporary, home)
  } catch {
    // Another process was first, and checked its copy as we did ours; or a half-deleted folder is in the way.
    if (existsSync(cached)) return
    await rm(home, { recursive: true, force: true })
    await rename(temporary, home)
  }
}

async function fetchInto(folder: string, client: Client): Promise<void> {
  const spec = `${client.name}@${client.version}`
  const size = client.megabytes === undefined ? '' : ` (${client.megabytes} MB)`
  process.stderr.write(`fetching ${spec}${size}, once\n`)
  // Without a package.json here, npm would find this project's further up.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  const flags = ['--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  if (client.withoutOptional === true) flags.push('--omit=optional')
  // By default npm takes more than a minute to report a missing network.
  flags.push('--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=4000')
  const options = { cwd: folder, timeoutMs: FETCH_TIMEOUT_MS, shell: process.platform === 'win32' }
  const done = await run('npm', ['install', '--prefix', folder, ...flags, spec], options)
  if (done.code !== 0) {
    throw new Error(`cannot fetch ${spec} from the npm registry: ${summary(done.stderr || done.stdout)}. ${SKIP_HINT}`)
  }
}

/** The problem with the binary; undefined when it runs and prints the pinned version. */
async function versionProblem(binary: string, client: Client): Promise<string | undefined> {
  // A home of its own: some clients write files there even for `--version`.
  const home = await mkdtemp(join(tmpdir(), 'postflight-client-'))
  const env = process.platform === 'win32' ? process.env : { PATH: process.env.PATH, HOME: home }
  const options = { cwd: home, env, timeoutMs: VERSION_TIMEOUT_MS, shell: false }
  const done = await run(client.node ?? binary, [...(client.node === undefined ? [] : [binary]), '--version'], options)
  await rm(home, { recursive: true, force: true })
  if (done.code !== 0) return `--version ended with ${done.code}: ${summary(done.stderr)}`
  return done.stdout.includes(client.prints ?? client.version) ? undefined : `--version says ${done.stdout.trim()}`
}

interface Finished {
  code: number | string
  stdout: string
  stderr: string
}

function run(
  file: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv; timeoutMs: number; shell: boolean },
): Promise<Finished> {
  return new Promise((done) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      shell: options.shell,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
    })
    const output = outputOf(child)
    child.once('error', (error) => done({ code: 'no start', stdout: output.stdout, stderr: error.message }))
    child.once('close', (code, signal) => done({ code: code ?? signal ?? 'unknown', ...output }))
  })
}

/** npm's error without its advice: the first lines name the problem, after them come advice and a log file's name. */
function summary(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
  const told = lines.filter((line) => line !== '').slice(0, 3)
  return told.join('; ') || 'no message'
}

function usesMusl(): boolean {
  if (process.platform !== 'linux') return false
  // The report's type is `object`. On glibc its header names the C library's version, on musl it does not.
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime === undefined
}
