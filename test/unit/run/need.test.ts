import { expect, it } from 'vitest'
import { needOf } from '../../../src/run/machine/position.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { abortState, haltState, requestStop } from '../../../src/run/machine/steering.ts'
import { begin, MADE, NOW, played } from './builders.ts'

const PHASE = { id: 'a', prompt: 'p', artifact: 'a.txt', approve: true }
const asked = (): WorkflowState => played(begin(PHASE), {})
const WAIT = { for: 'an answer', count: 1 }

it.each<[string, WorkflowState, object]>([
  ['a prompt, from its beginning', begin(PHASE), { kind: 'prompt' }],
  ['a prompt, while one is out', asked(), { kind: 'prompt' }],
  ['the end of its wait', { ...asked(), wait: WAIT }, { kind: 'wait', wait: WAIT }],
  ['its agent’s stop, once it was asked to stop', requestStop(asked(), NOW), { kind: 'stop' }],
  ['its agent’s stop, also while it waits', { ...requestStop(asked(), NOW), wait: WAIT }, { kind: 'stop' }],
  ['an approval', played(asked(), MADE), { kind: 'approval', phase: 'a', artifact: 'a.txt' }],
  ['a resume, when it was stopped', haltState(asked(), 'why', NOW), { kind: 'resume' }],
  ['nothing, when it was aborted', abortState(asked(), NOW), { kind: 'nothing' }],
])('a run needs %s', (_what, state, need) => {
  expect(needOf(state)).toEqual(need)
})
