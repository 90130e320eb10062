import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, sessionStart, shellRan, stop, subagentStop } from '../../support/payloads.ts'
import { createProject, createSourceProject, type HookRun, type Project } from '../../support/project.ts'

const MARKER = 'specs/007_x/.postflight-pending'
const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const MAINS = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'main', operation: 'deploy' }
const WAIT = ['wait', '7', '--for', 'go-ahead to deploy']

function withMarker(fields: object = MAINS, make = createSourceProject): Project {
  const project = make()
  project.marker('007_x', { ...fields })
  return project
}

async function waiting(): Promise<Project> {
  const project = withMarker()
  await project.cli(WAIT, { env: ENV })
  return project
}

const stopAt = (project: Project, prompt: string, more: object = {}): Promise<HookRun> =>
  project.hook(stop({ prompt_id: prompt, ...more }))

const markerOf = (project: Project): Record<string, unknown> => JSON.parse(project.read(MARKER))
const isBlock = ({ answer }: HookRun): boolean => answer.decision === 'block'

describe.concurrent('a marker that waits', () => {
  it('allows the stops of that prompt, uncounted, and holds again at the next one', async () => {
    const project = withMarker(MAINS, createProject)
    expect((await project.cli(WAIT, { env: ENV })).stdout).toContain(`waiting ${MARKER}  ${MAINS.id}\n`)
    for (let stops = 0; stops < 2; stops++) expect((await stopAt(project, 'p1')).stdout).toBe('{}\n')
    expect(markerOf(project).wait).toEqual({ for: 'go-ahead to deploy', prompt_id: 'p1', count: 1 })
    expect((await stopAt(project, 'p2')).answer.reason).toContain('Blocked stop 1 of 3')
    expect(markerOf(project)).not.toHaveProperty('wait')
    expect(project.journal().map(({ event }) => event)).toEqual(['wait', 'wait-end', 'block'])
    // The end of a prompt is the end of its wait.
    expect(isBlock(await stopAt(project, 'p1'))).toBe(true)
  })

  it('is stamped with the prompt of the command that announced it', async () => {
    const project = withMarker()
    const { stdout } = await project.cli(WAIT, { env: ENV })
    await project.hook(shellRan(WAIT.join(' '), stdout, { prompt_id: 'p7' }))
    expect(markerOf(project).wait).toEqual({ for: 'go-ahead to deploy', prompt_id: 'p7', count: 1 })
    expect(isBlock(await stopAt(project, 'p8'))).toBe(true)
  })

  it('is stamped in one command with create, whose agent owns the marker', async () => {
    const project = createSourceProject()
    const created = await project.cli(['create', '7', 'x'], { env: ENV })
    const waiting = await project.cli(WAIT, { env: ENV })
    await project.hook(shellRan('postflight create 7 x && postflight wait 7 …', created.stdout + waiting.stdout))
    expect(markerOf(project)).toMatchObject({ agent_id: 'main', wait: { prompt_id: 'prompt-1' } })
  })

  it('is stamped at the first stop where a script announced it, whose output no hook saw', async () => {
    const project = await waiting()
    await project.hook(shellRan('sh postflight.sh', '', { duration_ms: 5000 }))
    expect(markerOf(project).wait).not.toHaveProperty('prompt_id')
    expect(isBlock(await stopAt(project, 'p1'))).toBe(false)
    expect(markerOf(project).wait).toMatchObject({ prompt_id: 'p1' })
  })

  it('counts once for a prompt at which it is announced twice', async () => {
    const project = withMarker()
    for (const prompt of ['p1', 'p1', 'p2']) {
      await project.cli(WAIT, { env: ENV })
      await stopAt(project, prompt)
    }
    expect(markerOf(project).wait).toMatchObject({ prompt_id: 'p2', count: 2 })
  })

  it('waits at ten prompts at most', async () => {
    const project = withMarker()
    for (let prompt = 1; prompt <= 10; prompt++) {
      expect((await project.cli(WAIT, { env: ENV })).status).toBe(0)
      expect(isBlock(await stopAt(project, `p${prompt}`))).toBe(false)
    }
    // Without an event of the eleventh prompt, the command cannot know that it is the eleventh.
    expect((await project.cli(WAIT, { env: ENV })).stdout).toContain('only at the prompt where the tenth wait began')
    expect(isBlock(await stopAt(project, 'p11'))).toBe(true)
    const refused = await project.cli(WAIT, { env: ENV })
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('has waited at 10 prompts') })
  })

  it('holds again after a resume of the session, and not after a compaction or the start of another one', async () => {
    const project = withMarker()
    const start = (source: string, more = {}) => project.hook(sessionStart(source, more), { words: ['SessionStart'] })
    await project.cli(WAIT, { env: ENV })
    await stopAt(project, 'p1')
    await start('startup', { session_id: OTHER_SESSION })
    await start('compact')
    expect(isBlock(await stopAt(project, 'p1'))).toBe(false)
    await start('resume')
    expect(isBlock(await stopAt(project, 'p1'))).toBe(true)
  })

  it('is left alone by a second session', async () => {
    const project = await waiting()
    await stopAt(project, 'p1')
    const before = project.read(MARKER)
    await stopAt(project, 'p9', { session_id: OTHER_SESSION })
    await project.hook(shellRan('postflight inspect', '', { session_id: OTHER_SESSION, prompt_id: 'p9' }))
    expect(project.read(MARKER)).toBe(before)
  })

  it('is not abandoned when its continuations are used up', async () => {
    const project = withMarker()
    for (let stops = 0; stops < 3; stops++) expect(isBlock(await stopAt(project, 'p1'))).toBe(true)
    await project.cli(WAIT, { env: ENV })
    expect((await stopAt(project, 'p1')).stdout).toBe('{}\n')
    expect(project.has(MARKER)).toBe(true)
    await stopAt(project, 'p2')
    expect(project.has(MARKER)).toBe(false)
  })

  it('waits for one stop on a host without ids of prompts; a second hook of that stop sees the same wait', async () => {
    const project = await waiting()
    const timestamp = new Date().toISOString()
    const both = await Promise.all([stopAt(project, ''), stopAt(project, '')])
    const onCopilot = (timestamp: string): Promise<HookRun> =>
      project.hook(stop({ prompt_id: '', timestamp }), { env: { COPILOT_PROJECT_DIR: project.dir } })
    both.push(await onCopilot(timestamp))
    const next = await onCopilot(new Date(0).toISOString())
    expect(both.map(isBlock)).toEqual([false, false, false])
    expect(isBlock(next)).toBe(true)
  })

  it('is shown by inspect, and predicted by explain', async () => {
    const project = await waiting()
    expect((await project.cli(['inspect'])).stdout).toContain('waits for: go-ahead to deploy')
    const input = JSON.stringify({ cwd: project.dir, ...stop() })
    const explained = await project.cli(['explain', '--payload', '-', '--json'], { input })
    expect(explained.json().markers[0]).toMatchObject({ rule: 'waiting', row: '6a', answer: 'allow' })
  })

  it('is not offered again by explain or a reason once the tenth wait is over', async () => {
    const project = withMarker({ ...MAINS, wait: { for: 'x', count: 10, prompt_id: 'p1' } })
    const shell = { id: 'b', type: 'shell', status: 'running', command: 'npm run dev' }
    const payload = stop({ cwd: project.dir, prompt_id: 'p2', background_tasks: [shell] })
    const explained = await project.cli(['explain', '--payload', '-', '--json'], { input: JSON.stringify(payload) })
    const held = await project.hook(payload)
    expect(held.answer.reason).not.toContain('postflight wait')
    expect(explained.json().answer).toEqual(held.answer)
  })

  it('cannot be stamped on a full disk: the stop is allowed, and the user gets a notice', async () => {
    const project = await waiting()
    project.write('specs/007_x/.postflight-lock', '1 1\n')
    const run = await project.hook(stop(), { env: { CLAUDECODE: '1' } })
    expect(run.answer.systemMessage).toContain('so the stop was allowed')
  })
})

