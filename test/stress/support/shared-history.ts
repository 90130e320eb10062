/** A random history of a shared run on several machines, and the rules that it must obey. */

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { createMachines, git, type Machine, WALK } from '../../support/machines.ts'
import { CLI } from '../../support/process.ts'
import { removeProjects } from '../../support/project.ts'
import { filesBelow, jsonOf, linesOf, textAt } from './files.ts'
import { randomOf } from './scheduler.ts'

const NAMES = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'] as const
const PHASES = [
  { id: 'plan', prompt: 'Plan.', artifact: 'plan.md', approve: true },
  { id: 'build', prompt: 'Build.', artifact: 'built.md' },
  { id: 'ship', prompt: 'Ship.', artifact: 'shipped.md' },
]

/** Where a person puts files that a shared run would overwrite. */
const MOVED_AWAY = 'specs/moved-away'

/** A command that a machine ran: its times in ms, and the commit that the machine knew as its own after a success. */
interface Call {
  readonly machine: string
  readonly line: string
  readonly begin: number
  readonly end: number
  /** Undefined for a command that was killed. */
  readonly status: number | undefined
  readonly output: string
  readonly commit: string | undefined
}

/** Where a history takes place: the address of the remote, and its end. */
export interface Network {
  readonly urlOf: (remote: string) => string
  /** Ends the faults of the network, and waits for what is under way. */
  readonly calm: () => Promise<void>
}

