/** A workflow on the real client: from `workflow start` to its end without a human turn, also after a client was killed. */

import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { answerOf } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { FOUR_PHASES, IN_TASK, leave, placeOf, TASK, WORK } from '../four-phases.ts'
import type { Turn } from '../model.ts'
import { bash, NEVER, promptsIn, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'
import { follower, START, worker } from './workflow-agents.ts'

function projectWithFlow(): GuardedProject {
  const guarded = guardedProject()
  guarded.project.write('flow.yaml', FOUR_PHASES)
  return guarded
}

describe.skipIf(hostsSkipped())('a workflow on Claude Code', () => {
  it('runs to its end without a human turn, and each of its eleven prompts is in the model’s context once, beside a reason of one line', async () => {
    const guarded = projectWithFlow()
    const work: Readonly<Record<string, string>> = {
      'analyse 1': 'true',
      'analyse 2': WORK['analyse 1'] ?? '',
      'plan 1': leave('plan.json', '{"steps": []}'),
      'plan 2': WORK['plan 1'] ?? '',
      ...Object.fromEntries(Object.entries(WORK).slice(2)),
    }

    const { ran, model } = await guarded.run({
      main: follower([START, say('Started.')], (reason) => [bash(work[placeOf(reason) ?? ''] ?? ''), say('Done.')]),
    })

    const last = model.turns('main').at(-1)
    const prompts = promptsIn(last)
    expect(prompts.map(placeOf)).toEqual(Object.keys(work))
    expect(prompts).toHaveLength(11)
    for (const reason of reasonsIn(last))
      expect(reason).toMatch(
        /^Workflow .* The prompt follows\. \(A person ends the run with: postflight workflow stop 007_flow --now\)$/,
      )
    const context = JSON.stringify(last?.request.messages)
    for (const prompt of prompts) {
      // The first line is also the reason's. All of the rest is there once.
      const rest = JSON.stringify(prompt.slice(prompt.indexOf('\n'))).slice(1, -1)
      const isRepeated = prompts.filter((other) => other.endsWith(prompt.slice(prompt.indexOf('\n')))).length
      expect(context.split(rest)).toHaveLength(isRepeated + 1)
    }
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', prompts: 11 })
    expect(guarded.read(`${IN_TASK}/step-results/execute/2-1.json`)).toContain('no luck')
    const archive = ['1-1', '2-1', '2-2', '3-1', '3-2', '3-3'].map((name) => `${name}.json`)
    expect(guarded.files(`${TASK}/step-results/execute`)).toEqual(archive)
    expect(ran.notices).toEqual([expect.stringMatching(/task 007_flow has ended \(completed\)/)])
    expect(guarded.marker(TASK)).toBeUndefined()
  })

  it('continues if a skill inside each phase makes its own marker and removes it, by the CLI or by plain rm', async () => {
    const guarded = projectWithFlow()
    const removals = ['postflight clear 7', `rm -f ${IN_TASK}/.postflight-pending ${IN_TASK}/.postflight-loop-guard`]
    let phases = 0
    await guarded.run({
      main: follower([START, say('Started.')], (reason) => {
        phases += 1
        const work = WORK[placeOf(reason) ?? '']
        return [bash(`postflight create 7 --agent main && ${work} && ${removals[phases % 2]}`), say('Done.')]
      }),
    })
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', prompts: Object.keys(WORK).length })
    expect(guarded.marker(TASK)).toBeUndefined()
  })

  it('sends no prompt twice if the hook is wired twice', async () => {
    const guarded = projectWithFlow()
    guarded.addHook('Stop', `"${process.execPath}" "${guarded.packageFolder}/dist/hook.js"`)
    await guarded.run({ main: worker(START, say('Started.')) })
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', prompts: Object.keys(WORK).length })
    expect(guarded.files(`${TASK}/step-results/execute`)).toHaveLength(6)
    // Both hooks ran and requested a turn.
    expect(guarded.journal().map(({ detail }) => detail)).toContain('prompt again: analyse, attempt 1')
  })

  it('of an agent that only talks is decided by the attempts, if the host lets more than eight blocks through', async () => {
    const guarded = guardedProject()
    const phase = { id: 'only', prompt: 'p', artifact: 'a.txt', max_attempts: 10 }
    guarded.project.write('flow.yaml', JSON.stringify({ name: 'talk', phases: [phase] }))
    const { model } = await guarded.run(
      { main: ({ index }) => (index === 0 ? START : say('Done.')) },
      { env: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '50' } },
    )
    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(10)
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'stalled' })
  })

  it('continues in a new session where a stopped and killed client left it, and involves no other session', async () => {
    const guarded = projectWithFlow()
    // The client is killed in the middle of a step: the prompt went out, and no result was left.
    const before = worker(START, say('Started.'))
    const hangs = (turn: Turn): boolean => placeOf(reasonsIn(turn).at(-1) ?? '') === 'execute step 2 1'
    const { client, model: first } = await guarded.start({
      main: (turn) => (hangs(turn) ? NEVER : answerOf(before, turn)),
    })
    await vi.waitUntil(() => first.turns('main').some(hangs), 20_000)
    expect(guarded.postflight('workflow', 'stop', '7').status).toBe(0)
    client.kill()
    await client.done
    const stopped = { active: true, phase: 'execute', current_step: 1, step_attempts: 0 }
    expect(guarded.state()).toMatchObject({ ...stopped, stop_requested: expect.any(String) })
    expect((await guarded.run({ main: [say('Only passing.')] })).model.turns('main')).toHaveLength(1)
    const { model } = await guarded.run({ main: worker(bash('postflight workflow resume 7'), say('Resumed.')) })
    expect(reasonsIn(model.turns('main').at(-1)).map(placeOf)).toEqual(Object.keys(WORK).slice(3))
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed' })
  })
})

