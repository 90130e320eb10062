import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { countElapsed, pauseClock, workedMs } from '../../../src/run/machine/state.ts'
import { holds } from '../arbitraries.ts'

/** The clock of a run, which reads the system's: that one may be set by hours at any time. */

const HOUR_MS = 3_600_000

it('the time for which a run has worked never falls, and never grows by more than the clock moved forward', () => {
  const anyTime = fc.integer({ min: -100 * HOUR_MS, max: 100 * HOUR_MS })
  holds()(fc.array(fc.tuple(anyTime, fc.boolean()), { maxLength: 20 }), (times) => {
    let state = { phase: 'a', durations: {}, clockSinceMs: 0 } as unknown as WorkflowState
    let worked = 0
    let last = 0
    let forward = 0
    for (const [nowMs, pauses] of times) {
      forward += Math.max(0, nowMs - last)
      last = nowMs
      state = pauses ? pauseClock(state, nowMs) : countElapsed(state, nowMs)
      const after = workedMs(state, nowMs)
      expect(after).toBeGreaterThanOrEqual(worked)
      expect(after).toBeLessThanOrEqual(forward)
      worked = after
    }
  })
})
