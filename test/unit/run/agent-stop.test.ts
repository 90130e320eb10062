import { describe, expect, it } from 'vitest'
import {
  type AgentStop,
  afterSessionStart,
  afterWaitEvent,
  judgeAgentStop,
} from '../../../src/run/machine/agent-stop.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import type { Observation } from '../../../src/run/machine/observation.ts'
import { currentWork } from '../../../src/run/machine/position.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { abortState, promptAgain, requestStop, resumeState } from '../../../src/run/machine/steering.ts'
import { begin, MADE, NO_SESSIONS, NOW, played, seeing } from './builders.ts'

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

const later = (promptId: string) => ({ promptId, followsBlock: false })
const ANOTHER = later('p2')

/** The state and the command after a stop at which the agent has left nothing, or what `seen` says. */
function afterStop(state: WorkflowState, more: Partial<AgentStop> = {}, seen: Partial<Observation> = {}) {
  const judged = judgeAgentStop(state, stop(more), NOW)
  const look = seeing({ ...judged.circumstances, ...seen })
  let { state: next, command } = advance(judged.state, look)
  while (command === 'observe') ({ state: next, command } = advance(next, look))
  const attempts = next.phaseAttempts + currentWork(next).attempts
  return { state: next, command, hears: judged.hears, attempts }
}

