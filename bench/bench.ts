import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ensureClient, platformSuffix } from '../test/hosts/client-cache.ts'
import { type Limit, limitsOf } from './limits.ts'
import { type Subject, type Timing, timeInTurn } from './measure.ts'
import {
  mainStopPayload,
  makeProject,
  makeWorkflow,
  putMarker,
  removeProjects,
  SESSION,
  stopPayload,
  taskFolder,
} from './projects.ts'

/**
 * `npm run bench`: times the hook and the CLI as whole processes, beside the alternatives, in one run. `--compare` ends
 * with exit code 1 when a limit (bench/limits.ts) is exceeded; `--json FILE` saves the figures; `--json -` prints them
 * instead of the table; `--rounds N` sets the number of rounds (default 25); `--quick` leaves out the slow parts.
 */

const packageFolder = path.resolve(import.meta.dirname, '..', '..')
const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
const hook = path.join(packageFolder, 'dist', 'hook.js')
const cli = path.join(packageFolder, 'bin', 'postflight.js')
const usualHook = path.join(packageFolder, 'bench', 'usual-hook.sh')

/** The versions of Node to measure beside the machine's own. */
const OTHER_NODES = ['22.23.3', '24.21.0']

/** The timings of a group of subjects that ran in turn. */
export interface Group {
  readonly name: string
  readonly node: string
  readonly timings: readonly Timing[]
}

interface Options {
  readonly rounds: number
  readonly quick: boolean
  readonly compare: boolean
  readonly json: string | undefined
}

/** True when the usual hook can run here. */
const hasTools = ['bash', 'jq', 'find'].every((tool) => spawnSync(tool, ['--version']).status === 0)

const options = readOptions(process.argv.slice(2))
const emptyFolder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'postflight-bench-'))
const emptyModule = path.join(emptyFolder, 'empty.js')
fs.writeFileSync(emptyModule, '')
const memoryProbe = path.join(emptyFolder, 'memory.cjs')
fs.writeFileSync(
  memoryProbe,
  "process.on('exit', () => require('node:fs').writeSync(2, 'maxrss ' + process.resourceUsage().maxRSS))\n",
)

process.on('exit', () => {
  removeProjects()
  fs.rmSync(emptyFolder, { recursive: true, force: true })
})

await main()

async function main(): Promise<void> {
  const groups: Group[] = []
  const memory: { name: string; node: string; kilobytes: number }[] = []
  for (const { version, binary } of await findNodes()) {
    progress(`Node ${version}`)
    const folder = nodeFolder(version, binary)
    groups.push(...markerGroups(version, folder), ...commandGroups(version, folder), ...workflowGroups(version, folder))
    memory.push(...measureMemory(version, binary))
  }
  progress('no marker')
  groups.push(...idleGroups())
  const limits = limitsOf(groups, memory)
  const document = `${JSON.stringify({ machine: machine(), groups, memory, limits }, null, 2)}\n`
  if (options.json === '-') process.stdout.write(document)
  else {
    report(groups, memory)
    printLimits(limits)
    if (options.json !== undefined) fs.writeFileSync(options.json, document)
  }
  if (options.compare && limits.some((limit) => !limit.held)) process.exitCode = 1
}

/** Timings without a marker, as at nearly every stop. */
function idleGroups(): Group[] {
  const sizes = options.quick ? [1, 500] : [1, 50, 500, 5000]
  const scans: Subject[] = []
  const groups = sizes.map((size) => {
    const project = makeProject(size)
    const subjects: Subject[] = [
      { name: 'sh -c "echo {}"', command: ['sh', '-c', 'echo {}'], cwd: project, expects: '{}' },
      { name: 'launcher', command: [launcher], cwd: project, input: stopPayload(project), expects: '{}' },
      { name: 'status line', command: [launcher, 'StatusLine'], cwd: project, input: '{}' },
      { name: 'find', command: ['find', 'specs', '-maxdepth', '3', '-name', '.postflight-pending'], cwd: project },
      ...usual('usual shell hook', project, '{}'),
    ]
    if (size === 500 || size === 5000) scans.push({ ...(subjects[1] as Subject), name: `launcher, ${size}` })
    return time(`no marker, ${size} folders of 20 files`, '-', subjects)
  })
  return scans.length < 2 ? groups : [...groups, time('growth', '-', scans)]
}

