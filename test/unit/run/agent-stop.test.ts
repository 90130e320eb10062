import { describe, expect, it } from 'vitest'
import {
  type AgentStop,
  afterSessionStart,
  afterWaitEvent,
  judgeAgentStop,
} from '../../../src/run/machine/agent-stop.ts'
import { abortState, promptAgain, requestStop, resumeState } from '../../../src/run/machine/control.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import { currentWork } from '../../../src/run/machine/position.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { begin, NO_SESSIONS, NOW, played, seeing } from './builders.ts'

const PHASE = { id: 'a', prompt: 'p', artifact: 'a.txt', max_attempts: 2 }
const WORK = { id: 'a', steps: ['one'], max_step_attempts: 2 }

/** A run whose prompt went out in the chain of the user's prompt p1, while the shell `server` ran. */
function asked(phase: object = PHASE): WorkflowState {
  const chain = { promptId: 'p1', shells: ['server'] }
  return 'steps' in phase ? played(begin(phase), chain, chain) : played(begin(phase), chain)
}

const stop = (more: Partial<AgentStop> = {}): AgentStop => ({
  ...{ isMain: true, isNext: true, isBlocked: false, promptId: 'p1', followsBlock: true, shells: ['server'] },
  startMs: NOW,
  ...more,
})

const ANOTHER = { promptId: 'p2', followsBlock: false } as const

/** The state and the command after a stop at which the agent has left nothing. */
function afterStop(
  state: WorkflowState,
  more: Partial<AgentStop> = {},
): { state: WorkflowState; command: string; hears: boolean; attempts: number } {
  const judged = judgeAgentStop(state, stop(more), NOW)
  let { state: next, command } = advance(judged.state, seeing(judged.circumstances))
  while (command.kind === 'observe') ({ state: next, command } = advance(next, seeing(judged.circumstances)))
  const attempts = next.phaseAttempts + currentWork(next).attempts
  return { state: next, command: command.kind, hears: judged.hears, attempts }
}