/** Runs a history. The same seed chooses the same commands, not the same times. */
export async function runHistory(seed: number, steps: number, network: Network) {
  const random = randomOf(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const { remote, ...machines } = createMachines(NAMES, { url: network.urlOf })
  const all = NAMES.map((name) => machines[name])
  git(remote, 'config', 'http.receivepack', 'true')
  for (const machine of all) machine.write('walk.json', JSON.stringify({ name: 'walk', phases: PHASES }))
  const calls: Call[] = []
  const written: { readonly machine: string; readonly text: string }[] = []
  const [first] = all as [Machine, ...Machine[]]
  const log = async (machine: Machine, words: readonly string[], killedAfterMs?: number): Promise<Call> => {
    const begin = performance.now()
    const run = await runCommand(machine, words, killedAfterMs)
    const commit = run.status === 0 ? recordOf(machine)?.commit : undefined
    const call = { machine: machine.name, line: words.join(' '), begin, end: performance.now(), ...run, commit }
    calls.push(call)
    return call
  }
  try {
    await log(first, ['start', '7', 'walk', '--definition', 'walk.json', '--share'])
    const id = stateOf(first)?.id ?? ''
    for (let step = 0; step < steps; step++) {
      const busy = [
        ...new Set([pick(all), ...(random() < 0.5 ? [pick(all)] : []), ...(random() < 0.2 ? [pick(all)] : [])]),
      ]
      await Promise.all(
        busy.map(async (machine, index) => {
          const state = stateOf(machine)
          const isActive = state?.active === true
          const killedAfterMs = random() < 0.12 ? 60 + random() * 500 : undefined
          if (!isActive) {
            await log(machine, ['resume', '7', '--shared', ...(random() < 0.4 ? ['--take'] : [])], killedAfterMs)
            return
          }
          const artifact = PHASES.find((phase) => phase.id === state.phase)?.artifact ?? ''
          if (random() < 0.6 && !machine.has(`${WALK}/${artifact}`)) {
            const text = `${machine.name} ${step} ${index}`
            machine.write(`${WALK}/${artifact}`, text)
            written.push({ machine: machine.name, text })
          }
          await log(machine, [pick(['next', 'next', 'publish', 'approve', 'release', 'stop']), '7'], killedAfterMs)
        }),
      )
      // A run that has ended has no more history.
      if (all.some((machine) => stateOf(machine)?.outcome === 'completed')) break
    }
    await network.calm()
    // Where the first publish failed, nobody else could have the run.
    if (headState(remote, id) === undefined) await log(first, ['publish', '7'])
    const finished = await finish(pick(all), remote, id, log)
    const flaws = [...judge(remote, id, calls), ...lostTexts(remote, id, all, written), ...finished]
    return { calls, flaws }
  } finally {
    removeProjects()
  }
}

async function runCommand(
  machine: Machine,
  words: readonly string[],
  killedAfterMs: number | undefined,
): Promise<Pick<Call, 'status' | 'output'>> {
  if (killedAfterMs === undefined) {
    const { status, stdout, stderr } = await machine.workflow(...words)
    return { status: status ?? undefined, output: stdout + stderr }
  }
  const child = spawn(process.execPath, [CLI, 'workflow', ...words], {
    cwd: machine.dir,
    env: machine.env,
    stdio: 'ignore',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), killedAfterMs)
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { status: status ?? undefined, output: status === null ? 'killed' : '' }
}

interface RunState {
  readonly id: string
  readonly active: boolean
  readonly outcome: string | null
  readonly phase: string
  readonly sequence: number
}

const stateOf = (machine: Machine) => jsonOf(textAt(machine.at(WALK, 'workflow/state.json'))) as RunState | undefined

function recordOf(machine: Machine) {
  return jsonOf(textAt(machine.at(WALK, 'workflow/shared.json'))) as { readonly commit: string } | undefined
}

type Log = (machine: Machine, words: readonly string[]) => Promise<Call>

/** Finishes the run at one machine, as a person would; returns why it cannot be. */
async function finish(machine: Machine, remote: string, id: string, log: Log): Promise<string[]> {
  for (let turn = 0; turn < 30; turn++) {
    const state = stateOf(machine)
    if (state?.outcome === 'completed' || headState(remote, id)?.outcome === 'completed') return []
    if (state?.active === true) {
      const artifact = PHASES.find((phase) => phase.id === state.phase)?.artifact ?? ''
      if (!machine.has(`${WALK}/${artifact}`)) machine.write(`${WALK}/${artifact}`, `finished ${machine.name}`)
      await log(machine, ['next', '7'])
      await log(machine, ['approve', '7'])
      continue
    }
    const { output } = await log(machine, ['resume', '7', '--shared', '--take'])
    const [, files] = /would be overwritten: (.*)\. Move them away/.exec(output) ?? []
    mkdirSync(machine.at(MOVED_AWAY), { recursive: true })
    for (const file of files?.split(', ') ?? []) renameSync(machine.at(WALK, file), machine.at(MOVED_AWAY, file))
  }
  const { active, phase, outcome } = headState(remote, id) ?? {}
  return [
    `${machine.name} cannot finish it: ${JSON.stringify({ active, phase, outcome, here: stateOf(machine)?.outcome })}`,
  ]
}

function headState(remote: string, id: string): RunState | undefined {
  if (git(remote, 'for-each-ref', `refs/postflight/${id}`) === '') return undefined
  return JSON.parse(git(remote, 'cat-file', 'blob', `refs/postflight/${id}:state.json`)) as RunState
}

interface Version {
  readonly commit: string
  readonly parents: string
  readonly generation: number
  readonly nonce: string
  readonly sequence: number
}

function versionsOf(remote: string, id: string): Version[] {
  const lines = git(remote, 'log', '--reverse', '--topo-order', '--format=%H|%P', `refs/postflight/${id}`).split('\n')
  const commits = lines.map((line) => line.split('|') as [string, string])
  const input = commits.map(([commit]) => `${commit}:holder.json\n${commit}:state.json\n`).join('')
  const output = execFileSync('git', ['cat-file', '--batch=%(objectsize)'], { cwd: remote, input })
  let at = 0
  const nextBlob = () => {
    const begin = output.indexOf(10, at) + 1
    const end = begin + Number(output.toString('latin1', at, begin - 1))
    at = end + 1
    return JSON.parse(output.toString('utf8', begin, end))
  }
  return commits.map(([commit, parents]) => {
    const { generation, nonce } = nextBlob()
    return { commit, parents, generation, nonce, sequence: nextBlob().sequence }
  })
}

/** What the log of the ref, and the calls that succeeded, say against each other. */
function judge(remote: string, id: string, calls: readonly Call[]): string[] {
  const versions = versionsOf(remote, id)
  const flaws: string[] = []
  const places = new Map(versions.map(({ commit }, place) => [commit, place]))
  for (const [place, { commit, parents, generation, nonce, sequence }] of versions.entries()) {
    const before = versions[place - 1]
    if (parents !== (before?.commit ?? '')) flaws.push(`${commit} does not follow the version before it`)
    if (before === undefined) continue
    if (generation < before.generation || generation > before.generation + 1)
      flaws.push(`generation ${generation} after ${before.generation}`)
    if (generation === before.generation && nonce !== before.nonce)
      flaws.push(`two holders of generation ${generation}`)
    if (sequence < before.sequence) flaws.push(`transition ${sequence} after ${before.sequence}`)
  }
  const acknowledged = calls.filter(
    ({ commit, output }) => commit !== undefined && commit !== '' && !/not published/.test(output),
  )
  for (const call of acknowledged) {
    if (!places.has(call.commit ?? ''))
      flaws.push(`the commit of "${call.machine} ${call.line}" is not in the log: ${call.commit}`)
    for (const later of acknowledged) {
      if (later.begin <= call.end) continue
      const [one = -1, other = -1] = [places.get(call.commit ?? ''), places.get(later.commit ?? '')]
      // A machine that was not told yet still knows its own last commit.
      if (other < one && later.machine === call.machine)
        flaws.push(`"${later.machine} ${later.line}" went back behind "${call.line}"`)
    }
  }
  return flaws
}

/** The artifacts that are neither in the log, nor kept, nor on the disk of their machine. */
function lostTexts(
  remote: string,
  id: string,
  machines: readonly Machine[],
  written: readonly { readonly machine: string; readonly text: string }[],
): string[] {
  const refs = git(remote, 'for-each-ref', '--format=%(refname)', 'refs/postflight').split('\n')
  const blobs = git(remote, 'rev-list', '--objects', '--no-object-names', '--filter=object:type=blob', ...refs)
  const published = contentsOf(remote, [...new Set(blobs.split('\n'))])
  return written.flatMap(({ machine: name, text }) => {
    const machine = machines.find((one) => one.name === name) as Machine
    const here = filesBelow(machine.at('specs'))
    const isThere = published.has(text) || Object.values(here).includes(text) || isKeptHere(machine, id, text)
    return isThere ? [] : [`an artifact of ${name} is lost: ${text}`]
  })
}

function contentsOf(remote: string, ids: readonly string[]): Set<string> {
  const input = ids.map((blob) => `${blob}\n`).join('')
  return new Set(execFileSync('git', ['cat-file', '--batch'], { cwd: remote, encoding: 'utf8', input }).split('\n'))
}

/** A ref that could not be sent is kept in the machine's own repository. */
function isKeptHere(machine: Machine, id: string, text: string): boolean {
  const refs = linesOf(git(machine.dir, 'for-each-ref', '--format=%(refname)', 'refs/postflight/'))
  const kept = refs.filter((ref) => ref.includes(`${id}-lost-`))
  const objects = kept.flatMap((ref) => linesOf(git(machine.dir, 'rev-list', '--objects', '--no-object-names', ref)))
  return contentsOf(machine.dir, objects).has(text)
}
