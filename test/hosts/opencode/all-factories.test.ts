/** All hook factories together with the guard and a workflow: the order of their texts, as docs/opencode-hooks.md lists it. */

import { describe, expect, it } from 'vitest'
import { answerOf, commandsIn, whenHeld } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Script } from '../model.ts'
import { bash, call, read, reasonsIn, say } from './agents.ts'
import { projectWithFlow, promptOf, runWorkflow, worker } from './flow.ts'
import type { GuardedProject } from './guarded.ts'

const ANALYSIS = 'ANALYSIS'
const FAILURE = 'Error: unknown category "x". Available categories: quick. SyntaxError: Unexpected token } in JSON'

const OPTIONS = {
  phaseReminder: { text: 'REMINDER' },
  reactive: ['read', 'delegate_task', 'task'].map((tool) => ({ tool, prompt: 'ACTOR:analyst Look at this.' })),
  jsonErrorRecovery: true,
  delegateTaskRetry: true,
  postReadNudge: { every: 1, text: 'NUDGE' },
  chatHeaders: true,
  foregroundFallback: { chains: { build: ['scripted/scripted-2'] } },
}

function project(): GuardedProject {
  const guarded = projectWithFlow({ options: OPTIONS })
  guarded.project.write('a.txt', 'one\n')
  guarded.addPlugin(
    'delegating.js',
    `return { tool: { delegate_task: { description: 'delegates', args: {}, execute: async () => '${FAILURE}' } } }`,
  )
  return guarded
}

/** The conversation does everything that a factory acts on, makes a marker, and stops; then it follows the reason. */
function everything(): Script {
  const phases = worker([])
  const main = whenHeld(
    reasonsIn,
    [
      bash('postflight workflow start 7 flow --definition flow.yaml'),
      read('a.txt'),
      call('delegate_task', {}),
      call('task', { description: 'd', prompt: 'p', subagent_type: 'nobody' }),
      bash('postflight create 259 x --operation research'),
      say('I stop.'),
      runWorkflow('7'),
      say('All is done.'),
    ],
    (reason) => [bash(commandsIn(reason).join(' && ')), say('I stop again.')],
  )
  return (turn) => {
    if (promptOf(turn) !== undefined) return answerOf(phases, turn)
    if (turn.request.model === 'scripted-1' && turn.headers['x-parent-session-id'] === undefined) {
      return { failure: { status: 429, headers: { 'retry-after': '20' } } }
    }
    return answerOf(main, turn)
  }
}

describe.skipIf(hostsSkipped())('all factories with the guard and a workflow', () => {
  it('act in the order of the documentation, and the workflow completes', async () => {
    const guarded = project()
    const { server, model } = await guarded.begin({ main: everything(), analyst: () => say(ANALYSIS) })
    await expect.poll(() => guarded.state().outcome, { timeout: 90_000 }).toBe('completed')
    await server.settled()
    expect(model.errors).toEqual([])
    const turns = model.turns('main').filter((turn) => promptOf(turn) === undefined)
    const [, read, delegated, failed] = turns.at(-1)?.toolResults ?? []
    expect(read).toMatch(/one[\s\S]*\n\n\[postflight-guard\] A sub-agent analysed [\s\S]*ANALYSIS\n\nNUDGE$/)
    expect(delegated).toMatch(
      /^Error: unknown category[\s\S]*ANALYSIS\n\n\[postflight-guard\] If this error is about the arguments [\s\S]*\n\n\[postflight-guard\] Unknown category "x"\.[^\n]*$/,
    )
    expect(failed).toMatch(
      /^Unknown agent type: nobody [\s\S]*ANALYSIS\n\n\[postflight-guard\] Unknown agent "nobody"\.[^\n]*$/,
    )
    const reminded = turns.filter((turn) => turn.userTexts.some((text) => text.endsWith('REMINDER')))
    for (const { userTexts } of reminded) {
      expect(userTexts.findIndex((text) => text.endsWith('REMINDER'))).toBe(userTexts.length - 2)
      expect(userTexts.at(-1)).toBe('go')
    }
    // After `read`, `delegate_task`, `task` and `create`, and at the stop.
    expect(reminded.length).toBeGreaterThanOrEqual(5)
    expect(guarded.story().filter((line) => /create|block|clear/.test(line))).toEqual(['create', 'block 1', 'clear'])
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed' })
    expect(turns.map(({ request }) => request.model).filter((name) => name === 'scripted-1')).toHaveLength(1)
    expect(guarded.log()).not.toContain('internal error')
  })
})
