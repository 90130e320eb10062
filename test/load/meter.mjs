/**
 * A plugin of OpenCode that measures its server: how long the event loop stands still, how much memory is in use, and how
 * long each section of postflight-guard occupies the thread: from the moment its code runs until it waits for something, or
 * ends. With LOAD_GUARD (the guard's instrumented file) it loads the guard; without, it measures a server without the guard.
 * It writes a line to LOAD_OUT every LOAD_SAMPLE_MS.
 */

import { appendFileSync, readFileSync } from 'node:fs'

const { LOAD_GUARD, LOAD_OUT, LOAD_SAMPLE_MS = '10000' } = process.env

/** The interval (ms) at which the event loop should be free for the meter. */
const TICK_MS = 10

/** The time (ms) for which this thread was ready to run, but another program had the processor. */
function waitedMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

const pauses = { over20: 0, over50: 0, over100: 0, longest: 0 }
const sections = { count: 0, totalMs: 0, longest: { name: '', ms: 0, wallMs: 0 }, over50: [] }

let last = performance.now()
let lastWaited = waitedMs()

function tick() {
  const now = performance.now()
  const pause = now - last - TICK_MS
  if (pause > 20) pauses.over20 += 1
  if (pause > 50) pauses.over50 += 1
  if (pause > 100) pauses.over100 += 1
  pauses.longest = Math.max(pauses.longest, pause)
  last = now
}

let depth = 0
let start = 0
let startWaited = 0
let startName = ''

function begin(name) {
  depth += 1
  // The time of the wrapper of all hooks does not include the calls that it makes.
  if (depth === 2) startName += ` > ${name}`
  if (depth > 1) return
  start = performance.now()
  startWaited = waitedMs()
  startName = name
}

function end() {
  depth -= 1
  if (depth > 0) return
  const wallMs = performance.now() - start
  const ms = wallMs - (waitedMs() - startWaited)
  sections.count += 1
  sections.totalMs += ms
  if (ms > sections.longest.ms) sections.longest = { name: startName, ms, wallMs }
  if (ms > 50) sections.over50.push({ name: startName, ms: Math.round(ms), wallMs: Math.round(wallMs) })
  startName = ''
}

/** The guard calls these where its code begins to run and where it stops (see `instrument.ts`). */
globalThis.loadMeter = {
  entered: begin,
  ended: end,
  /** Before an `await`. */
  left(awaited) {
    end()
    return Promise.resolve(awaited).then(
      (value) => ({ value }),
      (error) => ({ error, isError: true }),
    )
  },
  /** After it. */
  resumed({ value, error, isError }, name) {
    begin(name)
    if (isError === true) throw error
    return value
  },
}

function sample() {
  tick()
  globalThis.Bun?.gc(true)
  const { rss, heapUsed, external } = process.memoryUsage()
  const line = { at: Date.now(), rss, heapUsed, external, pauses, sections, waitedMs: waitedMs() - lastWaited }
  appendFileSync(LOAD_OUT, `${JSON.stringify(line)}\n`)
  lastWaited = waitedMs()
  last = performance.now()
}

async function server(input) {
  setInterval(tick, TICK_MS)
  setInterval(sample, Number(LOAD_SAMPLE_MS))
  if (LOAD_GUARD === undefined) return {}
  const { default: guard } = await import(LOAD_GUARD)
  return guard.server(input)
}

export default { id: 'load-meter', server }
