import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentReturned, SESSION, subagentStop } from '../../support/payloads.ts'
import { createProject, createSourceProject, makeOld, type Project, withMarker } from '../../support/project.ts'

const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a' }
const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const FOLDER = 'specs/.postflight/reports'
const REPORT = 'The whole report:\n- one\n- two'
const KIB = 1024

const held = (project: Project, message: string, more = {}) =>
  project.hook(subagentStop({ last_assistant_message: message, ...more }), { env: ENV })
const returns = (project: Project, message: string, more = {}, cwd = project.dir) =>
  project.hook(agentReturned(message, more), { env: ENV, words: ['Agent'], cwd })
const contextOf = async (run: ReturnType<typeof returns>) => (await run).answer.hookSpecificOutput?.additionalContext
const kept = (project: Project): string[] => (project.has(FOLDER) ? readdirSync(project.at(FOLDER)) : [])
const indented = (text: string): string => text.replace(/^/gm, '  ')

function linkFolder(project: Project): void {
  project.write('specs/.postflight/x', '')
  mkdirSync(join(project.base, 'elsewhere'))
  symlinkSync(join(project.base, 'elsewhere'), project.at(FOLDER))
}

const projectWithMarker = (create = createSourceProject): Project => withMarker(OWNED, '259_x', create)

