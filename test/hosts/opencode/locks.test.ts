/** Another process holds a lock: the plugin waits for it, and the server goes on meanwhile. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answerOf, NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { IN_TASK, TASK } from '../four-phases.ts'
import type { Script } from '../model.ts'
import { bash, say } from './agents.ts'
import { mainTurns, placesIn, projectWithFlow, runWorkflow, worker } from './flow.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

/** The longest time (ms) for which the server may not react. OpenCode causes some of it itself. */
const LONGEST_PAUSE_MS = 500

/**
 * Adds a plugin that measures how long the server's event loop stands still, and returns a reader of the longest pause.
 * The time for which another program had the processor is left out; on a busy machine that is most of a wait in which the
 * thread sleeps again and again, so any sleep counts as endless.
 */
function pauseMeter(guarded: GuardedProject): { longestSince(sinceMs: number): number } {
  const file = join(guarded.project.base, 'pauses')
  writeFileSync(file, '')
  guarded.addPlugin(
    'pauses.mjs',
    `const { appendFileSync, readFileSync } = await import('node:fs')
     const clock = () => {
       let starved = 0
       try { starved = Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6 } catch {}
       return performance.now() - starved
     }
     const note = (pause) => appendFileSync(${JSON.stringify(file)}, Date.now() + ' ' + pause + '\\n')
     const sleep = Atomics.wait
     Atomics.wait = (...words) => {
       note(Infinity)
       return sleep(...words)
     }
     let last = clock()
     setInterval(() => {
       const now = clock()
       if (now - last > 100) note(now - last)
       last = now
     }, 10).unref()
     return {}`,
  )
  return {
    longestSince(sinceMs) {
      const lines = readFileSync(file, 'utf8').split('\n')
      const pauses = lines.map((line) => line.split(' ').map(Number)).filter(([at = 0]) => at > sinceMs)
      return Math.max(0, ...pauses.map(([, pause = 0]) => pause))
    },
  }
}

/** Holds the lock of a folder, as a process that was killed a moment ago left it. */
function leaveLock(guarded: GuardedProject, folder: string): void {
  mkdirSync(join(guarded.project.dir, folder), { recursive: true })
  rmSync(join(guarded.project.dir, folder, '.postflight-lock'), { force: true })
  writeFileSync(join(guarded.project.dir, folder, '.postflight-lock'), '')
}

describe.skipIf(hostsSkipped())('a lock that was left behind under serve', () => {
  it('delays the start of a run, its next prompt and its interruption, but the server stays responsive', async () => {
    const guarded = projectWithFlow({ isAlone: true })
    const pauses = pauseMeter(guarded)
    const lines = [runWorkflow(TASK, 'flow.yaml')]
    let startedMs = Number.POSITIVE_INFINITY
    const work = worker([], (place, turn) => {
      if (place === 'plan 1') return NEVER
      // The first phase is done, and the next prompt is due.
      if (turn.lastToolResult !== undefined) leaveLock(guarded, `${IN_TASK}/workflow`)
      return undefined
    })
    const main: Script = (turn) => {
      const line = lines.shift()
      if (line === undefined) return answerOf(work, turn)
      leaveLock(guarded, `${IN_TASK}/workflow`)
      startedMs = Date.now()
      return line
    }
    const { server, session, model } = await guarded.begin({ main })
    await expect.poll(() => placesIn(model.turns('main')).at(-1), { timeout: 60_000 }).toBe('plan 1')
    expect(Date.now() - startedMs).toBeGreaterThan(8_000)
    expect(pauses.longestSince(startedMs)).toBeLessThan(LONGEST_PAUSE_MS)
    leaveLock(guarded, `${IN_TASK}/workflow`)
    const interruptedMs = Date.now()
    await server.abort(session)
    await expect.poll(() => guarded.state().outcome, { timeout: 20_000 }).toBe('stopped')
    expect(Date.now() - interruptedMs).toBeGreaterThan(4_000)
    expect(pauses.longestSince(interruptedMs)).toBeLessThan(LONGEST_PAUSE_MS)
    expect(guarded.state()).toMatchObject({ why: 'it was interrupted in OpenCode' })
    expect(mainTurns(model.turns('main'))).toHaveLength(1)
  })

  it('of a marker that must be removed at a stop allows the stop after a second, and the server stays responsive', async () => {
    const guarded = guardedProject({ isAlone: true })
    const pauses = pauseMeter(guarded)
    let stoppedMs = Number.POSITIVE_INFINITY
    const main: Script = ({ index }) => {
      if (index === 0) return bash('postflight create 259 x --operation research && postflight bypass 259')
      leaveLock(guarded, 'specs/259_x')
      stoppedMs = Date.now()
      return say('Done.')
    }
    await guarded.begin({ main })
    await expect.poll(() => guarded.story(), { timeout: 20_000 }).toEqual(['create', 'bypass-request', 'error'])
    expect(guarded.journal().at(-1)?.detail).toContain('is being changed by another process')
    expect(Date.now() - stoppedMs).toBeGreaterThan(1_000)
    expect(pauses.longestSince(stoppedMs)).toBeLessThan(LONGEST_PAUSE_MS)
  })
})