describe.concurrent('a wait that its command did not print', () => {
  it.each([['--quiet'], ['--json']])('(%s) is stamped at the end of that command', async (...more) => {
    const project = withMarker()
    const { stdout } = await project.cli([...WAIT, ...more], { env: ENV })
    await project.hook(shellRan(WAIT.join(' '), stdout, { prompt_id: 'p1', duration_ms: 5000 }))
    expect(markerOf(project).wait).toMatchObject({ prompt_id: 'p1' })
    expect(isBlock(await stopAt(project, 'p2'))).toBe(true)
  })
})

describe.concurrent('a wait of the main conversation does not end', () => {
  const SUB_AGENT = { agent_id: 'agent-a', agent_type: 'worker', prompt_id: 'its-own' }

  it.each([
    ['at a command of a sub-agent with prompts of its own', shellRan('ls', '', SUB_AGENT)],
    ['at the stop of such a sub-agent', subagentStop(SUB_AGENT)],
    ['at a command without the id of a prompt', shellRan('ls', '', { prompt_id: undefined })],
    ['at the stop of a sub-agent without one', subagentStop({ prompt_id: undefined })],
  ])('%s', async (_what, event) => {
    const project = await waiting()
    await stopAt(project, 'p1')
    await project.hook(event)
    expect(markerOf(project).wait).toEqual({ for: 'go-ahead to deploy', prompt_id: 'p1', count: 1 })
    expect((await stopAt(project, 'p1')).stdout).toBe('{}\n')
    expect(isBlock(await stopAt(project, 'p2'))).toBe(true)
  })

  it('in a run, at such commands', async () => {
    const project = createSourceProject()
    project.write('flow.json', JSON.stringify({ name: 'f', phases: [{ id: 'a', prompt: 'Go.', artifact: 'a.md' }] }))
    await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], { env: ENV })
    await stopAt(project, 'p1')
    await project.cli(WAIT, { env: ENV })
    expect((await stopAt(project, 'p1')).stdout).toBe('{}\n')
    await project.hook(shellRan('postflight status', '', SUB_AGENT))
    await project.hook(shellRan('postflight status', '', { prompt_id: undefined }))
    expect((await stopAt(project, 'p1')).stdout).toBe('{}\n')
    expect(isBlock(await stopAt(project, 'p2'))).toBe(true)
  })
})