describe('a prompt that the host threw away or the person interrupted', () => {
  it.each([
    ['a phase', PHASE],
    ['a step', WORK],
  ])('is heard, then goes out again as the same attempt, three times in a visit: %s', (_what, phase) => {
    let state = asked(phase)
    for (let count = 1; count <= 3; count++) {
      const heard = afterStop(state, later(`q${count}`))
      expect(heard).toMatchObject({ command: 'wait', hears: true, attempts: 0 })
      expect(heard.state).toMatchObject({ interruptions: count - 1, heardPromptId: `q${count}` })
      const again = afterStop(heard.state, later(`r${count}`))
      expect(again).toMatchObject({ command: 'prompt', hears: false, attempts: 0 })
      expect(again.state).toMatchObject({ interruptions: count, promptId: `r${count}`, stage: 'prompted' })
      expect(again.state.heardPromptId).toBeUndefined()
      state = again.state
    }
    const last = afterStop(state, later('q4'))
    expect(last).toMatchObject({ command: 'wait', hears: true })
    expect(afterStop(last.state, later('r4')).attempts).toBe(1)
  })

  it('allows every stop of the person’s message, also after a block by something else', () => {
    const first = afterStop(asked(), ANOTHER)
    const again = afterStop(first.state, { ...ANOTHER, followsBlock: true })
    expect(again).toMatchObject({ command: 'wait', hears: true, state: first.state })
  })

  it('is heard if a marker blocks the first stop of the person’s message', () => {
    const blocked = afterStop(asked(), { ...ANOTHER, isNext: false, isBlocked: true })
    expect(blocked).toMatchObject({ command: 'wait', hears: false, state: { heardPromptId: 'p2' } })
    expect(afterStop(blocked.state, { promptId: 'p2' })).toMatchObject({ command: 'wait', hears: true })
  })

  it('continues at once if the person’s message left its result', () => {
    expect(afterStop(asked(), ANOTHER, MADE)).toMatchObject({ hears: true, state: { outcome: 'completed' } })
  })

  it('goes out again at once after the session has started again: a restart must not let the run rest', () => {
    const restarted = afterSessionStart({ ...asked(), phaseAttempts: 1 })
    expect(restarted).toMatchObject({ heardPromptId: 'p1', phaseAttempts: 1 })
    expect(afterSessionStart(restarted)).toBe(restarted)
    const { state, command, hears } = afterStop(restarted, ANOTHER)
    expect([command, hears]).toEqual(['prompt', false])
    expect(state).toMatchObject({ interruptions: 1, phaseAttempts: 1, promptId: 'p2' })
    expect(afterStop(restarted).state.phaseAttempts).toBe(2)
  })

  it('is still in work after the session has started again: a requested stop waits for it', () => {
    const stopping = requestStop(afterSessionStart(asked()), NOW)
    expect(advance(stopping, seeing({ returned: false, mayPrompt: false })).command).toBe('wait')
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
    ['beside a shell that ran before, such as a server', {}],
    ['in the same chain', { followsBlock: false }],
    ['after a block', { promptId: 'p2' }],
    ['on a host that does not say', { promptId: 'p2', followsBlock: undefined }],
    ['on a host without ids of prompts', { promptId: undefined, followsBlock: false }],
    ['after a prompt without an id', ANOTHER, { promptId: undefined }],
  ])('is not one that came back: %s it counts as an attempt', (_why, more, changed = {}) => {
    expect(afterStop({ ...asked(), ...changed }, more).state).toMatchObject({ phaseAttempts: 1, interruptions: 0 })
  })

  it.each<[string, Partial<AgentStop>, number, number]>([
    ['and came back', {}, 1, 0],
    ['and came back in the same chain', { followsBlock: false }, 1, 0],
    ['and was interrupted: it goes out again at once', ANOTHER, 0, 1],
  ])('to an agent whose sub-agent works in the background %s', (_why, more, phaseAttempts, interruptions) => {
    const { state, command } = afterStop(asked(), { ...more, isNext: false })
    expect([command, state]).toMatchObject(['wait', { stage: 'came-back', phaseAttempts: 0 }])
    const last = afterStop(state, later('p3'))
    expect(last).toMatchObject({ command: 'prompt', hears: false, state: { phaseAttempts, interruptions } })
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

  it('counts as an attempt at the next stop, if its result is invalid', () => {
    const artifact = { kind: 'invalid', why: 'empty' } as const
    const heard = afterStop(asked(), ANOTHER, { artifact })
    expect(heard.command).toBe('wait')
    expect(afterStop(heard.state, later('p3'), { artifact }).state.phaseAttempts).toBe(1)
  })

  it.each([
    ['from before it, which it was to correct, is not its result', NOW - 1, 0],
    ['from the same millisecond is', NOW, 1],
    ['from after it is', NOW + 1, 1],
  ])('something invalid %s', (_what, changedMs, attempts) => {
    const restarted = afterSessionStart({ ...asked(), promptedMs: NOW })
    const { state } = afterStop(restarted, ANOTHER, { artifact: { kind: 'invalid', why: 'empty', changedMs } })
    expect(state).toMatchObject({ phaseAttempts: attempts, interruptions: 1 - attempts })
  })
})

const LOOKS_ONLY = { returned: false, takes: 'passing', mayPrompt: false }
const GOES_ON = { mayPrompt: true, promptId: 'p1', shells: ['server'] }

describe('a stop', () => {
  it('of a sub-agent, or after the run has ended, changes nothing and may only find that work passes', () => {
    const ended = abortState(asked(), NOW)
    const stops = [judgeAgentStop(asked(), stop({ isMain: false }), NOW), judgeAgentStop(ended, stop(), NOW)]
    const nothing = { circumstances: LOOKS_ONLY, asks: false, hears: false }
    expect(stops).toEqual([asked(), ended].map((state) => ({ state, ...nothing })))
    expect(stops[1]?.state).toBe(ended)
  })

  it('is noted once for each prompt', () => {
    const first = judgeAgentStop(asked(), stop(), NOW)
    const circumstances = { ...GOES_ON, returned: true, interrupted: false }
    expect(first).toEqual({ state: { ...asked(), stage: 'came-back' }, circumstances, asks: false, hears: false })
    expect(judgeAgentStop(first.state, stop(), NOW).state).toBe(first.state)
    for (const [state, promptId] of [
      [begin(PHASE), 'p1'],
      [asked(), undefined],
    ] as const)
      expect(judgeAgentStop(state, stop({ promptId }), NOW).state).toBe(state)
  })

  it.each<[string, WorkflowState, boolean, boolean]>([
    ['is interrupted if it is out and its client was lost', asked(), true, true],
    ['is not interrupted if its agent has stopped', { ...asked(), stage: 'came-back' }, true, false],
    ['is not interrupted if its client is there', asked(), false, false],
  ])(
    'after which the prompt %s, and only then the time without a client is left out',
    (_what, state, isLost, interrupted) => {
      const judged = judgeAgentStop(state, stop({ isLost }), NOW + 5000)
      expect(judged.circumstances).toMatchObject({ interrupted })
      expect(judged.state).toMatchObject({ clockSinceMs: interrupted ? NOW + 5000 : NOW })
      expect(judged.state.durations).toEqual(interrupted ? { a: 0 } : {})
    },
  )

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

  it('takes results that pass', () => {
    expect(afterStop(asked(), { shells: ['build'] }, MADE).state.outcome).toBe('completed')
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

  it('continues at the next prompt: the agent has come back', () => {
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
    expect(afterWaitEvent(waiting(), { ...ANNOUNCES, isMain: false }, NOW)).toMatchObject({ wait: undefined, waits: 0 })
  })

  it('stays as it is after any other command, and is not begun if the state has none', () => {
    const [held, none] = [waiting(), asked()]
    for (const state of [held, none]) expect(afterWaitEvent(state, { ...ANNOUNCES, kind: 'command' }, NOW)).toBe(state)
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
