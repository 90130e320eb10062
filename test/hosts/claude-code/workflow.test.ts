/** A workflow on the real client: from `workflow start` to its end without a human turn, also after a client was killed. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { FOUR_PHASES, IN_TASK, leave, placeOf, TASK, WORK } from '../four-phases.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, promptsIn, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'
import { attemptsIn, follower, START, stateOf, worker } from './workflow-agents.ts'

function projectWithFlow(): GuardedProject {
  const guarded = guardedProject()
  guarded.project.write('flow.yaml', FOUR_PHASES)
  return guarded
}

describe.skipIf(hostsSkipped())('a workflow on Claude Code', () => {
  it('runs from its start to completed without a human turn; one step is retried, one skipped, each attempt is archived', async () => {
    const guarded = projectWithFlow()

    const { ran, model } = await guarded.run({ main: worker(START, say('Started.')) })

    expect(reasonsIn(model.turns('main').at(-1)).map(placeOf)).toEqual(Object.keys(WORK))
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed' })
    expect(guarded.read(`${IN_TASK}/step-results/execute/2-1.json`)).toContain('no luck')
    expect(guarded.files(`${TASK}/step-results/execute`)).toEqual([
      '1-1.json',
      '2-1.json',
      '2-2.json',
      '3-1.json',
      '3-2.json',
      '3-3.json',
    ])
    expect(ran.notices).toEqual([expect.stringMatching(/task 007_flow has ended \(completed\)/)])
    expect(guarded.marker(TASK)).toBeUndefined()
  })

  it('brings each of eleven prompts into the model’s context once, beside a reason of one line', async () => {
    const guarded = projectWithFlow()
    const work: Readonly<Record<string, string>> = {
      'analyse 1': 'true',
      'analyse 2': WORK['analyse 1'] ?? '',
      'plan 1': leave('plan.json', '{"steps": []}'),
      'plan 2': WORK['plan 1'] ?? '',
      ...Object.fromEntries(Object.entries(WORK).slice(2)),
    }

    const { model } = await guarded.run({
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
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed', prompts: 11 })
  })

  it('does not let the agent pass over unfinished phases or an approval with resume --from in its own shell', async () => {
    const guarded = guardedProject()
    const phases = ['a', 'b', 'c'].map((id) => ({ id, prompt: `Do ${id}.`, artifact: `${id}.md`, approve: id === 'a' }))
    guarded.project.write('flow.yaml', JSON.stringify({ name: 'flow', phases }))

    const { model } = await guarded.run({
      main: follower([START, say('Started.')], () => [
        bash('postflight workflow resume 7 --from c; echo "exit $?"'),
        bash(leave('a.md', 'x')),
        bash('postflight workflow resume 7 --from b; echo "exit $?"'),
        say('Done.'),
      ]),
    })

    const context = JSON.stringify(model.turns('main').at(-1)?.request.messages)
    expect(context).toContain('has not reached phase \\"c\\" yet')
    expect(context).toContain('has not reached phase \\"b\\" yet')
    expect(stateOf(guarded)).toMatchObject({ active: true, phase: 'a', approval: { standing: 'asked' }, skips: 0 })
  })

  it.each([
    ['the CLI', 'postflight clear 7'],
    ['plain rm', `rm -f ${IN_TASK}/.postflight-pending ${IN_TASK}/.postflight-loop-guard`],
  ])('goes on where a skill inside each phase makes its own marker and removes it by %s', async (_how, remove) => {
    const guarded = projectWithFlow()
    const left: Reply[] = [START, say('Started.')]
    let seen = 0
    const main: Script = (turn: Turn) => {
      const reasons = reasonsIn(turn)
      const work = WORK[placeOf(reasons.at(-1) ?? '') ?? '']
      if (reasons.length > seen && work !== undefined) {
        left.push(bash(`postflight create 7 --agent main && ${work} && ${remove}`), say('Done.'))
      }
      seen = reasons.length
      return left.shift()
    }

    await guarded.run({ main })

    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed', prompts: Object.keys(WORK).length })
    expect(guarded.marker(TASK)).toBeUndefined()
  })

  it('sends no prompt twice if the hook is wired twice', async () => {
    const guarded = projectWithFlow()
    guarded.addHook('Stop', `"${process.execPath}" "${guarded.packageFolder}/dist/hook.js"`)

    await guarded.run({ main: worker(START, say('Started.')) })

    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed', prompts: Object.keys(WORK).length })
    expect(guarded.files(`${TASK}/step-results/execute`)).toHaveLength(6)
    // Both hooks ran and requested a turn.
    expect(guarded.journal().map(({ detail }) => detail)).toContain('prompt again: analyse, attempt 1')
  })

  it.each<[Record<string, string>, number, string]>([
    [{}, 8, 'the host ends the turn after eight blocks, and the run waits for the next stop'],
    [{ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '50' }, 10, 'with a higher limit of the host, the attempts decide'],
  ])('of an agent that only talks: %j, %i prompts, %s', async (env, prompts, _what) => {
    const guarded = guardedProject()
    const phase = { id: 'only', prompt: 'p', artifact: 'a.txt', max_attempts: 10 }
    guarded.project.write('flow.yaml', JSON.stringify({ name: 'talk', phases: [phase] }))

    const { model } = await guarded.run({ main: ({ index }) => (index === 0 ? START : say('Done.')) }, { env })

    expect(reasonsIn(model.turns('main').at(-1))).toHaveLength(prompts)
    const isOver = prompts === 10
    expect(stateOf(guarded)).toMatchObject({ active: !isOver, outcome: isOver ? 'stalled' : null })
  })

  it('that stalls is reported to the user while another run of the session sends a prompt', async () => {
    const guarded = guardedProject()
    const phase = { id: 'only', prompt: 'p', artifact: 'a.txt', max_attempts: 1 }
    guarded.project.write('flow.yaml', JSON.stringify({ name: 'talk', phases: [phase] }))
    const starts = ['7', '8'].map((task) => `postflight workflow start ${task} flow --definition flow.yaml`)

    const { ran, model } = await guarded.run({
      main: ({ index }) => (index === 0 ? bash(starts.join(' && ')) : say('Done.')),
    })

    const reasons = reasonsIn(model.turns('main').at(-1))
    expect(reasons.map((reason) => /task (\d+)_flow/.exec(reason)?.[1])).toEqual(['007', '008'])
    expect(ran.notices).toEqual([
      expect.stringMatching(/task 007_flow has ended \(stalled\)/),
      expect.stringMatching(/task 008_flow has ended \(stalled\)/),
    ])
  })

  it('does the reason for a failed review as a step, when the loop leads back to a list whose tasks are all ticked', async () => {
    const guarded = guardedProject()
    const next = { pass: 'end', fail: 'work', verdict: '/ok', reason: '/why' }
    const phases = [
      { id: 'work', steps: { from: 'tasks.md', checklist: true } },
      { id: 'review', prompt: 'Review it.', artifact: 'review.json', next },
    ]
    guarded.project.write('flow.yaml', JSON.stringify({ name: 'flow', phases }))
    guarded.project.write(`${IN_TASK}/tasks.md`, '- [ ] one\n')
    const verdicts = ['{"ok": false, "why": "the button is red"}', '{"ok": true}']

    const { model } = await guarded.run({
      main: follower([START, say('Started.')], (reason) => {
        const work = reason.includes('"review"')
          ? leave('review.json', verdicts.shift() ?? '')
          : leave('step-result.json', '{"success": true}')
        return [bash(work), say('Done.')]
      }),
    })

    const last = model.turns('main').at(-1)
    expect(attemptsIn(last)).toEqual(['work 1 1', 'review 1', 'work 1 1', 'review 1'])
    expect(promptsIn(last)[2]).toContain('Do this step of the work: the button is red')
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed', prompts: 4 })
  })

  it('continues in a new session where a stopped and killed client left it, and involves no other session', async () => {
    const guarded = projectWithFlow()
    // The client is killed in the middle of a step: the prompt went out, and no result was left.
    let asked = (): void => {}
    const inStep = new Promise<void>((resolve) => {
      asked = resolve
    })
    const before = worker(START, say('Started.'))
    const { client } = await guarded.start({
      main: async (turn) => {
        const reason = reasonsIn(turn).at(-1)
        if (reason === undefined || placeOf(reason) !== 'execute step 2 1') {
          return typeof before === 'function' ? before(turn) : undefined
        }
        asked()
        return new Promise<Reply>(() => {})
      },
    })
    await inStep
    expect(guarded.postflight('workflow', 'stop', '7').status).toBe(0)
    client.kill()
    await client.done
    expect(stateOf(guarded)).toMatchObject({
      active: true,
      phase: 'execute',
      current_step: 1,
      step_attempts: 0,
      stop_requested: expect.any(String),
    })

    const stranger = await guarded.run({ main: [say('Only passing.')] })
    expect(stranger.model.turns('main')).toHaveLength(1)

    const { model } = await guarded.run({ main: worker(bash('postflight workflow resume 7'), say('Resumed.')) })

    expect(reasonsIn(model.turns('main').at(-1)).map(placeOf)).toEqual(Object.keys(WORK).slice(3))
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed' })
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
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed', prompts: 4 })
    expect(checked).toBe(2)
  })

  it('runs generator, validator and debugger, each prompt once in the model’s context', async () => {
    const guarded = guardedProject({ install: false })
    const flow = JSON.parse(
      readFileSync(new URL('../../../examples/generate-validate-debug.json', import.meta.url), 'utf8'),
    )
    // The word by which the model recognizes the sub-agent.
    for (const phase of flow.phases) {
      phase.prompt = `ACTOR:${phase.agent} ${phase.prompt}`
      guarded.project.writeAgent(phase.agent, { description: `The ${phase.agent}` }, 'Do what you are told.')
    }
    guarded.project.write('flow.json', JSON.stringify(flow))
    guarded.project.write(`${IN_TASK}/notes.txt`, 'x')
    const start = bash('postflight workflow start 7 --definition flow.json')
    let checked = 0
    const byTurn =
      (...commands: readonly (() => string)[]): Script =>
      ({ toolResults }) =>
        toolResults.length > 0 ? say('Done.') : bash(commands.map((command) => command()).join('; '))

    const { model } = await guarded.run({
      main: ({ index, lastToolResult = '' }) => {
        if (index === 0) return start
        if (!lastToolResult.includes('"command"')) return bash('postflight workflow next 7 --json')
        const { command, outcome, agent, prompt } = JSON.parse(lastToolResult)
        if (command !== 'prompt') return say(`${command}: ${outcome}`)
        const input = { description: 'a phase', subagent_type: agent, prompt, run_in_background: false }
        return { tools: [{ name: 'Agent', input }] }
      },
      generator: byTurn(() => leave('generated.json', '["made.txt"]')),
      validator: byTurn(() => {
        checked += 1
        return leave('validation.json', JSON.stringify(checked === 1 ? FAILS : PASSES))
      }),
      debugger: byTurn(() => leave('fixes.json', '["made.txt"]')),
    })

    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed', prompts: 4 })
    const results = model.turns('main').at(-1)?.toolResults ?? []
    const answers = results.filter((result) => result.includes('"command": "prompt"'))
    const prompts = answers.map((answer) => String(JSON.parse(answer).prompt))
    expect(prompts.map((prompt) => /ACTOR:(\w+)/.exec(prompt)?.[1])).toEqual([
      'generator',
      'validator',
      'debugger',
      'validator',
    ])
    expect(prompts[2]).toContain('line 3 is wrong')
    expect(new Set(prompts).size).toBe(4)
    for (const prompt of prompts) {
      expect(results.filter((result) => result.includes(JSON.stringify(prompt)))).toHaveLength(1)
      const given = model.requests.filter(({ turn }) => turn.userTexts.join('\n').includes(prompt))
      // Its sub-agent has two turns: the work, and the end.
      expect(given.map(({ turn }) => turn.userTexts.join('\n').split(prompt).length - 1)).toEqual([1, 1])
    }
  })
})

const FAILS = { passed: false, errors: ['line 3 is wrong'] }
const PASSES = { passed: true, errors: [] }