describe.concurrent('a wait is removed at the end of a command', () => {
  it.each([
    ['which printed it', true],
    ['whose output no hook saw', false],
  ])('of a sub-agent on the marker of the main conversation, %s', async (_what, isSeen) => {
    const project = withMarker()
    const { stdout } = await project.cli(WAIT, { env: ENV })
    await project.hook(shellRan(WAIT.join(' '), isSeen ? stdout : '', { agent_id: 'agent-a', duration_ms: 5000 }))
    expect(markerOf(project)).not.toHaveProperty('wait')
    expect(isBlock(await stopAt(project, 'prompt-1'))).toBe(true)
  })

  it('by which another session adopts the marker', async () => {
    const project = await waiting()
    await project.cli(['adopt', '7', '--host-session', OTHER_SESSION, '--agent', 'main'])
    expect(markerOf(project)).not.toHaveProperty('wait')
  })

  it('of a later prompt', async () => {
    const project = withMarker()
    const { stdout } = await project.cli(WAIT, { env: ENV })
    await project.hook(shellRan(WAIT.join(' '), stdout))
    await project.hook(shellRan('postflight inspect', '', { prompt_id: 'p2' }))
    expect(markerOf(project)).toMatchObject({ waits: 1 })
    expect(markerOf(project)).not.toHaveProperty('wait')
  })
})

