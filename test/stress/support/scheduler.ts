/**
 * Runs several actors, one call at a time, in an order that is drawn from a seed: the same seed gives the same order.
 * An order is a random walk, or follows priorities that change at a few random calls. The second way finds faults that
 * need one actor to pause for a long time.
 */

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { type Job, type Memory, type Outcome, type Shared, STATE } from './actor.ts'
import { stayOnOneProcessor } from './one-processor.ts'

/** A source of numbers from 0 to 1: the same seed gives the same numbers (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export interface Policy {
  readonly seed: number
  /** The number of changes of priority; undefined for a random walk. */
  readonly changes?: number | undefined
  /** Called after each turn, when no actor runs. */
  readonly afterTurn?: (turn: number) => void
}

const MAX_TURNS = 50_000
const HORIZON = 160
/** The share of turns in which an actor that polls a lock may go before the others. */
const POLL_SHARE = 0.05

/** The calls of all actors in the order in which they were made, for people. */
export function traceOf(outcomes: readonly Outcome[], folder: string): string {
  return outcomes
    .flatMap(({ calls, times }, actor) => calls.map((call, index) => ({ actor, call, time: times[index] ?? 0 })))
    .sort((one, other) => one.time - other.time)
    .map(({ actor, call }) => `${actor}: ${call.replaceAll(folder, '')}`)
    .join('\n')
}

export class Scheduler {
  readonly #workers: Worker[] = []
  readonly #ports: MessagePort[] = []
  readonly #memory: Memory
  readonly #leaveProcessor = stayOnOneProcessor()

  constructor(actorFile: string, count: number, folder: string, arena: string) {
    const words = (length: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * length))
    this.#memory = {
      ...{ states: words(count), permits: words(count), polling: words(count) },
      ...{ changes: words(1), calls: words(1), clock: words(1), set: words(1) },
    }
    for (let index = 0; index < count; index++) {
      const { port1, port2 } = new MessageChannel()
      const shared: Shared = { ...this.#memory, index, folder, arena, results: port2 }
      this.#ports.push(port1)
      this.#workers.push(new Worker(actorFile, { workerData: shared, transferList: [port2] }))
    }
  }

  run(jobs: readonly Job[], policy: Policy): Outcome[] {
    const random = randomOf(policy.seed)
    const { states, permits, polling, clock, set } = this.#memory
    Atomics.store(clock, 0, 0)
    Atomics.store(set, 0, 0)
    jobs.forEach((job, index) => {
      Atomics.store(states, index, STATE.running)
      this.#workers[index]?.postMessage(job)
    })
    jobs.forEach((_, index) => {
      this.#settled(index)
    })
    const priorities = jobs.map(() => random())
    const changeAt = new Set(Array.from({ length: policy.changes ?? 0 }, () => Math.floor(random() * HORIZON)))
    for (let turn = 0; ; turn++) {
      if (turn > MAX_TURNS) throw new Error(`no actor makes progress: seed ${policy.seed}`)
      const waiting = jobs.flatMap((_, index) => (Atomics.load(states, index) === STATE.waiting ? [index] : []))
      if (waiting.length === 0) break
      // An actor that polls a lock rarely goes first; otherwise most turns would be polls.
      const eager = waiting.filter((index) => Atomics.load(polling, index) === 0)
      const candidates = eager.length > 0 && random() > POLL_SHARE ? eager : waiting
      let chosen = candidates[Math.floor(random() * candidates.length)] as number
      if (policy.changes !== undefined && candidates === eager) {
        chosen = candidates.reduce((best, index) =>
          (priorities[index] as number) > (priorities[best] as number) ? index : best,
        )
        if (changeAt.has(turn)) priorities[chosen] = -turn
      }
      Atomics.store(states, chosen, STATE.running)
      Atomics.store(permits, chosen, 1)
      Atomics.notify(permits, chosen)
      this.#settled(chosen)
      policy.afterTurn?.(turn)
    }
    return jobs.map((_, index) => {
      const received = receiveMessageOnPort(this.#ports[index] as MessagePort)
      if (received === undefined) throw new Error('an actor ended without a result')
      return received.message as Outcome
    })
  }

  runAlone(job: Omit<Job, 'scheduled'>): Outcome {
    const [outcome] = this.run([{ ...job, scheduled: false }], { seed: 0 })
    return outcome as Outcome
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
    this.#leaveProcessor()
  }

  #settled(index: number): void {
    for (;;) {
      const changes = Atomics.load(this.#memory.changes, 0)
      if (Atomics.load(this.#memory.states, index) !== STATE.running) return
      if (Atomics.wait(this.#memory.changes, 0, changes, 60_000) === 'timed-out') {
        throw new Error(`actor ${index} does not answer`)
      }
    }
  }
}
