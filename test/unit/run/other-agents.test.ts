import { describe, expect, it } from 'vitest'
import { advance } from '../../../src/run/machine/machine.ts'
import { currentWork } from '../../../src/run/machine/position.ts'
import { isPrompted } from '../../../src/run/machine/state.ts'
import { begin, seeing } from './builders.ts'

const CHECK = { id: 'a', prompt: 'p', artifact: 'a.json', next: { pass: 'end', fail: 'end', verdict: '/ok' } }
const WORK = { id: 'a', steps: ['one'], step_prompt: 'Do it.' }

/** The stop of another agent takes only results that pass. */
const HELPER = { returned: false, mayPrompt: false, takes: 'passing' } as const

describe('at the stop of an agent without the prompt', () => {
  it.each([
    ['before the phase’s prompt', begin(CHECK)],
    ['after it', advance(begin(CHECK), seeing()).state],
  ])('a failing verdict is not judged %s', (_when, state) => {
    const seen = seeing({ ...HELPER, artifact: { kind: 'valid', verdict: 'fail' } })
    expect(advance(state, seen)).toMatchObject({ state, command: { kind: 'wait' }, effects: [] })
    expect(advance(state, { ...seen, artifact: { kind: 'valid', verdict: 'pass' } }).state.outcome).toBe('completed')
    expect(advance(state, { ...seen, takes: undefined }).state.outcome).toBe('failed')
  })

  it.each([
    ['a result that says that the step failed', { kind: 'result', success: false, archived: false }],
    ['a half-written one', { kind: 'invalid', why: 'not JSON', archived: false }],
  ] as const)('%s is not judged', (_what, stepResult) => {
    const asked = advance(advance(begin(WORK), seeing()).state, seeing()).state
    expect(isPrompted(asked)).toBe(true)
    expect(advance(asked, seeing({ ...HELPER, stepResults: [stepResult] }))).toMatchObject({
      state: asked,
      command: { kind: 'wait' },
    })
    expect(
      currentWork(advance(asked, seeing({ ...HELPER, stepResults: [stepResult], takes: undefined })).state).attempts,
    ).toBe(1)
  })

  it('after the agent with the prompt went on, a result that is complete is judged, and a half-written one is not', () => {
    const asked = advance(advance(begin(WORK), seeing()).state, seeing()).state
    const seen = seeing({ returned: false, mayPrompt: true, takes: 'complete' })
    const failed = { kind: 'result', success: false, archived: false } as const
    expect(currentWork(advance(asked, { ...seen, stepResults: [failed] }).state).attempts).toBe(1)
    const half = { kind: 'invalid', why: 'not JSON', archived: false } as const
    expect(advance(asked, { ...seen, stepResults: [half] })).toMatchObject({ state: asked, command: { kind: 'wait' } })
    expect(advance(asked, seen)).toMatchObject({ state: asked, command: { kind: 'wait' } })
    const verdict = { ...seen, artifact: { kind: 'valid', verdict: 'fail' } as const }
    expect(advance(advance(begin(CHECK), seeing()).state, verdict).state.outcome).toBe('failed')
  })

  it('a step’s result that passes, or that is in the archive already, is taken', () => {
    const asked = advance(advance(begin(WORK), seeing()).state, seeing()).state
    const passes = { kind: 'result', success: true, archived: false } as const
    expect(currentWork(advance(asked, seeing({ ...HELPER, stepResults: [passes] })).state).step).toBe(1)
    const archived = { kind: 'result', success: false, archived: true } as const
    expect(currentWork(advance(asked, seeing({ ...HELPER, stepResults: [archived] })).state).attempts).toBe(1)
  })
})