describe('a prompt that the host threw away or the person interrupted', () => {
  it.each([
    ['a phase', PHASE],
    ['a step', WORK],
  ])(
    'allows the stop of the message, then goes out again as the same attempt, three times in a visit: %s',
    (_, one) => {
      let state = asked(one)
      for (let count = 1; count <= 3; count++) {
        const heard = afterStop(state, { promptId: `q${count}`, followsBlock: false })
        expect(heard).toMatchObject({ command: 'wait', hears: true, attempts: 0 })
        expect(heard.state).toMatchObject({ interruptions: count - 1, heardPromptId: `q${count}` })
        const again = afterStop(heard.state, { promptId: `r${count}`, followsBlock: false })
        expect(again).toMatchObject({ command: 'prompt', hears: false, attempts: 0 })
        expect(again.state).toMatchObject({ interruptions: count, promptId: `r${count}`, stage: 'prompted' })
        expect(again.state.heardPromptId).toBeUndefined()
        state = again.state
      }
      const last = afterStop(state, { promptId: 'q4', followsBlock: false })
      expect(last).toMatchObject({ command: 'wait', hears: true })
      expect(afterStop(last.state, { promptId: 'r4', followsBlock: false }).attempts).toBe(1)
    },
  )

  it('allows every stop of the person’s message, also after a block by something else', () => {
    const first = afterStop(asked(), ANOTHER)
    const again = afterStop(first.state, { ...ANOTHER, followsBlock: true })
    expect(again).toMatchObject({ command: 'wait', hears: true, state: first.state })
  })

  it('is heard where a marker blocks the first stop of the person’s message', () => {
    const blocked = afterStop(asked(), { ...ANOTHER, isNext: false, isBlocked: true })
    expect(blocked).toMatchObject({ command: 'wait', hears: false, state: { heardPromptId: 'p2' } })
    expect(afterStop(blocked.state, { promptId: 'p2' })).toMatchObject({ command: 'wait', hears: true })
  })

  it('goes on at once where the person’s message left its result', () => {
    const { state, circumstances, hears } = judgeAgentStop(asked(), stop(ANOTHER), NOW)
    expect(hears).toBe(true)
    expect(advance(state, seeing({ ...circumstances, artifact: { kind: 'valid' } })).state.outcome).toBe('completed')
  })

  it('goes out again at once after the session has started again: a restart must not let the run rest', () => {
    const restarted = afterSessionStart(asked())
    expect(restarted).toMatchObject({ heardPromptId: 'p1' })
    expect(afterSessionStart(restarted)).toBe(restarted)
    expect(afterStop(restarted, ANOTHER)).toMatchObject({
      ...{ command: 'prompt', hears: false },
      state: { interruptions: 1, phaseAttempts: 0, promptId: 'p2' },
    })
    expect(afterStop(restarted).state.phaseAttempts).toBe(1)
  })

  it('is still in work after the session has started again: a requested stop waits for it', () => {
    const stopping = requestStop(afterSessionStart(asked()), NOW)
    expect(advance(stopping, seeing({ returned: false, mayPrompt: false })).command.kind).toBe('wait')
    expect(afterStop(stopping, ANOTHER)).toMatchObject({ command: 'finish', state: { outcome: 'stopped', prompts: 1 } })
  })

  it.each<[string, WorkflowState]>([
    ['a run without a prompt that is out', begin(PHASE)],
    ['a run whose agent has stopped since', { ...asked(), stage: 'came-back' }],
    ['a prompt that went out without an id', { ...asked(), promptId: undefined }],
  ])('a start of the session changes nothing in %s', (_what, state) => {
    expect(afterSessionStart(state)).toBe(state)
  })

  it.each<[string, Partial<AgentStop>, Partial<WorkflowState>?]>([
    ['in the same chain', { followsBlock: false }],
    ['after a block', { promptId: 'p2' }],
    ['on a host that does not say', { promptId: 'p2', followsBlock: undefined }],
    ['on a host without ids of prompts', { promptId: undefined, followsBlock: false }],
    ['after a prompt without an id', ANOTHER, { promptId: undefined }],
  ])('is not one that came back: %s it counts as an attempt', (_why, more, changed = {}) => {
    expect(afterStop({ ...asked(), ...changed }, more).state).toMatchObject({ phaseAttempts: 1, interruptions: 0 })
  })

  it.each<[string, Partial<AgentStop>]>([
    ['while a sub-agent runs', { isNext: false }],
    ['of another prompt', { isNext: false, ...ANOTHER }],
  ])('is not one after which the agent has stopped: %s', (_why, more) => {
    const { state } = afterStop(asked(), more)
    expect(state).toMatchObject({ stage: 'came-back', phaseAttempts: 0 })
    expect(afterStop(state, { promptId: 'p3', followsBlock: false }).state.phaseAttempts).toBe(1)
  })

  it('is known after the stop of a sub-agent', () => {
    const { state } = afterStop(asked(), { isMain: false, isNext: false })
    expect(state.stage).toBe('prompted')
    expect(afterStop(state, ANOTHER).hears).toBe(true)
  })

  it.each([
    ['a phase', PHASE],
    ['a step', WORK],
  ])('does not go out again if the run was asked to stop, and nothing is counted: %s', (_what, phase) => {
    const ended = afterStop(requestStop(asked(phase), NOW), ANOTHER)
    expect(ended).toMatchObject({ command: 'finish', hears: false, state: { outcome: 'stopped', prompts: 1 } })
  })

  it('counts where something invalid was left, after the person was heard', () => {
    const artifact = { kind: 'invalid', why: 'empty' } as const
    const heard = judgeAgentStop(asked(), stop(ANOTHER), NOW)
    expect(advance(heard.state, seeing({ ...heard.circumstances, artifact })).command.kind).toBe('wait')
    const { state, circumstances } = judgeAgentStop(heard.state, stop({ promptId: 'p3', followsBlock: false }), NOW)
    expect(advance(state, seeing({ ...circumstances, artifact })).state.phaseAttempts).toBe(1)
  })

  it.each([
    ['from before it, which it was to mend, is not its result', NOW - 1, 0],
    ['from the same millisecond is', NOW, 1],
    ['from after it is', NOW + 1, 1],
  ])('something invalid %s', (_what, changedMs, attempts) => {
    const restarted = afterSessionStart({ ...asked(), promptedMs: NOW })
    const { state, circumstances } = judgeAgentStop(restarted, stop(ANOTHER), NOW)
    const seen = seeing({ ...circumstances, artifact: { kind: 'invalid', why: 'empty', changedMs } })
    expect(advance(state, seen).state).toMatchObject({ phaseAttempts: attempts, interruptions: 1 - attempts })
  })
})

const LOOKS_ONLY = { returned: false, takes: 'passing', mayPrompt: false }
const GOES_ON = { mayPrompt: true, promptId: 'p1', shells: ['server'] }

describe('a stop', () => {
  it('of a sub-agent, or after the run has ended, changes nothing and may only find that work passes', () => {
    for (const [state, more] of [
      [asked(), { isMain: false }],
      [abortState(asked(), NOW), {}],
    ] as const) {
      const judged = judgeAgentStop(state, stop(more), NOW)
      expect(judged).toEqual({ state, circumstances: LOOKS_ONLY, asks: false, hears: false })
      expect(judged.state).toBe(state)
    }
  })

  it('is noted once for each prompt', () => {
    const first = judgeAgentStop(asked(), stop(), NOW)
    const circumstances = { ...GOES_ON, returned: true, interrupted: false }
    expect(first).toEqual({ state: { ...asked(), stage: 'came-back' }, circumstances, asks: false, hears: false })
    expect(judgeAgentStop(first.state, stop(), NOW).state).toBe(first.state)
    const fresh = begin(PHASE)
    expect(judgeAgentStop(fresh, stop(), NOW).state).toBe(fresh)
  })

  it('while the run waits, or while a sub-agent runs, may only find that work passes', () => {
    const waiting = judgeAgentStop({ ...asked(), wait: { for: 'an answer', count: 1 } }, stop(), NOW)
    expect(waiting).toMatchObject({ circumstances: LOOKS_ONLY, asks: false })
    const judged = judgeAgentStop(asked(), stop({ isNext: false }), NOW)
    const state = { ...asked(), stage: 'came-back' }
    expect(judged).toEqual({ state, circumstances: LOOKS_ONLY, asks: false, hears: false })
  })
})