const ORCHESTRATOR = readFileSync(new URL('../../../examples/orchestrator-agent.md', import.meta.url), 'utf8')

/** Two phases and a verdict. The prompt contains the word by which the model recognizes the sub-agent. */
const LOOP = JSON.stringify({
  name: 'loop',
  phases: [
    { id: 'generate', prompt: 'ACTOR:worker write it', artifact: 'made.txt' },
    {
      id: 'validate',
      prompt: 'ACTOR:worker check it',
      artifact: 'verdict.json',
      next: { pass: 'end', fail: 'generate', verdict: '/passed' },
      max_visits: 2,
    },
  ],
})

describe.skipIf(hostsSkipped())('a workflow without hooks on Claude Code', () => {
  it('is run to its end by the orchestrating agent of the examples, followed word for word', async () => {
    const guarded = guardedProject({ install: false })
    guarded.project.write('.claude/agents/workflow-orchestrator.md', ORCHESTRATOR)
    guarded.project.write('flow.json', LOOP)
    guarded.project.write(`${IN_TASK}/notes.txt`, 'x')
    const NEXT = bash('postflight workflow next 7 --json')
    let checked = 0

    const { model } = await guarded.run(
      {
        // The instructions in the agent's own text.
        main: ({ index, lastToolResult = '' }) => {
          if (index === 0) return bash('postflight workflow start 7 --definition flow.json')
          if (index === 1 || !lastToolResult.includes('"command"')) return NEXT
          const { command, outcome, prompt } = JSON.parse(lastToolResult)
          if (command !== 'prompt') return say(`${command}: ${outcome}`)
          const input = { description: 'a phase', subagent_type: 'general-purpose', prompt, run_in_background: false }
          return { tools: [{ name: 'Agent', input }] }
        },
        worker: ({ userTexts, toolResults }) => {
          if (toolResults.length > 0) return say('Done.')
          if (userTexts.join().includes('write it')) return bash(leave('made.txt', 'x'))
          checked += 1
          return bash(leave('verdict.json', JSON.stringify({ passed: checked === 2 })))
        },
      },
      { args: ['--agent', 'workflow-orchestrator'] },
    )

    const turns = model.turns('main')
    expect(turns[0]?.systemText).toContain('You do none of its work yourself')
    expect(turns[0]?.request.tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(['Agent', 'Bash']))
    expect(turns[0]?.request.tools?.map(({ name }) => name)).not.toContain('Write')
    expect(guarded.state()).toMatchObject({ active: false, outcome: 'completed', prompts: 4 })
    expect(checked).toBe(2)
  })
})