/** Timings with a marker, for which Node starts. */
function markerGroups(version: string, nodePath: string): Group[] {
  const environment = { PATH: nodePath }
  const empty: Subject = { name: 'empty Node', command: ['node', emptyModule], cwd: emptyFolder, environment }
  const one = makeProject(1)
  const hundred = makeProject(100)
  const input = stopPayload(one)
  const block = (project: string, mine: number, prepare?: () => void): Subject => ({
    name: 'block',
    command: [launcher],
    cwd: project,
    environment,
    input: stopPayload(project),
    expects: '"block"',
    prepare: prepare ?? (() => putMarker(project, mine)),
  })
  const others = (count: number) => (): void => {
    for (let number = 1; number < count; number++) putMarker(hundred, number, 'another-session')
    putMarker(hundred, count)
  }
  others(100)()
  const capped = (): void => {
    putMarker(one, 1)
    fs.writeFileSync(path.join(taskFolder(one, 1), '.postflight-loop-guard'), '3\n')
  }
  const copy = path.join(emptyFolder, 'copy')
  const cold = {
    ...block(one, 1),
    name: 'block, first run of a fresh copy',
    command: [path.join(copy, 'hooks', 'postflight-hook')] as [string],
  }
  return [
    time('one marker', version, [
      empty,
      block(one, 1),
      { ...block(one, 1), name: 'block, hook.js directly', command: ['node', hook] },
      { ...block(one, 1), name: 'capped', expects: '{', prepare: capped },
      ...usual('usual shell hook', one, '"block"', () => putMarker(one, 1), nodePath),
    ]),
    time('a hundred markers, the last one ours', version, [
      { ...block(one, 1), name: 'one marker' },
      { ...block(hundred, 100, () => putMarker(hundred, 100)), name: 'a hundred markers' },
      ...usual('usual shell hook, a hundred', hundred, '"block"', () => putMarker(hundred, 100), nodePath),
    ]),
    time('inherited NODE_EXTRA_CA_CERTS', version, [
      { ...block(one, 1), name: 'launcher', environment: { ...environment, NODE_EXTRA_CA_CERTS: certificates() } },
      {
        ...block(one, 1),
        name: 'hook.js directly',
        command: ['node', hook],
        environment: { ...environment, NODE_EXTRA_CA_CERTS: certificates() },
      },
    ]),
    time('cold and warm', version, [
      {
        ...cold,
        prepare: () => {
          putMarker(one, 1)
          fs.rmSync(copy, { recursive: true, force: true })
          for (const part of ['hooks', 'dist'])
            fs.cpSync(path.join(packageFolder, part), path.join(copy, part), { recursive: true })
        },
      },
      { ...block(one, 1), name: 'block, warm', input },
    ]),
  ]
}

function commandGroups(version: string, nodePath: string): Group[] {
  const environment = { PATH: nodePath }
  const small = makeProject(1)
  const large = makeProject(500)
  const empty: Subject = { name: 'empty Node', command: ['node', emptyModule], cwd: emptyFolder, environment }
  const command = (name: string, project: string, words: string[], prepare: () => void = () => {}): Subject => ({
    name,
    command: ['node', cli, ...words],
    cwd: project,
    environment,
    prepare,
  })
  return [
    time('commands', version, [
      empty,
      command('--help', small, ['--help']),
      command('create', small, ['create', '1', '--force']),
      command('clear', small, ['clear', '1'], () => putMarker(small, 1)),
      command('inspect', small, ['inspect']),
      command('create, 500 folders', large, ['create', '1', '--force']),
      command('inspect, 500 folders', large, ['inspect']),
    ]),
  ]
}

/** Timings of one transition of a workflow, by the CLI and by the hook: a step is done, the next prompt goes out. */
function workflowGroups(version: string, nodePath: string): Group[] {
  const environment = { PATH: nodePath }
  const subjects = [10, 1000].flatMap((phases): Subject[] => {
    const run = makeWorkflow(phases, cli)
    return [
      {
        name: `next, ${phases} phases of 10 steps`,
        command: ['node', cli, 'workflow', 'next', '1'],
        cwd: run.project,
        environment: { ...environment, POSTFLIGHT_HOST_SESSION: SESSION },
        prepare: run.finishStep,
        expects: 'attempt 1',
      },
      {
        name: `hook, ${phases} phases of 10 steps`,
        command: [launcher],
        cwd: run.project,
        environment,
        input: mainStopPayload(run.project),
        prepare: run.finishStep,
        expects: '"block"',
      },
    ]
  })
  return [time('a transition of a workflow', version, subjects)]
}

