import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ensureClient, platformSuffix } from '../test/hosts/client-cache.ts'
import { EMPTY_MODULE, EMPTY_SCRIPT, type Limit, limitsOf, type Memory } from './limits.ts'
import { type Clock, type Subject, type Timing, timeInTurn } from './measure.ts'
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

const USAGE = `Usage: npm run bench -- [options]

Times the hook and the CLI as whole processes, beside the alternatives, in one run.

  --quick      without the slow parts and the other versions of Node
  --cpu        CPU time in place of wall time
  --compare    exit code 1 if a limit (bench/limits.ts) is exceeded
  --rounds N   the number of rounds (default: 25)
  --json FILE  saves the figures; - prints them in place of the table`

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
  readonly clock: Clock
  readonly json: string | undefined
}

/** True when the usual hook can run here. */
const hasTools = ['bash', 'jq', 'find'].every((tool) => spawnSync(tool, ['--version']).status === 0)

const options = readOptions(process.argv.slice(2))
const emptyFolder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'postflight-bench-'))
// The limits count from an empty module, as people write one; an empty script is what Node itself takes.
const emptyModule = path.join(emptyFolder, 'empty.mjs')
const emptyScript = path.join(emptyFolder, 'empty.cjs')
for (const file of [emptyModule, emptyScript]) fs.writeFileSync(file, '')
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
  const memory: Memory[] = []
  for (const { version, binary } of await findNodes()) {
    progress(`Node ${version}`)
    const folder = nodeFolder(version, binary)
    groups.push(...markerGroups(version, folder), ...commandGroups(version, folder), ...workflowGroups(version, folder))
    memory.push(...measureMemory(version, binary))
  }
  // A process of a millisecond is too short for a clock of CPU time in whole ones.
  if (options.clock === 'wall') {
    progress('no marker')
    groups.push(...idleGroups())
  }
  const limits = limitsOf(groups, memory, options.clock)
  const document = `${JSON.stringify({ machine: machine(), clock: options.clock, groups, memory, limits }, null, 2)}\n`
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
  const one = makeProject(1)
  const hundred = makeProject(100)
  for (let number = 1; number < 100; number++) putMarker(hundred, number, 'another-session')
  const block = (project: string, mine: number): Subject => ({
    name: 'block',
    command: [launcher],
    cwd: project,
    environment,
    input: stopPayload(project),
    expects: '"block"',
    prepare: () => putMarker(project, mine),
  })
  const capped = (): void => {
    putMarker(one, 1)
    fs.writeFileSync(path.join(taskFolder(one, 1), '.postflight-loop-guard'), '3\n')
  }
  const directly = { ...block(one, 1), name: 'block, hook.js directly', command: ['node', hook] as [string, string] }
  const certified = { environment: { ...environment, NODE_EXTRA_CA_CERTS: certificates() } }
  const groups = [
    time('one marker', version, [
      ...emptyNodes(environment),
      block(one, 1),
      directly,
      { ...block(one, 1), name: 'capped', expects: '{', prepare: capped },
      ...usual('usual shell hook', one, '"block"', () => putMarker(one, 1), nodePath),
    ]),
    time('a hundred markers, the last one ours', version, [
      { ...block(one, 1), name: 'one marker' },
      { ...block(hundred, 100), name: 'a hundred markers' },
      ...usual('usual shell hook, a hundred', hundred, '"block"', () => putMarker(hundred, 100), nodePath),
    ]),
  ]
  if (options.quick) return groups
  return [
    ...groups,
    time('inherited NODE_EXTRA_CA_CERTS', version, [
      { ...block(one, 1), ...certified, name: 'launcher' },
      { ...directly, ...certified, name: 'hook.js directly' },
    ]),
  ]
}

function commandGroups(version: string, nodePath: string): Group[] {
  const environment = { PATH: nodePath }
  // A project for each: a marker that one command made and another one's preparation replaced would count as lost.
  const command = (
    words: string[],
    prepare: (project: string) => void = () => {},
    input: (project: string) => string = () => '',
  ): Subject => {
    const project = makeProject(1)
    return {
      name: words[0] as string,
      command: ['node', cli, ...words],
      cwd: project,
      environment,
      prepare: () => prepare(project),
      input: input(project),
    }
  }
  const mark = (project: string): void => putMarker(project, 1)
  return [
    time('commands', version, [
      ...emptyNodes(environment),
      command(['--help']),
      command(['create', '1', '--force']),
      command(['clear', '1'], mark),
      command(['step', '1', '1'], (project) => putMarker(project, 1, SESSION, ['update the status', 'commit'])),
      command(['status'], mark),
      command(['statusline'], mark, (cwd) => JSON.stringify({ session_id: SESSION, cwd })),
      command(['explain', '--payload', '-'], mark, stopPayload),
    ]),
  ]
}

