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

const rule = (permission: string, action = 'deny') => ({ permission, pattern: '*', action })
const KEPT = [rule('bash'), rule('external_directory', 'allow')]

/** A runner whose prompts are answered at once, the session and agent of each prompt, and the sessions. */
function runner() {
  const prompted: string[] = []
  const created: object[] = []
  const client = {
    session: {
      get: async () => ({ data: { id: 'ses_main', permission: [...KEPT, rule('edit', 'allow')] } }),
      create: async ({ body }: { body: object }) => ({ data: { id: `ses_${created.push(body)}` } }),
    },
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
  const { signal } = new AbortController()
  const caller = { session: 'ses_main', manner: { agent: 'build' }, signal, unwanted: signal }
  return { phases: createPhases(ports, caller), prompted, created }
}

/** The state in which the prompt of the next step is out, after the last one was done. */
function withNextOut(state: WorkflowState): WorkflowState {
  for (let next = state; ; ) {
    const result = isPrompted(next) && next === state ? DONE : ({ kind: 'absent' } as const)
    const results = withBatch(next, currentPhase(next)).inWork.map(() => result)
    const taken = advance(next, seeing({ stepResults: results }))
    next = taken.state
    if (taken.command !== 'observe') return next
  }
}

it('the session is the same for all steps of a phase, but another one for a step that names its own agent; it may not do what the conversation may not', async () => {
  const { phases, prompted, created } = runner()
  const steps = ['one', { name: 'two', agent: 'reviewer' }, 'three', { name: 'four', agent: 'tester' }]
  let state = begin({ id: 'work', steps })
  for (const _ of steps) {
    state = withNextOut(state)
    await phases.give(duePrompt(state, { task: '007_flow', folder: FOLDER.path }), state, async () => {})
  }
  expect(prompted).toEqual(['ses_1 build', 'ses_2 reviewer', 'ses_1 build', 'ses_3 tester'])
  expect(created[0]).toMatchObject({ permission: [...KEPT, rule('question'), rule('workflow_run')] })
})
