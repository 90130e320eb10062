import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, sessionStart, stop, structuredAnswer, subagentStop } from '../../support/payloads.ts'
import { createSourceProject, hoursAgo, type JsonDocument, type Project, withMarker } from '../../support/project.ts'

/** Its age in hours is the same for both programs that are compared. */
const OWNED = { cc_session_id: SESSION, agent_id: 'agent-a', operation: 'research', created: hoursAgo(2) }

const DROID_TRANSCRIPT = join(import.meta.dirname, '../../fixtures/droid-transcript.jsonl')

function everyRow(): Project {
  const project = withMarker({ ...OWNED, stop_hook_active: true }, '001_bypassed')
  project.marker('002_other_session', { ...OWNED, cc_session_id: OTHER_SESSION })
  project.marker('004_expired', { created: hoursAgo(25) })
  project.marker('005_main', { ...OWNED, agent_id: 'main' })
  project.marker('006_unowned', { reason: 'unowned', created: hoursAgo(2) })
  project.marker('007_spent', OWNED)
  project.write('specs/007_spent/.postflight-loop-guard', '3\n')
  project.marker('008_mine', OWNED)
  return project
}

function explainPayload(project: Project, payload: object, env: Record<string, string> = {}, form = ['--json']) {
  const file = join(project.home, 'payload.json')
  writeFileSync(file, JSON.stringify(payload))
  return project.cli(['explain', '--payload', file, ...form], { env })
}

function rowsOf(document: JsonDocument): unknown[] {
  return document.markers.map((one: JsonDocument) => [one.path.split('/')[1], one.row, one.rule, one.answer])
}

