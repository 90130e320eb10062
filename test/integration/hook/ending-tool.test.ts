import { describe, expect, it } from 'vitest'
import { agentReturned, SESSION, shellRan, stop, structuredAnswer, subagentStop } from '../../support/payloads.ts'
import { createProject, createSourceProject, type HookRun, type Project, withMarker } from '../../support/project.ts'

/** A tool whose call ends the agent's turn: the call is judged as the stop that it is. */

const TASK = '259_prove_completeness'
const MAIN = { id: 'pf_mainmainmain', cc_session_id: SESSION, agent_id: 'main', reason: 'Commit the proof.' }
const OWNED = { ...MAIN, agent_id: 'agent-a' }
const WORKER = { agent_id: 'agent-a', agent_type: 'workflow-subagent' }

const reasonOf = (run: HookRun): string | undefined => run.answer.hookSpecificOutput?.permissionDecisionReason
const storyOf = (project: Project): string[] =>
  project.journal().map(({ event, count }) => (count === undefined ? String(event) : `${event} ${count}`))

describe.concurrent('a structured answer', () => {
  it('of the main conversation is refused with the reason, and the answer holds nothing else', async () => {
    const project = withMarker(MAIN, TASK, createProject)
    const run = await project.hook(structuredAnswer())
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.answer).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringMatching(/^Commit the proof\.\n[\s\S]*Blocked stop 1 of 3\./),
      },
    })
    expect(reasonOf(run)).toContain('Call it again, with your full answer')
    expect(project.read(`specs/${TASK}/.postflight-loop-guard`)).toBe('1\n')
  })

  it('is given up after three blocked stops, whatever kind they were, and the stop behind it finds nothing', async () => {
    const project = withMarker(MAIN, TASK)
    expect(reasonOf(await project.hook(structuredAnswer()))).toContain('Blocked stop 1 of 3')
    expect((await project.hook(stop())).answer.reason).toContain('Blocked stop 2 of 3')
    expect(reasonOf(await project.hook(structuredAnswer()))).toContain('Blocked stop 3 of 3')
    expect((await project.hook(structuredAnswer())).answer).toEqual({})
    expect((await project.hook(stop({ last_assistant_message: undefined }))).answer).toEqual({})
    expect(storyOf(project)).toEqual(['block 1', 'block 2', 'block 3', 'cap 3'])
    expect(project.has(`specs/${TASK}/.postflight-abandoned`)).toBe(true)
  })

  it.each(['', '--definition flow.json'])(
    'leaves a wait without a prompt id to the stop behind it: %s',
    async (flow) => {
      const project = createSourceProject()
      project.write('flow.json', '{ "name": "f", "phases": [{ "id": "a", "prompt": "Go.", "artifact": "a.md" }] }')
      const env = { COPILOT_AGENT_SESSION_ID: SESSION, COPILOT_PROJECT_DIR: project.dir }
      const make = flow === '' ? 'create 7 x --agent main' : `workflow start 7 x ${flow}`
      for (const line of [make, 'wait 7 --for answers']) await project.cli(line.split(' '), { env })
      const call = structuredAnswer({ tool_name: 'task_complete', prompt_id: undefined })
      const behind = stop({ prompt_id: undefined })
      const answers = [call, behind, behind].map((payload) => () => project.hook(payload, { env }))
      const decisions: unknown[] = []
      for (const answer of answers) decisions.push((await answer()).answer.decision)
      expect(decisions).toEqual([undefined, undefined, 'block'])
    },
  )

  it('of a sub-agent is judged as its stop', async () => {
    const project = withMarker(OWNED, TASK)
    expect((await project.hook(structuredAnswer())).answer).toEqual({})
    const worker = await project.hook(structuredAnswer(WORKER))
    expect(reasonOf(worker)).toContain('Blocked stop 1 of 3')
    expect(reasonOf(worker)).not.toContain('full report')
  })

  it('that hands a report back is refused, and its report reaches the caller', async () => {
    const project = withMarker(OWNED, TASK)
    const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: SESSION }
    const worker = { agent_id: 'agent-a', agent_type: 'general-purpose' }
    const handBack = { ...worker, tool_name: 'SubagentHandback', tool_input: { message: 'All the findings.' } }
    const refused = await project.hook(structuredAnswer(handBack), { env })
    const returned = await project.hook(agentReturned('Done.'), { env })
    expect(reasonOf(refused)).toContain('This call of SubagentHandback was refused.')
    expect(returned.answer.hookSpecificOutput?.additionalContext).toContain('All the findings.')
    expect(storyOf(project)).toEqual(['block 1'])
  })
})

it.each([
  ['of another tool', structuredAnswer({ tool_name: 'Bash', tool_input: { command: 'ls' } })],
  ['that has ended', structuredAnswer({ hook_event_name: 'PostToolUse', tool_response: 'provided' })],
])('a call %s is not a stop: it is allowed, and counts nothing', async (_, payload) => {
  const project = withMarker(MAIN, TASK)
  expect((await project.hook(payload)).answer).toEqual({})
  expect(project.has('specs/.postflight')).toBe(false)
})

describe.concurrent("a workflow's run at a structured answer", () => {
  const FLOW = {
    name: 'flow',
    phases: [
      { id: 'plan', prompt: 'Write the plan.', artifact: 'plan.md' },
      { id: 'work', prompt: 'Do the work.', artifact: 'work.md' },
    ],
  }

  const ENV = { CLAUDE_CODE_SESSION_ID: SESSION, CLAUDECODE: '1', AI_AGENT: 'claude-code_2-1-330_harness' }

  async function started(create = createSourceProject): Promise<{ project: Project; answer(): Promise<HookRun> }> {
    const project = create()
    project.write('flow.json', JSON.stringify(FLOW))
    await project.cli(['workflow', 'start', '7', 'demo', '--definition', 'flow.json'], { env: ENV })
    return { project, answer: () => project.hook(structuredAnswer(), { env: ENV }) }
  }

  it('gives its prompts, and lets the answer pass when it has ended', async () => {
    const { project, answer } = await started(createProject)
    // The model gets a refusal once, so the whole prompt is its reason.
    expect(reasonOf(await answer())).toContain('Write the plan.')
    project.write('specs/007_demo/plan.md', 'The plan.')
    expect((await project.hook(structuredAnswer(WORKER), { env: ENV })).answer).toEqual({})
    expect(reasonOf(await answer())).toContain('Do the work.')
    project.write('specs/007_demo/work.md', 'The work.')
    expect((await answer()).answer).toEqual({ systemMessage: expect.stringContaining('completed') })
    expect((await project.hook(stop(), { env: ENV })).answer).toEqual({})
    expect((await project.hook(subagentStop(), { env: ENV })).answer).toEqual({})
  })

  it('comes behind the marker of the same task', async () => {
    const { project, answer } = await started()
    project.marker('007_demo', MAIN)
    expect(reasonOf(await answer())).toContain('Commit the proof.')
    await project.cli(['clear', '7'], { env: ENV })
    expect(reasonOf(await answer())).toContain('Write the plan.')
  })

  it('tells of no prompt at the call of another tool', async () => {
    const { project } = await started()
    expect((await project.hook(shellRan('ls', ''), { env: ENV })).answer).toEqual({})
  })
})
