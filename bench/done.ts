import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Subject, timeInTurn } from './measure.ts'

/**
 * `npm run bench:done`: what a definition of done costs. A session of twenty stops beside a Stop hook that runs the tests
 * each time, and the search for changed files beside `git status`. `--rounds N` sets the number of rounds of the search (default
 * 15), `--suite MS` the time that the tests take (default 5000).
 */

const packageFolder = path.resolve(import.meta.dirname, '..', '..')
const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
const cli = path.join(packageFolder, 'bin', 'postflight.js')

const RULES = 'done:\n  - when: ["src/**"]\n    check: npm test\n'

/** The usual hook: runs the tests at each stop, blocks if they fail, and allows a stop that follows its own block. */
const USUAL_HOOK = `#!/bin/sh
input=$(cat)
case $input in *'"stop_hook_active":true'*) exit 0 ;; esac
output=$(npm test 2>&1) || {
  echo '{"decision": "block", "reason": "The tests fail. Mend them."}'
}
`

/** Tests that take a fixed time, fail while a file \`red\` is there, and note that they ran. */
const suiteOf = (ms: number): string => `
const fs = require('node:fs')
fs.appendFileSync('runs', 'ran\\n')
setTimeout(() => process.exit(fs.existsSync('red') ? 1 : 0), ${ms})
`

/** What the agent did before a stop: nothing to the sources, a change, or a change that breaks a test. */
type Work = 'reads' | 'edits' | 'breaks'

const SESSION: readonly Work[] = [
  ...['reads', 'edits', 'reads', 'reads', 'breaks', 'reads', 'reads', 'edits', 'reads', 'reads'],
  ...['edits', 'reads', 'reads', 'breaks', 'reads', 'reads', 'edits', 'reads', 'edits', 'reads'],
] as const

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, suite: { type: 'string', default: '5000' } },
})
const suiteMs = Number(values.suite)
const made = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'postflight-bench-'))
process.on('exit', () => fs.rmSync(made, { recursive: true, force: true }))

interface Project {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

function makeProject(name: string, files: number): Project {
  const folder = path.join(made, name)
  for (let index = 0; index < files; index++) {
    const below = path.join(folder, 'src', `${Math.floor(index / 50)}`)
    if (index % 50 === 0) fs.mkdirSync(below, { recursive: true })
    fs.writeFileSync(path.join(below, `module-${index}.ts`), `export const value = ${index}\n`)
  }
  fs.mkdirSync(path.join(folder, 'specs'))
  fs.writeFileSync(path.join(folder, 'specs', 'done.yaml'), RULES)
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "scripts": { "test": "node suite.cjs" } }\n')
  fs.writeFileSync(path.join(folder, 'suite.cjs'), suiteOf(suiteMs))
  fs.writeFileSync(path.join(folder, 'runs'), '')
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: made,
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: 'bench-session',
    CLAUDE_PROJECT_DIR: folder,
  }
  const project = { folder, environment }
  const { CLAUDECODE: _agent, CLAUDE_CODE_SESSION_ID: _session, ...person } = environment
  run({ folder, environment: person }, process.execPath, [cli, 'trust', '--yes'])
  run(project, launcher, ['SessionStart'], payload('SessionStart', folder))
  return project
}

function payload(event: string, folder: string, further: object = {}): string {
  return JSON.stringify({ session_id: 'bench-session', cwd: folder, hook_event_name: event, ...further })
}

/** Runs a program to its end. Returns its output and its wall time in ms. */
function run(
  { folder, environment }: Project,
  program: string,
  words: readonly string[],
  input = '',
): { readonly stdout: string; readonly status: number | null; readonly ms: number } {
  const started = performance.now()
  const { stdout, status } = spawnSync(program, words, { cwd: folder, env: environment, input, encoding: 'utf8' })
  return { stdout, status, ms: performance.now() - started }
}

/** What a session cost. */
interface Cost {
  stops: number
  blocked: number
  /** Times (ms) of the stops before which nothing was changed. */
  readonly quiet: number[]
  /** All time in hooks, and in checks that the agent ran, in ms. */
  totalMs: number
  suiteRuns: number
}