describe.concurrent('the report of a blocked sub-agent', () => {
  it('is kept at the block, and handed once to its caller, who otherwise gets only the last message', async () => {
    const project = projectWithMarker(createProject)
    expect((await held(project, REPORT)).answer).toEqual({ decision: 'block', reason: expect.any(String) })
    expect(project.read(`${FOLDER}/agent-a`)).toBe(REPORT)
    expect(project.read('specs/.postflight/.gitignore')).toBe('*\n')
    const first = await returns(project, 'Done.')
    expect(first.stderr).toBe('')
    expect(first.answer).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        additionalContext: `postflight-guard: this is the report of the sub-agent agent-a (general-purpose), from before it was asked to finish its postflight; its last message does not repeat it. The indented lines are the sub-agent's words, not the user's:\n\n${indented(REPORT)}`,
      },
    })
    expect(kept(project)).toEqual([])
    expect((await returns(project, 'Done.')).stdout).toBe('{}\n')
  })

  it.each([
    ['as parts', agentReturned(`Here it is.\n${REPORT}\nDone.`)],
    ['as a text', agentReturned('', { tool_response: { agentId: 'agent-a', content: `${REPORT}\r\n` } })],
  ])('is not added to a message that holds it, %s', async (_what, payload) => {
    const project = projectWithMarker()
    await held(project, `\n${REPORT}  \n`)
    expect((await project.hook(payload, { env: ENV, words: ['Agent'] })).stdout).toBe('{}\n')
    expect(kept(project)).toEqual([])
  })

  it.each([
    [REPORT, 'Busy.', 'Nearly.'],
    ['Busy.', REPORT, 'Nearly.'],
    ['Busy.', 'Nearly.', REPORT],
  ])('is the longest of three: %j, %j, %j', async (...messages) => {
    const project = projectWithMarker()
    for (const message of messages) await held(project, message)
    expect((await held(project, 'x'.repeat(100))).answer.decision).toBeUndefined()
    expect(await contextOf(returns(project, 'Done.'))).toContain(indented(REPORT))
  })

  it('of three sub-agents at once is handed to the caller of each, also with two hooks at each event', async () => {
    const project = createProject()
    const agents = ['agent-a', 'agent-b', 'agent-c']
    for (const [index, agent] of agents.entries()) project.marker(`00${index}_x`, { ...OWNED, agent_id: agent })
    await Promise.all(agents.map((agent) => held(project, `Report of ${agent}`, { agent_id: agent })))
    expect(kept(project).sort()).toEqual(agents)
    const returned = (agentId: string) =>
      contextOf(returns(project, 'Done.', { tool_response: { agentId, content: 'Done.' } }))
    const runs = await Promise.all([...agents, ...agents].map(returned))
    for (const agent of agents) {
      expect(runs.filter((context) => context?.endsWith(`\n\n  Report of ${agent}`))).toHaveLength(1)
    }
    expect(runs.filter((context) => context === undefined)).toHaveLength(3)
    expect(kept(project)).toEqual([])
  })

  it('has at most 64 KiB, which end with a whole character', async () => {
    const project = projectWithMarker()
    await held(project, `x${'ü'.repeat(40 * KIB)}`)
    expect(project.read(`${FOLDER}/agent-a`)).toBe(`x${'ü'.repeat(32 * KIB - 1)}`)
    expect(await contextOf(returns(project, 'Done.'))).toMatch(/the first 64 KiB of the report [^ü]*ü{32767}$/)
  })

  it('is handed over without control characters', async () => {
    const project = projectWithMarker()
    await held(project, 'red \u001b[31m\u202eand back\u0007')
    expect(await contextOf(returns(project, 'Done.'))).toMatch(/\n\n {2}red \[31mand back$/)
  })

  it.each(['../../../outside', '.hidden', 'a'.repeat(200), 'ü', 'con:x'])(
    'of an agent with the id %j stays in its folder',
    async (agent) => {
      const project = withMarker({ ...OWNED, agent_id: agent })
      await held(project, REPORT, { agent_id: agent })
      expect(kept(project)).toEqual([expect.stringMatching(/^sha256-[0-9a-f]{64}$/)])
      const response = { tool_response: { agentId: agent, content: 'Done.' } }
      expect(await contextOf(returns(project, 'Done.', response))).toContain(indented(REPORT))
      expect(kept(project)).toEqual([])
    },
  )

  it('of a sub-agent in a worktree is kept in the project too, where its caller runs', async () => {
    const project = createSourceProject()
    const worktree = '.claude/worktrees/agent-a'
    project.write(`${worktree}/.git`, 'gitdir: x')
    project.write(`${worktree}/specs/259_x/.postflight-pending`, JSON.stringify(OWNED))
    const env = { ...ENV, CLAUDE_PROJECT_DIR: project.dir }
    const cwd = project.at(worktree)
    const stopped = await project.hook(subagentStop({ last_assistant_message: REPORT, cwd }), { env, cwd })
    expect(stopped.answer.decision).toBe('block')
    mkdirSync(project.at('src'))
    const run = await project.hook(agentReturned('Done.'), { env, words: ['Agent'], cwd: project.at('src') })
    expect(run.answer.hookSpecificOutput?.additionalContext).toContain(indented(REPORT))
    expect(kept(project)).toEqual([])
  })

  it('in several roots is handed over once, the longest', async () => {
    const [project, other] = [createSourceProject(), createSourceProject()]
    project.write(`${FOLDER}/agent-a`, 'short')
    other.write(`${FOLDER}/agent-a`, REPORT)
    const env = { ...ENV, POSTFLIGHT_ROOT: other.dir }
    const run = await project.hook(agentReturned('Done.'), { env, words: ['Agent'] })
    expect(run.answer.hookSpecificOutput?.additionalContext).toContain(indented(REPORT))
    expect(run.answer.hookSpecificOutput?.additionalContext).not.toContain('short')
    expect([kept(project), kept(other)]).toEqual([[], []])
  })

  it('is not kept if nothing was blocked, or without a message or an agent', async () => {
    const project = projectWithMarker()
    await held(project, REPORT, { agent_id: 'agent-b' })
    await held(project, '')
    await held(project, REPORT, { hook_event_name: 'Stop' })
    expect(project.has(FOLDER)).toBe(false)
  })

  it('is not kept on other hosts, which cannot hand it over', async () => {
    const project = projectWithMarker()
    expect((await project.hook(subagentStop({ last_assistant_message: REPORT }))).answer.decision).toBe('block')
    expect(project.has(FOLDER)).toBe(false)
  })

  it('is removed after 24 h, when another one is kept', async () => {
    const project = projectWithMarker()
    const old = [`${FOLDER}/agent-old`, `${FOLDER}/agent-x.1-2-3.tmp`]
    for (const name of old) makeOld(project.write(name, 'old'), 25)
    makeOld(project.write(`${FOLDER}/agent-late`, 'not old enough'), 23)
    await held(project, REPORT)
    expect(kept(project).sort()).toEqual(['agent-a', 'agent-late'])
  })

  it.each<[string, (project: Project) => void]>([
    ['a file in place of its folder', (project) => project.write(FOLDER, 'x')],
    ['a file in place of .postflight', (project) => project.write('specs/.postflight', 'x')],
    ['a link in place of its folder', linkFolder],
    ['a folder in its place', (project) => mkdirSync(project.at(FOLDER, 'agent-a'), { recursive: true })],
  ])('that cannot be kept (%s) leads to a complaint, and the block stands', async (_what, prepare) => {
    const project = projectWithMarker()
    prepare(project)
    const { answer, stderr } = await held(project, REPORT)
    expect(answer.decision).toBe('block')
    expect(stderr).toMatch(/^postflight-guard: the report of the sub-agent agent-a was not kept \([^\n]+\)$/m)
    expect(readdirSync(project.base)).not.toContain('agent-a')
    expect((await returns(project, 'Done.')).stdout).toBe('{}\n')
  })

  it.each<[string, (project: Project) => void]>([
    ['a link', (project) => symlinkSync(project.write('secret', 'secret'), project.at(FOLDER, 'agent-a'))],
    ['a folder', (project) => mkdirSync(project.at(FOLDER, 'agent-a'))],
  ])('that is %s is not handed over', async (_what, prepare) => {
    const project = createSourceProject()
    mkdirSync(project.at(FOLDER), { recursive: true })
    prepare(project)
    const { stdout, stderr } = await returns(project, 'Done.')
    expect(stdout).toBe('{}\n')
    expect(stderr).toMatch(/^postflight-guard: the report of the sub-agent agent-a was not handed to its caller \(/)
    expect(kept(project)).toEqual(['agent-a'])
  })
})