describe('a stop while shells run in the background', () => {
  it('asks once in a visit and counts nothing, if they were started since the prompt', () => {
    const judged = judgeAgentStop(asked(), stop({ shells: ['server', 'build'] }), NOW)
    expect(judged).toMatchObject({ asks: true, circumstances: { returned: false, takes: 'passing', mayPrompt: true } })
    expect(afterStop(asked(), { shells: ['build'] })).toMatchObject({ command: 'wait', state: { phaseAttempts: 0 } })
    const again = judgeAgentStop({ ...judged.state, askedToWait: true }, stop({ shells: ['build'] }), NOW)
    expect(again).toMatchObject({ asks: false, circumstances: { returned: false, takes: 'complete' } })
  })

  it('ends a run that was asked to stop, without a question, and counts nothing', () => {
    const { state, command } = afterStop(requestStop(asked(), NOW), { shells: ['build'] })
    expect(command).toBe('finish')
    expect(state).toMatchObject({ outcome: 'stopped', phaseAttempts: 0, askedToWait: false })
  })

  it('counts if they ran before: a server for development', () => {
    expect(afterStop(asked()).state.phaseAttempts).toBe(1)
  })

  it('takes results that pass', () => {
    const { state, circumstances } = judgeAgentStop(asked(), stop({ shells: ['build'] }), NOW)
    expect(advance(state, seeing({ ...circumstances, artifact: { kind: 'valid' } })).state.outcome).toBe('completed')
  })
})

const ANNOUNCES = { kind: 'announcement', isMain: true, prompt: 'p1', startMs: NOW } as const

describe('a run that waits', () => {
  const waiting = (): WorkflowState => ({ ...asked(), wait: { for: 'an answer', count: 1 } })

  it('allows the stops of the prompt at which it was announced, and counts nothing', () => {
    const { state, command } = afterStop(waiting())
    expect({ state, command }).toMatchObject({ command: 'wait', state: { phaseAttempts: 0, wait: { promptId: 'p1' } } })
    expect(afterStop(state)).toMatchObject({ command: 'wait', state })
  })

  it('goes on at the next prompt: the agent has come back', () => {
    const { state } = afterStop(waiting())
    expect(afterStop(state, ANOTHER).state).toMatchObject({ phaseAttempts: 1, wait: undefined, waits: 1 })
  })

  it('waits for one stop on a host without ids of prompts', () => {
    const { state } = afterStop(waiting(), { promptId: undefined })
    expect(afterStop(state, { promptId: undefined }).command).toBe('wait')
    expect(afterStop(state, { promptId: undefined, startMs: NOW + 1 }).state.phaseAttempts).toBe(1)
  })

  it('waits no longer once it is resumed', () => {
    const resumed = resumeState(waiting(), { ...NO_SESSIONS, hostSession: 'another' }, seeing())
    expect(afterStop(promptAgain(resumed)).command).toBe('prompt')
  })

  it('begins at the prompt of the command that announced it, and ends if a sub-agent announced it', () => {
    expect(afterWaitEvent(waiting(), ANNOUNCES, NOW)).toMatchObject({ wait: { promptId: 'p1' }, waits: 0 })
    const ofSubAgent = afterWaitEvent(waiting(), { ...ANNOUNCES, isMain: false }, NOW)
    expect(ofSubAgent).toMatchObject({ wait: undefined, waits: 0 })
  })

  it('stays as it is after any other command, and is not begun if the state has none', () => {
    for (const state of [waiting(), asked()]) {
      expect(afterWaitEvent(state, { ...ANNOUNCES, kind: 'command' }, NOW)).toBe(state)
    }
    const none = asked()
    expect(afterWaitEvent(none, ANNOUNCES, NOW)).toBe(none)
  })

  it('ends after a command of a later prompt', () => {
    const stamped = afterWaitEvent(waiting(), ANNOUNCES, NOW)
    expect(afterWaitEvent(stamped, ANNOUNCES, NOW)).toBe(stamped)
    expect(afterWaitEvent(stamped, { ...ANNOUNCES, prompt: 'p2' }, NOW)).toMatchObject({ wait: undefined, waits: 1 })
  })

  it('does not wait at the stop of a sub-agent', () => {
    expect(afterStop(waiting(), { isMain: false, isNext: false }).state.wait).toEqual({ for: 'an answer', count: 1 })
  })
})