/** Plays the session. `stop` answers one stop; `prove` is what the agent does about a block. */
function play(
  project: Project,
  stop: (followsBlock: boolean, prompt: string) => { readonly stdout: string; readonly ms: number },
  prove: () => number,
): Cost {
  const cost: Cost = { stops: 0, blocked: 0, quiet: [], totalMs: 0, suiteRuns: 0 }
  for (const [index, work] of SESSION.entries()) {
    if (work !== 'reads') fs.appendFileSync(path.join(project.folder, 'src', '0', 'module-0.ts'), `// ${index}\n`)
    if (work === 'breaks') fs.writeFileSync(path.join(project.folder, 'red'), '')
    for (let blocks = 0; ; blocks++) {
      const { stdout, ms } = stop(blocks > 0, `prompt-${index}`)
      cost.stops += 1
      cost.totalMs += ms
      if (work === 'reads') cost.quiet.push(ms)
      if (!stdout.includes('"block"')) break
      cost.blocked += 1
      cost.totalMs += prove()
    }
    if (fs.existsSync(path.join(project.folder, 'red'))) throw new Error(`the tests are red after stop ${index + 1}`)
  }
  cost.suiteRuns = fs.readFileSync(path.join(project.folder, 'runs'), 'utf8').split('\n').length - 1
  return cost
}

function mend({ folder }: Project): void {
  fs.rmSync(path.join(folder, 'red'), { force: true })
}

function playUsual(): Cost {
  const project = makeProject('usual', 200)
  const hook = path.join(made, 'usual-hook.sh')
  fs.writeFileSync(hook, USUAL_HOOK, { mode: 0o755 })
  const stop = (followsBlock: boolean) =>
    run(project, hook, [], payload('Stop', project.folder, { stop_hook_active: followsBlock }))
  // The agent reads that the tests fail, and mends them. What it does is not run again: the hook allows the next stop.
  return play(project, stop, () => {
    mend(project)
    return 0
  })
}

function playGuarded(): Cost {
  const project = makeProject('guarded', 200)
  const stop = (followsBlock: boolean, prompt: string) =>
    run(
      project,
      launcher,
      ['Stop'],
      payload('Stop', project.folder, { stop_hook_active: followsBlock, prompt_id: prompt }),
    )
  return play(project, stop, () => {
    const first = run(project, process.execPath, [cli, 'done'])
    if (first.status === 0) return first.ms
    mend(project)
    return first.ms + run(project, process.execPath, [cli, 'done']).ms
  })
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

function printSession(): void {
  const changed = SESSION.filter((work) => work !== 'reads').length
  const broken = SESSION.filter((work) => work === 'breaks').length
  console.log(
    `\nA session in which the agent ends twenty turns: ${changed} of them changed a source, ${broken} broke a test; the tests take ${suiteMs} ms\n`,
  )
  const costs = [playUsual(), playGuarded()]
  const row = (name: string, value: (cost: Cost) => string): void =>
    console.log(`| ${name.padEnd(48)} | ${costs.map((cost) => value(cost).padStart(12)).join(' | ')} |`)
  console.log(`| ${' '.repeat(48)} | ${'usual hook'.padStart(12)} | ${'specs/done'.padStart(12)} |`)
  row('stops, with those after a block', ({ stops }) => `${stops}`)
  row('blocked stops', ({ blocked }) => `${blocked}`)
  row('runs of the tests', ({ suiteRuns }) => `${suiteRuns}`)
  row('runs after the agent mended what was broken', (cost) => (cost === costs[0] ? '0' : `${broken}`))
  row('a stop before which nothing changed, ms (median)', ({ quiet }) => median(quiet).toFixed(0))
  row('all hooks and tests of the session, s', ({ totalMs }) => (totalMs / 1000).toFixed(1))
}

function printSearch(): void {
  console.log('\nA stop before which nothing changed, by the number of files that the rule names (medians, ms)\n')
  for (const files of [1_000, 10_000, 50_000]) {
    const { folder, environment } = makeProject(`search-${files}`, files)
    run({ folder, environment }, 'git', ['init', '-q'])
    run({ folder, environment }, 'git', ['add', '-A'])
    const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com']
    run({ folder, environment }, 'git', [...author, 'commit', '-qm', 'all'])
    const subjects: Subject[] = [
      { name: 'empty Node', command: ['node', '-e', ''], cwd: folder, environment },
      {
        name: 'a whole stop',
        command: [launcher, 'Stop'],
        cwd: folder,
        environment,
        expects: '{}',
        input: payload('Stop', folder, { prompt_id: 'prompt' }),
      },
      { name: 'git status', command: ['git', 'status', '--porcelain'], cwd: folder, environment },
    ]
    const timings = timeInTurn(subjects, Number(values.rounds), 'wall')
    const runs = fs.readFileSync(path.join(folder, 'runs'), 'utf8')
    const shown = timings.map(({ name, medianMs }) => `${name} ${medianMs.toFixed(0)}`)
    console.log(`${String(files).padStart(6)} files: ${shown.join(', ')}; checks run: ${runs.split('\n').length - 1}`)
  }
}

printSession()
printSearch()
