/** Which session of OpenCode gets a prompt of a run, and with which agent. */

import { expect, it } from 'vitest'
import type { HostClient } from '../../../src/hosts/opencode/api.ts'
import { createPhases, type PhasePorts } from '../../../src/opencode/workflow/phase-runner.ts'
import { advance } from '../../../src/run/machine/machine.ts'
import { currentPhase, withBatch } from '../../../src/run/machine/position.ts'
import { duePrompt } from '../../../src/run/machine/prompt.ts'
import { isPrompted, type WorkflowState } from '../../../src/run/machine/state.ts'
import { begin, DONE, seeing } from '../run/builders.ts'

const FOLDER = { root: '/p', path: '/p/specs/007_flow', task: '007_flow', relative: 'specs/007_flow' }

/** A runner whose prompts are answered at once, and the session and agent of each prompt. */
function runner() {
  const prompted: string[] = []
  let created = 0
  const client = {
    session: { create: async () => ({ data: { id: `ses_${++created}` } }) },
    app: { agents: async () => ({ data: ['build', 'reviewer', 'tester'].map((name) => ({ name })) }) },
  } as unknown as HostClient
  const ports = {
    client,
    sessions: {
      identify: async (session: string) => ({ session, root: 'ses_main', agent: session }),
      of: () => ({}),
      prompt: async (session: string, _text: string, { agent }: { agent: string }) => {
        prompted.push(`${session} ${agent}`)
        return { kind: 'answered', text: 'Done.' }
      },
    },
    subAgents: { hold: async (_agent: unknown, text: string) => ({ text, notices: [] }) },
  } as unknown as PhasePorts
  const manner = { agent: 'build' }
  const { signal } = new AbortController()
  const caller = { session: 'ses_main', manner, signal, unwanted: signal }
  return { phases: createPhases(ports, caller), prompted }
}

/** The state in which the prompt of the next step is out, after the last one was done. */
function withNextOut(state: WorkflowState): WorkflowState {
  for (let next = state; ; ) {
    const isDone = isPrompted(next) && next === state
    const result = isDone ? DONE : ({ kind: 'absent' } as const)
    const results = withBatch(next, currentPhase(next)).inWork.map(() => result)
    const taken = advance(next, seeing({ stepResults: results }))
    next = taken.state
    if (taken.command !== 'observe') return next
  }
}

it('the session is the same for all steps of a phase, but another one for a step that names its own agent', async () => {
  const { phases, prompted } = runner()
  const steps = ['one', { name: 'two', agent: 'reviewer' }, 'three', { name: 'four', agent: 'tester' }]
  let state = begin({ id: 'work', steps })
  for (const _ of steps) {
    state = withNextOut(state)
    await phases.give(duePrompt(state, { task: '007_flow', folder: FOLDER.path }), state, async () => {})
  }
  expect(prompted).toEqual(['ses_1 build', 'ses_2 reviewer', 'ses_1 build', 'ses_3 tester'])
})
