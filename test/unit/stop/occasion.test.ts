import { describe, expect, it, vi } from 'vitest'
import { occasionOf } from '../../../src/hosts/payload.ts'
import { judgeOwnership } from '../../../src/stop/rules.ts'
import { changedAt, mainStop, marker, NOW_MS, subagentStop } from '../builders.ts'

function finders() {
  return { startMs: vi.fn(() => NOW_MS), sessionBornMs: vi.fn((): number | undefined => undefined) }
}

function occasionAt(payload: ReturnType<typeof mainStop>, find: ReturnType<typeof finders>) {
  const reader = { foundRoot: '/p', findForm: () => ({ onPath: true, byNpx: false, script: '/postflight.js' }) }
  return occasionOf({ payload, environment: {}, roots: [], reader, nowMs: NOW_MS, deadline: undefined }, find)
}

describe('an occasion', () => {
  it('finds its start and the birth of its session once, if they are read', () => {
    const find = finders()
    const occasion = occasionAt(mainStop(), find)
    expect(find.startMs).not.toHaveBeenCalled()
    for (const _ of [1, 2]) expect([occasion.startMs, occasion.sessionBornMs]).toEqual([NOW_MS, undefined])
    expect(find.startMs).toHaveBeenCalledOnce()
    expect(find.sessionBornMs).toHaveBeenCalledOnce()
  })

  it.each<[string, object, ReturnType<typeof mainStop>, number, number]>([
    ['a marker of the session', { cc_session_id: 's1' }, mainStop(), 0, 0],
    ['one that waits', { cc_session_id: 's1', wait: { for: 'x', count: 1 } }, mainStop(), 1, 0],
    ['one without a session', {}, subagentStop(), 0, 1],
  ])('costs only what the rules need for %s', (_what, fields, payload, starts, births) => {
    const find = finders()
    judgeOwnership(
      { marker: marker(fields as Record<string, unknown>), times: changedAt(NOW_MS) },
      occasionAt(payload, find),
    )
    expect(find.startMs).toHaveBeenCalledTimes(starts)
    expect(find.sessionBornMs).toHaveBeenCalledTimes(births)
  })
})
