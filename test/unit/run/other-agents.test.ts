import { describe, expect, it } from 'vitest'
import { advance } from '../../../src/run/machine/machine.ts'
import { currentWork } from '../../../src/run/machine/position.ts'
import { begin, DONE, FAILED, NOT_DONE, PASSED, played, seeing } from './builders.ts'

const CHECK = { id: 'a', prompt: 'p', artifact: 'a.json', next: { pass: 'end', fail: 'end', verdict: '/ok' } }
const WORK = { id: 'a', steps: ['one'], step_prompt: 'Do it.' }

/** The stop of another agent takes only results that pass. */
const HELPER = { returned: false, mayPrompt: false, takes: 'passing' } as const
/** A run whose step is out. */
const asked = played(begin(WORK), {}, {})
const half = { kind: 'invalid', why: 'not JSON', archived: false } as const

describe('at the stop of an agent without the prompt', () => {
  it.each([
    ['before the phase’s prompt', begin(CHECK)],
    ['after it', played(begin(CHECK), {})],
  ])('a failing verdict is not judged %s', (_when, state) => {
    expect(advance(state, seeing({ ...HELPER, ...FAILED }))).toMatchObject({ state, command: 'wait', effects: [] })
    expect(played(state, { ...HELPER, ...PASSED }).outcome).toBe('completed')
    expect(played(state, { ...HELPER, ...FAILED, takes: undefined }).outcome).toBe('failed')
  })

  it.each([
    ['a result that says that the step failed', NOT_DONE],
    ['a half-written one', half],
  ])('%s is not judged', (_what, stepResult) => {
    const seen = { ...HELPER, stepResults: [stepResult] }
    expect(advance(asked, seeing(seen))).toMatchObject({ state: asked, command: 'wait' })
    expect(currentWork(played(asked, { ...seen, takes: undefined })).attempts).toBe(1)
  })

  it('after the agent with the prompt went on, a result that is complete is judged, and a half-written one is not', () => {
    const seen = { returned: false, takes: 'complete' } as const
    expect(currentWork(played(asked, { ...seen, stepResults: [NOT_DONE] })).attempts).toBe(1)
    const judged = [[half], []].map((stepResults) => advance(asked, seeing({ ...seen, stepResults })))
    expect(judged).toMatchObject(judged.map(() => ({ state: asked, command: 'wait' })))
    expect(played(begin(CHECK), {}, { ...seen, ...FAILED }).outcome).toBe('failed')
  })

  it('a step’s result that passes, or that is in the archive already, is taken', () => {
    expect(currentWork(played(asked, { ...HELPER, stepResults: [DONE] })).step).toBe(1)
    expect(currentWork(played(asked, { ...HELPER, stepResults: [{ ...NOT_DONE, archived: true }] })).attempts).toBe(1)
  })
})