describe.concurrent('explain', () => {
  it('names for each marker the row of the table that decides, at a sub-agent’s stop, and writes nothing', async () => {
    const project = everyRow()
    const before = project.snapshot()
    const run = await explainPayload(project, subagentStop())
    expect(rowsOf(run.json())).toEqual([
      ['001_bypassed', 1, 'bypassed', 'allow'],
      ['002_other_session', 2, 'other-session', 'allow'],
      ['004_expired', 4, 'expired', 'allow'],
      ['005_main', 5, 'other-agent', 'allow'],
      ['006_unowned', 8, 'block', 'block'],
      ['007_spent', 7, 'capped', 'allow'],
      ['008_mine', 8, 'block', 'block'],
    ])
    expect(run.json()).toMatchObject({
      payload: { event: 'SubagentStop', host_session: SESSION, agent: 'agent-a' },
      roots: [project.dir],
      answer: { decision: 'block' },
    })
    await project.cli(['explain'])
    expect(project.snapshot()).toEqual(before)
  })

  it.each([
    ['a sub-agent’s stop', subagentStop()],
    ['another sub-agent’s stop', subagentStop({ agent_id: 'agent-b' })],
    ['main’s stop', stop()],
    ['main’s stop while a sub-agent works', stop({ background_tasks: [{ type: 'subagent', status: 'running' }] })],
    ['the call of a tool that ends the turn', structuredAnswer()],
    ['the same of a sub-agent', structuredAnswer({ agent_id: 'agent-a', agent_type: 'workflow-subagent' })],
    ['another session’s stop', stop({ session_id: OTHER_SESSION })],
    ['an empty payload', {}],
    ['Copilot’s first stop of a sub-agent', stop({ parent_agent_id: SESSION })],
    ['another event', { hook_event_name: 'PreCompact' }],
  ])('predicts exactly the hook’s answer to %s', async (_what, payload) => {
    const project = everyRow()
    const explained = await explainPayload(project, { cwd: project.dir, ...payload })
    expect(explained.json().answer).toEqual((await project.hook(payload)).answer)
  })

  it('predicts exactly the text for a session that starts, which is not a stop, with its markers and runs', async () => {
    const project = everyRow()
    project.write('specs/010_given_up/.postflight-abandoned', JSON.stringify(OWNED))
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: [{ id: 'a', prompt: 'p', artifact: 'a.txt' }] }))
    const started = await project.cli(['workflow', 'start', '9', 'flow', '--definition', 'flow.json'])
    expect(started.status, started.stderr).toBe(0)
    const contextOf = ({ hookSpecificOutput }: JsonDocument): string =>
      // The age of the run may differ.
      hookSpecificOutput.additionalContext.replace(/(009_flow.*), \d+ \w+ old/, '$1')
    const payload = sessionStart('startup', { cwd: project.dir })
    const document = (await explainPayload(project, payload)).json()
    const shown = await project.cli(['explain', '--payload', '-'], { input: JSON.stringify(payload) })
    const run = await project.hook(payload)
    expect(document).toMatchObject({ why: expect.stringContaining('not a stop event'), markers: [] })
    expect(contextOf(document.answer)).toContain('009_flow, flow: a running workflow')
    expect(contextOf(document.answer)).toContain('010_given_up')
    expect(contextOf(document.answer)).toBe(contextOf(run.answer))
    expect(shown.stdout).toContain('010_given_up')
  })

  it.each([
    ['Claude Code', 'CLAUDECODE', ['hookSpecificOutput', 'systemMessage']],
    ['Copilot CLI', 'COPILOT_PROJECT_DIR', ['additionalContext']],
  ])('predicts exactly what %s gets for a definition of done that is not trusted', async (_host, name, keys) => {
    const project = everyRow()
    project.write('specs/done.yaml', 'done:\n  - when: src/**\n    check: "true"\n')
    const payload = sessionStart('startup', { cwd: project.dir })
    const env = { [name]: '1' }
    const { answer } = (await explainPayload(project, payload, env)).json()
    expect(Object.keys(answer)).toEqual(keys)
    expect((await project.hook(payload, { env })).answer).toEqual(answer)
    const { stdout } = await explainPayload(project, payload, env, [])
    expect(stdout).toMatch(/^answer: context$.*^notice to the user: postflight-guard: /ms)
  })

  it.each([
    ['a marker without continuations left', '', '3\n'],
    ['a marker that cannot be counted', '/x', ''],
  ])('predicts exactly the notice that Claude Code gets for %s', async (_what, below, text) => {
    const project = withMarker(OWNED, '007_spent')
    project.write(`specs/007_spent/.postflight-loop-guard${below}`, text)
    const env = { CLAUDECODE: '1', AI_AGENT: 'claude-code_2-1-330_harness', POSTFLIGHT_NOTIFY: 'osc9' }
    const payload = subagentStop({ cwd: project.dir })
    const explained = await explainPayload(project, payload, env)
    const shown = await explainPayload(project, payload, env, [])
    const run = await project.hook(subagentStop(), { env })
    expect(run.answer).toMatchObject({ systemMessage: expect.stringContaining('007_spent') })
    expect(explained.json().answer).toEqual(run.answer)
    expect(shown.stdout).toContain('notice to the user: postflight-guard:')
  })

  it.each([
    ['a host that ignores the answer', subagentStop(), 'droid ignores the answer'],
    ['an interruption on droid', stop({ transcript_path: DROID_TRANSCRIPT, message_id: 'm2' }), 'a person or an error'],
  ])('names %s, at which the hook counts nothing', async (_what, payload, why) => {
    const project = everyRow()
    const env = { FACTORY_PROJECT_DIR: project.dir }
    const run = await explainPayload(project, payload, env)
    expect(run.json()).toMatchObject({ why: expect.stringContaining(why), markers: [], answer: {} })
    const before = project.snapshot()
    expect((await project.hook(payload, { env })).stdout).toBe('{}\n')
    expect(project.snapshot()).toEqual(before)
  })

  it('judges a wait by the time of the stop, which Copilot CLI repeats, as the hook does', async () => {
    const wait = { for: 'the build', count: 1, stopped_ms: Date.now() - 5_000 }
    const project = withMarker({ ...OWNED, agent_id: 'main', wait }, '001_waiting')
    const env = { COPILOT_PROJECT_DIR: project.dir }
    const payload = stop({ cwd: project.dir, prompt_id: undefined, timestamp: hoursAgo(10 / 3600) })
    expect((await explainPayload(project, payload, env)).json()).toMatchObject({
      answer: {},
      markers: [{ rule: 'waiting' }],
    })
    expect((await project.hook(payload, { env })).answer).toEqual({})
  })

  it('prints commands with --root if the agent’s folder does not lead to the root, as the hook does', async () => {
    const project = everyRow()
    const elsewhere = createSourceProject()
    const env = { POSTFLIGHT_ROOT: project.dir }
    const payload = subagentStop({ cwd: elsewhere.dir })
    const explained = await explainPayload(project, payload, env)
    const run = await project.hook(payload, { env })
    expect(run.answer).toMatchObject({ decision: 'block' })
    expect(explained.json().answer).toEqual(run.answer)
  })

  it('prints lines for people, without control characters', async () => {
    const project = withMarker({ ...OWNED, reason: '\u001b[2Jpending' }, '001_\u001b[31mred')
    const run = await explainPayload(project, subagentStop(), {}, [])
    expect(run.stdout).toContain(`SubagentStop of session ${SESSION}, agent agent-a`)
    expect(run.stdout).toContain('row 8, block: the postflight is pending')
    expect(run.stdout).toContain('answer: block')
    expect(run.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })

  it.each([
    ['is not JSON', 'garbage', 'the payload is not JSON'],
    ['is a list', '[]', 'the payload is '],
    ['does not exist', undefined, 'payload.json does not exist: check the path.'],
  ])('refuses a payload file that %s', async (_what, text, said) => {
    const project = createSourceProject()
    if (text !== undefined) project.write('payload.json', text)
    const run = await project.cli(['explain', '--payload', 'payload.json'])
    expect(run.status).toBe(65)
    expect(run.stderr).toMatch(/^postflight: [^\n]+\n$/)
    expect(run.stderr).toContain(said)
  })

  it('names the stop that it assumes without a payload', async () => {
    const project = createSourceProject()
    const without = await project.cli(['explain'])
    const empty = await project.cli(['explain', '--payload', '-'], { input: '{}' })
    expect(without.stdout).toMatch(
      /^To explain a stop, pipe [^\n]*--payload[^\n]*:\n[\s\S]*:\n\nSubagentStop of session \(unknown\)/,
    )
    expect(empty.stdout).toMatch(/^SubagentStop/)
  })

  it('gives an example that can be pasted, and that explains the stop of a marker here', async () => {
    const project = withMarker({ cc_session_id: SESSION, agent_id: 'main', created: hoursAgo(0) })
    const { stdout } = await project.cli(['explain'])
    const [, body = ''] = /^ {2}`echo '(.*)' \| postflight explain --payload -`$/m.exec(stdout) ?? []
    const pasted = await project.cli(['explain', '--payload', '-'], { input: body })
    expect(pasted.stdout).toContain(`Stop of session ${SESSION}`)
    expect(pasted.stdout).toContain('answer: block')
    const inShell = await project.cli(['explain'], { env: { CLAUDE_CODE_SESSION_ID: OTHER_SESSION } })
    expect(inShell.stdout).toContain(`"session_id":"${OTHER_SESSION}"}' | postflight`)
  })

  it('reports that no root was found', async () => {
    const project = createSourceProject({ specs: false })
    expect((await project.cli(['explain'])).stdout).toContain('no start folder leads to a specs/ folder')
  })
})
