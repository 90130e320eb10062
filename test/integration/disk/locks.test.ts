/** The two ways to wait for a lock: a process of its own sleeps, a server goes on with its other work. */

import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { retryWhileLocked, withLock, withoutSleep } from '../../../src/disk/lock.ts'
import type { Occasion } from '../../../src/hosts/payload.ts'
import { appendRecorded } from '../../../src/project/journal.ts'
import { commitStop } from '../../../src/stop/commit.ts'
import { observeStop } from '../../../src/stop/observe-stop.ts'
import { planMarker } from '../../../src/stop/plan.ts'
import { createProject, makeOld, type Project } from '../../support/project.ts'

const LOCK = 'specs/259_x/.postflight-lock'

afterEach(() => void vi.restoreAllMocks())

function locked() {
  const project = createProject()
  const wait = { for: 'a build', count: 1, stopped_ms: 1 }
  project.marker('259_x', { cc_session_id: 'one', agent_id: 'main', stop_hook_active: true, wait })
  project.write(LOCK, '')
  return { project, folder: project.at('specs/259_x') }
}

function planOfStop({ dir }: Project, patiently: Occasion['patiently']) {
  const nowMs = Date.now()
  const occasion: Occasion = {
    payload: { event: 'Stop', session: 'one', agent: 'main', wakeUps: 0, shells: [] },
    environment: {},
    roots: [dir],
    reader: { foundRoot: dir, findForm: () => ({ onPath: true, byNpx: false, script: '/postflight.js' }) },
    nowMs,
    startMs: nowMs,
    sessionBornMs: undefined,
    deadline: undefined,
    patiently,
  }
  return { plan: observeStop(occasion).markers.map((one) => planMarker(one, occasion)), occasion }
}

it('no server sleeps at a lock left behind to rotate the journal; a later line rotates it', async () => {
  const { dir, write, has } = createProject()
  write('specs/.postflight/journal.jsonl', 'x'.repeat(1_048_576))
  makeOld(write('specs/.postflight/.postflight-lock', ''), 1)
  const sleep = vi.spyOn(Atomics, 'wait')
  const add = () => withoutSleep(() => appendRecorded([{ root: dir, entry: { event: 'error' } }], Date.now()))
  add()
  await pause(200)
  expect(add()).toEqual([])
  expect(has('specs/.postflight/journal.old.jsonl')).toBe(true)
  expect(sleep).not.toHaveBeenCalled()
})

describe('an asynchronous wait for a lock', () => {
  it('runs the action when the lock is free, and never sleeps meanwhile', async () => {
    const { project, folder } = locked()
    const sleep = vi.spyOn(Atomics, 'wait')
    let ticks = 0
    const ticking = setInterval(() => ticks++, 5)
    setTimeout(() => rmSync(project.at(LOCK)), 150)
    const seen = await retryWhileLocked(() => withLock(folder, 2_000, () => ticks))
    clearInterval(ticking)
    expect(seen).toBeGreaterThan(3)
    expect(sleep).not.toHaveBeenCalled()
    expect(project.has(LOCK)).toBe(false)
  })

  it.each([2_000, 0])('takes over a lock that was left behind, also without patience: %i ms', async (patience) => {
    // A rotation of the journal has none.
    const { project, folder } = locked()
    makeOld(project.at(LOCK), 1)
    expect(await retryWhileLocked(() => withLock(folder, patience, () => 'done'))).toBe('done')
  })

  it.each([3, -3])('leaves the lock of a living process alone when the clock is set by %i hours', async (hours) => {
    const { project, folder } = locked()
    const now = Date.now.bind(Date)
    vi.spyOn(Date, 'now').mockImplementation(() => now() + hours * 3_600_000)
    let isReleased = false
    setTimeout(() => {
      isReleased = true
      rmSync(project.at(LOCK))
    }, 50)
    expect(await retryWhileLocked(() => withLock(folder, 2_000, () => isReleased))).toBe(true)
  })

  it('ends with the same error as a sleep when the patience of the lock is over', async () => {
    const { folder } = locked()
    await expect(retryWhileLocked(() => withLock(folder, 60, () => 'done'))).rejects.toMatchObject({ code: 'locked' })
    expect(() => withLock(folder, 60, () => 'done')).toThrow(expect.objectContaining({ code: 'locked' }))
  })

  it('ends when the patience is over if other processes take the lock one after another, and each one looks old', () => {
    const { project, folder } = locked()
    const now = Date.now.bind(Date)
    // The clock of a network disk may differ from this machine's.
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000)
    const endMs = performance.now() + 3_000
    vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      if (performance.now() > endMs) throw new Error('still waiting')
      rmSync(project.at(LOCK))
      project.write(LOCK, '')
      return 'timed-out'
    })
    expect(() => withLock(folder, 60, () => 'done')).toThrow(expect.objectContaining({ code: 'locked' }))
  })

  it('passes on the errors of the action, and the next lock is waited for in the usual way again', async () => {
    const { project, folder } = locked()
    const failing = retryWhileLocked(() => {
      throw new Error('of the action')
    })
    await expect(failing).rejects.toThrow('of the action')
    const sleep = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      rmSync(project.at(LOCK))
      return 'timed-out'
    })
    expect(withLock(folder, 2_000, () => 'done')).toBe('done')
    expect(sleep).toHaveBeenCalledOnce()
  })

  it('of a stop, once for a marker: without success it reports nothing if the marker is gone by then, and an error if it is still there', async () => {
    const { project } = locked()
    const { plan, occasion } = planOfStop(project, (action) => action())
    const begin = performance.now()
    expect((await commitStop(plan, occasion)).outcomes).toEqual([expect.objectContaining({ kind: 'unreadable' })])
    expect(performance.now() - begin).toBeLessThan(1_900)
    // Another process holds the lock while it removes the marker.
    vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      rmSync(project.at('specs/259_x/.postflight-pending'), { force: true })
      return 'timed-out'
    })
    expect((await commitStop(plan, occasion)).outcomes).toEqual([expect.objectContaining({ kind: 'let-go' })])
  })

  it('of a stop delays the marker whose lock is held, and counts no other one twice', async () => {
    const { project } = locked()
    project.marker('001_first', { cc_session_id: 'one', agent_id: 'main' })
    const { plan, occasion } = planOfStop(project, retryWhileLocked)
    const sleep = vi.spyOn(Atomics, 'wait')
    setTimeout(() => rmSync(project.at(LOCK)), 100)
    const { outcomes } = await commitStop(plan, occasion)
    expect(outcomes).toMatchObject([{ rule: 'block' }, { rule: 'bypassed' }])
    expect(project.read('specs/001_first/.postflight-loop-guard').trim()).toBe('1')
    expect(sleep).not.toHaveBeenCalled()
  })
})