/** Peak memory of a block and of an empty Node; each process prints its own at its end. */
function measureMemory(version: string, binary: string): { name: string; node: string; kilobytes: number }[] {
  const project = makeProject(1)
  const peak = (name: string, file: string): { name: string; node: string; kilobytes: number } => {
    const figures = Array.from({ length: 7 }, () => {
      putMarker(project, 1)
      const run = spawnSync(binary, ['--require', memoryProbe, file], {
        cwd: project,
        input: stopPayload(project),
        env: { PATH: process.env.PATH ?? '' },
        encoding: 'utf8',
      })
      return Number(/maxrss (\d+)/.exec(run.stderr)?.[1])
    }).sort((one, other) => one - other)
    return { name, node: version, kilobytes: figures[3] ?? Number.NaN }
  }
  return [peak('empty Node', emptyModule), peak('block', hook)]
}

function usual(name: string, project: string, expects: string, prepare?: () => void, nodePath?: string): Subject[] {
  if (!hasTools) return []
  const environment = { BENCH_SESSION: SESSION, ...(nodePath === undefined ? {} : { PATH: nodePath }) }
  return [
    {
      name,
      command: ['bash', usualHook],
      cwd: project,
      environment,
      expects,
      ...(prepare === undefined ? {} : { prepare }),
    },
  ]
}

function time(name: string, node: string, subjects: readonly Subject[]): Group {
  progress(`  ${name}`)
  return { name, node, timings: timeInTurn(subjects, options.rounds) }
}

async function findNodes(): Promise<{ version: string; binary: string }[]> {
  const nodes = [{ version: process.versions.node, binary: process.execPath }]
  if (options.quick) return nodes
  for (const version of OTHER_NODES) {
    try {
      const binary = await ensureClient({
        name: `node-${platformSuffix()}`,
        version,
        binary: 'bin/node',
        megabytes: 120,
      })
      nodes.push({ version, binary })
    } catch (error) {
      progress(`Node ${version} is not available here: ${(error as Error).message}`)
    }
  }
  return nodes
}

/** A PATH on which `node` is the binary under test. */
function nodeFolder(version: string, binary: string): string {
  const folder = path.join(emptyFolder, `node-${version}`)
  fs.mkdirSync(folder)
  fs.symlinkSync(binary, path.join(folder, 'node'))
  return `${folder}${path.delimiter}/usr/local/bin${path.delimiter}/usr/bin${path.delimiter}/bin`
}

/** A bundle of certificates like the one that a company's machine names in NODE_EXTRA_CA_CERTS. */
function certificates(): string {
  const candidates = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem']
  return candidates.find((file) => fs.existsSync(file)) ?? emptyModule
}

function report(groups: readonly Group[], memory: readonly { name: string; node: string; kilobytes: number }[]): void {
  console.log(`\n${machine()}; ${options.rounds} rounds each, in turn, after one warm-up; wall ms of whole processes`)
  for (const group of groups) {
    console.log(`\n${group.name}${group.node === '-' ? '' : ` (Node ${group.node})`}`)
    const base = group.timings[0]?.medianMs ?? Number.NaN
    for (const { name, medianMs, spreadMs, minMs } of group.timings) {
      const ratio = `${(medianMs / base).toFixed(2)} ×`
      console.log(
        `  ${name.padEnd(34)} ${medianMs.toFixed(1).padStart(8)}  (${spreadMs.map((ms) => ms.toFixed(1)).join(' to ')}, min ${minMs.toFixed(1)})`.padEnd(
          80,
        ) + ratio.padStart(9),
      )
    }
  }
  console.log('\npeak memory')
  for (const { name, node, kilobytes } of memory)
    console.log(`  ${`${name} (Node ${node})`.padEnd(34)} ${(kilobytes / 1024).toFixed(1).padStart(8)} MB`)
}

function printLimits(limits: readonly Limit[]): void {
  console.log('\nlimits')
  for (const { name, value, limit, held } of limits)
    console.log(`  ${held ? '✓' : '✗'} ${name}: ${value} (limit ${limit})`)
}

function machine(): string {
  return `${os.platform()} ${os.arch()}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown'}`
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}

function readOptions(words: string[]): Options {
  const { values } = parseArgs({
    args: words,
    options: {
      rounds: { type: 'string', default: '25' },
      quick: { type: 'boolean', default: false },
      compare: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: give a whole number`)
  return { rounds, quick: values.quick, compare: values.compare, json: values.json }
}