describe.concurrent('wait is refused', () => {
  it.each<[string, object, string, Record<string, string>?]>([
    ['for a marker without a session', { id: MAINS.id }, 'has no host session'],
    ['for the marker of another session', { ...MAINS, cc_session_id: OTHER_SESSION }, 'another host session'],
    ['for the marker of a sub-agent', { ...MAINS, agent_id: 'agent-a' }, 'is for a sub-agent'],
    ['for a marker of any agent of a type', { ...MAINS, agent_id: undefined, agent_type: 'w' }, 'is for a sub-agent'],
    ['to a sub-agent', MAINS, 'cannot wait here: a sub-agent', { CODEX_SESSION_ID: SESSION, CODEX_THREAD_ID: 'a' }],
    ["to droid's", MAINS, 'here: a sub', { POSTFLIGHT_DROID_SESSION: SESSION, POSTFLIGHT_DROID_SUBAGENT: SESSION }],
  ])('%s', async (_what, fields, why, env = ENV) => {
    const project = withMarker(fields)
    const before = project.read(MARKER)
    expect(await project.cli(WAIT, { env })).toMatchObject({ status: 1, stderr: expect.stringContaining(why) })
    expect(project.read(MARKER)).toBe(before)
  })

  it.each<[string, string[], string, Record<string, string>?]>([
    ['without --for', ['wait', '7'], '--for'],
    ['with an empty text', ['wait', '7', '--for', ''], 'must be one line of text'],
    ['outside a host', ['wait', '7', '--for', 'x'], 'session', {}],
    ['with two lines', ['wait', '7', '--for', 'a\nb'], 'must be one line of text without extra spaces, not "a\\nb"'],
  ])('%s, as a usage error', async (_what, words, why, env = ENV) => {
    expect(await withMarker().cli(words, { env })).toMatchObject({ status: 64, stderr: expect.stringContaining(why) })
  })

  it.each([
    ['run', SESSION, OTHER_SESSION, MARKER],
    ['marker', OTHER_SESSION, SESSION, 'specs/007_x/workflow/state.json'],
  ])('for the %s of another session, while the other one waits', async (_what, ofMarker, ofRun, waiting) => {
    const project = withMarker({ ...MAINS, cc_session_id: ofMarker })
    project.write('flow.json', JSON.stringify({ name: 'f', phases: [{ id: 'a', prompt: 'Go.', artifact: 'a.md' }] }))
    await project.cli(['workflow', 'start', '7', '--definition', 'flow.json', '--host-session', ofRun])
    const { status, stdout, stderr } = await project.cli(WAIT, { env: ENV })
    expect([status, stdout.split('  ')[0]]).toEqual([0, `waiting ${waiting}`])
    expect(stderr).toMatch(/^postflight: specs\/007_x\S+ belongs to .*session/)
    expect(project.journal().at(-1)).toMatchObject({ event: 'wait', host_session: SESSION })
  })

  it('for a task without a marker', async () => {
    const project = createSourceProject({ files: { 'specs/007_x/plan.md': '' } })
    expect((await project.cli(WAIT, { env: ENV })).status).toBe(1)
  })
})

describe.concurrent('work in the background', () => {
  const shell = (description: string | undefined) => ({ id: 'b1', type: 'shell', status: 'running', description })

  it('in shells holds the agent, and the reason names them and offers wait', async () => {
    const project = withMarker()
    const shells = ['npm run dev', 'npm run build', 'watch', 'tail\u001b[31m'].map(shell)
    const { answer } = await stopAt(project, 'p1', { background_tasks: [...shells, shell(undefined)] })
    expect(answer.reason).toContain('Running in the background: "npm run dev", "npm run build", "watch" and 2 more. ')
    expect(answer.reason).toContain('postflight wait 007_x --for "<what>"')
  })
})

it('whatever the order of waits, prompts and stops: three blocks at most, and no wait outlives its prompt', async () => {
  const act = fc.constantFrom('wait', 'next prompt', 'stop', 'tool', 'resume')
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.boolean(), async (acts, isWired) => {
      const project = withMarker()
      let prompt = 1
      let blocks = 0
      let waited = 0
      for (const one of acts) {
        if (!project.has(MARKER)) break
        if (one === 'next prompt') prompt += 1
        if (one === 'resume') await project.hook(sessionStart('resume'), { words: ['SessionStart'] })
        if (one === 'tool' && isWired)
          await project.hook(shellRan('postflight inspect', '', { prompt_id: `p${prompt}` }))
        if (one === 'wait') {
          const { stdout, status } = await project.cli(WAIT, { env: ENV })
          if (status === 0) waited = prompt
          if (isWired) await project.hook(shellRan(WAIT.join(' '), stdout, { prompt_id: `p${prompt}` }))
        }
        if (one !== 'stop') continue
        const run = await stopAt(project, `p${prompt}`)
        if (isBlock(run)) blocks += 1
        // Without PostToolUse, a wait is stamped at the first stop, which may be that of a later prompt.
        else if (project.has(MARKER) && isWired) expect(waited).toBe(prompt)
        if (isBlock(run) || !project.has(MARKER)) waited = 0
      }
      expect(blocks).toBeLessThanOrEqual(3)
    }),
    { numRuns: 60 },
  )
})
