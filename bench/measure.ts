import { spawnSync } from 'node:child_process'

/**
 * Times whole processes from outside, in turn, so that changes in the machine's speed affect all of them alike. Wall time is
 * what a person waits for; CPU time (user and system) is what can be compared on a machine that does other things too.
 */

export type Clock = 'wall' | 'cpu'

/** A command to time. */
export interface Subject {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Runs before each timed run, and is not timed. */
  readonly prepare?: () => void
  /** A text that stdout must contain: the time of a process that did something else would be meaningless. */
  readonly expects?: string
}

/** Times of one subject, in ms. */
export interface Timing {
  readonly name: string
  readonly medianMs: number
  /** First and third quartile. */
  readonly spreadMs: readonly [number, number]
  readonly minMs: number
  /** The time of each round, in order. The subjects of one round ran one after the other, so their times form pairs. */
  readonly roundsMs: readonly number[]
}

/** The median over all rounds of `compare`, applied to both subjects' times in a round. */
export function medianOfPairs(one: Timing, other: Timing, compare: (one: number, other: number) => number): number {
  return medianOf(one.roundsMs.map((ms, round) => compare(ms, other.roundsMs[round] ?? Number.NaN)))
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Runs the subjects in turn, `rounds` times after one warm-up, each in a clean environment. */
export function timeInTurn(subjects: readonly Subject[], rounds: number, clock: Clock): Timing[] {
  const times = subjects.map((): number[] => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      const ms = timeOnce(subject, clock)
      if (round >= 0) times[index]?.push(ms)
    }
  }
  return subjects.map((subject, index) => summarise(subject.name, times[index] ?? []))
}

/** The time of one run, in ms. */
export function timeOnce(subject: Subject, clock: Clock): number {
  subject.prepare?.()
  const [program, ...words] = clock === 'wall' ? subject.command : ['bash', '-c', CPU_OF, 'bash', ...subject.command]
  const started = process.hrtime.bigint()
  const run = spawnSync(program as string, words, {
    cwd: subject.cwd,
    input: subject.input ?? '',
    env: { PATH: process.env.PATH ?? '', HOME: subject.cwd, ...subject.environment },
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const ms = Number(process.hrtime.bigint() - started) / 1e6
  if (run.status !== 0 || (subject.expects !== undefined && !run.stdout.includes(subject.expects))) {
    throw new Error(
      `${subject.name} did not do its work (${run.status}): ${run.stdout.slice(0, 1000)} ${run.stderr.slice(0, 1000)} ${run.error ?? ''}`,
    )
  }
  return clock === 'wall' ? ms : cpuMs(run.output[3] ?? '')
}

/** Node reports its own CPU time and not that of one child; bash prints it, in whole ms each. */
const CPU_OF = 'TIMEFORMAT="%3U %3S"; exec 4>&2 2>&3 3>&-; time "$@" 2>&4 4>&-'

function cpuMs(printed: string): number {
  const seconds = printed.trim().replaceAll(',', '.').split(' ').map(Number)
  if (seconds.length !== 2 || seconds.some(Number.isNaN)) throw new Error(`bash printed no CPU time: ${printed}`)
  return seconds.reduce((sum, one) => sum + one * 1000, 0)
}

function summarise(name: string, times: readonly number[]): Timing {
  const sorted = [...times].sort((one, other) => one - other)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { name, medianMs: medianOf(times), spreadMs: [at(0.25), at(0.75)], minMs: at(0), roundsMs: times }
}