/** Timings of one transition of a workflow, by the CLI and by the hook: a step is done, the next prompt goes out. */
function workflowGroups(version: string, nodePath: string): Group[] {
  const environment = { PATH: nodePath }
  const subjects = [10, 100, 1000].flatMap((phases): Subject[] => {
    const run = makeWorkflow(phases, cli)
    const subject = { cwd: run.project, environment, prepare: run.finishStep }
    return [
      {
        ...subject,
        name: `stop, ${phases} phases`,
        command: [launcher],
        input: mainStopPayload(run.project),
        expects: '"block"',
      },
      {
        ...subject,
        name: `next, ${phases} phases`,
        command: ['node', cli, 'workflow', 'next', '1'],
        environment: { ...environment, POSTFLIGHT_HOST_SESSION: SESSION },
        expects: 'attempt 1',
      },
    ]
  })
  return [time('a step done and the next prompt', version, [...emptyNodes(environment), ...subjects])]
}

/** What Node takes for nothing: the floor of everything that starts it. */
function emptyNodes(environment: Readonly<Record<string, string>>): Subject[] {
  const empty = { cwd: emptyFolder, environment }
  return [
    { ...empty, name: EMPTY_MODULE, command: ['node', emptyModule] },
    { ...empty, name: EMPTY_SCRIPT, command: ['node', emptyScript] },
  ]
}

/** Peak memory of a block, of `create` and of an empty Node; each process prints its own at its end. */
function measureMemory(version: string, binary: string): Memory[] {
  const project = makeProject(1)
  // A file, because the launcher does not give Node a socket either.
  const payload = path.join(emptyFolder, 'payload.json')
  fs.writeFileSync(payload, stopPayload(project))
  const peak = (name: string, words: readonly string[]): Memory => {
    const figures = Array.from({ length: 15 }, () => {
      putMarker(project, 1)
      const stdin = fs.openSync(payload, 'r')
      const run = spawnSync(binary, ['--require', memoryProbe, ...words], {
        cwd: project,
        stdio: [stdin, 'pipe', 'pipe'],
        env: { PATH: process.env.PATH ?? '' },
        encoding: 'utf8',
      })
      fs.closeSync(stdin)
      return Number(/maxrss (\d+)/.exec(run.stderr)?.[1])
    }).sort((one, other) => one - other)
    return { name, node: version, kilobytes: figures[7] ?? Number.NaN }
  }
  return [
    peak(EMPTY_MODULE, [emptyModule]),
    peak(EMPTY_SCRIPT, [emptyScript]),
    // The options of the launcher.
    peak('block', ['--no-rehash-snapshot', '--no-maglev', hook]),
    peak('create', [cli, 'create', '1', '--force']),
  ]
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
  return { name, node, timings: timeInTurn(subjects, options.rounds, options.clock) }
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

function report(groups: readonly Group[], memory: readonly Memory[]): void {
  console.log(
    `\n${machine()}; ${options.rounds} rounds each, in turn, after one warm-up; ${options.clock === 'cpu' ? 'CPU' : 'wall'} ms of whole processes`,
  )
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
  const { values } = parsedOptions(words)
  if (values.help) end(USAGE, 0)
  const rounds = Number(values.rounds)
  if (!Number.isSafeInteger(rounds) || rounds < 1) end(`--rounds ${values.rounds}: give a whole number`, 64)
  if (values.cpu && spawnSync('bash', ['--version']).status !== 0) end('--cpu: bash is not installed here', 64)
  return {
    rounds,
    quick: values.quick,
    compare: values.compare,
    clock: values.cpu ? 'cpu' : 'wall',
    json: values.json,
  }
}

function parsedOptions(words: string[]) {
  try {
    return parseArgs({
      args: words,
      options: {
        rounds: { type: 'string', default: '25' },
        quick: { type: 'boolean', default: false },
        compare: { type: 'boolean', default: false },
        cpu: { type: 'boolean', default: false },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return end(`${(error as Error).message}\n${USAGE}`, 64)
  }
}

function end(text: string, exitCode: 0 | 64): never {
  const stream = exitCode === 0 ? process.stdout : process.stderr
  stream.write(`${text}\n`)
  process.exit(exitCode)
}
