import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, shellRan, stop, subagentStop } from '../../support/payloads.ts'
import { CLI } from '../../support/process.ts'
import { createProject, createSourceProject, type Project } from '../../support/project.ts'

// Which of a session's commands own a marker is in the tables of unit/marker/recorded-owner.test.ts.

const MARKER = 'specs/259_x/.postflight-pending'
const CREATE = 'postflight create 259 x --operation research'
const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const IN_AGENT_A = { agent_id: 'agent-a', agent_type: 'general-purpose' }

/** Runs `create` as a host's shell does, and returns its output. Claude Code's shell names the session but no agent. */
const createInShell = async (project: Project): Promise<string> =>
  (await project.cli(CREATE.split(' ').slice(1), { env: ENV })).stdout

function ownerOf(project: Project, name = MARKER): [unknown, unknown] {
  const marker = JSON.parse(project.read(name)) as Record<string, unknown>
  return [marker.cc_session_id, marker.agent_id]
}

describe.concurrent('a marker belongs to the agent that created it, as the host says', () => {
  it('a sub-agent', async () => {
    const project = createProject()
    expect((await project.hook(shellRan(CREATE, await createInShell(project), IN_AGENT_A))).stdout).toBe('{}\n')
    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
    expect(project.journal()).toMatchObject([
      { event: 'create' },
      { event: 'claim', task: '259_x', host_session: SESSION, agent: 'agent-a' },
    ])
    expect((await project.hook(stop())).answer).toEqual({})
    expect((await project.hook(subagentStop({ agent_id: 'agent-b' }))).answer).toEqual({})
    expect((await project.hook(subagentStop())).answer.decision).toBe('block')
  })

  it('the main conversation, whose tool calls carry no agent, although the command failed after that', async () => {
    const project = createSourceProject()
    const error = `Exit code 1\n${await createInShell(project)}`
    const failed = { hook_event_name: 'PostToolUseFailure', tool_response: undefined, error, is_interrupt: false }
    await project.hook(shellRan(`${CREATE}; npm test`, '', failed))
    expect(ownerOf(project)).toEqual([SESSION, 'main'])
    expect((await project.hook(subagentStop())).answer).toEqual({})
    expect((await project.hook(stop())).answer.decision).toBe('block')
  })

  it('and keeps unknown fields and its count', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    await project.hook(subagentStop())
    project.write(MARKER, JSON.stringify({ ...JSON.parse(project.read(MARKER)), custom: ['kept'] }))
    await project.hook(shellRan(CREATE, output, IN_AGENT_A))
    expect(JSON.parse(project.read(MARKER))).toMatchObject({ custom: ['kept'], agent_id: 'agent-a' })
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 2 of 3')
  })

  it.each([
    [ENV, [], IN_AGENT_A, 'agent-a'],
    [{ ...ENV, CODEX_SESSION_ID: OTHER_SESSION }, ['--agent', 'main'], {}, 'main'],
  ])("of the host's session, also inside another host's shell: %j %j", async (env, words, agent, owner) => {
    const project = createSourceProject()
    const { stdout } = await project.cli([...CREATE.split(' ').slice(1), ...words], { env })
    await project.hook(shellRan(CREATE, stdout, { ...agent, session_id: OTHER_SESSION, duration_ms: 5000 }))
    expect(ownerOf(project)).toEqual([OTHER_SESSION, owner])
  })
})

describe.concurrent('a marker does not get a new owner', () => {
  it('from an agent that only prints one without a session', async () => {
    const project = createProject()
    await project.cli(CREATE.split(' ').slice(1))
    const looked = await project.cli(['inspect', '--json'])
    const before = project.snapshot()
    await project.hook(shellRan('postflight inspect --json', looked.stdout, { agent_id: 'agent-b' }))
    await project.hook(shellRan(`cat ${MARKER}`, project.read(MARKER), { agent_id: 'agent-b' }))
    expect(project.snapshot()).toEqual(before)
  })

  it('from another session, if an option named its own', async () => {
    const project = createSourceProject()
    const { stdout } = await project.cli([...CREATE.split(' ').slice(1), '--host-session', SESSION])
    const before = project.snapshot()
    await project.hook(shellRan(CREATE, stdout, { ...IN_AGENT_A, session_id: OTHER_SESSION }))
    expect(project.snapshot()).toEqual(before)
  })

  it('when only the command names it', async () => {
    const project = createSourceProject()
    const [id = ''] = /pf_\w+/.exec(await createInShell(project)) ?? []
    const before = project.snapshot()
    await project.hook(shellRan(`echo\n${id}`, '', IN_AGENT_A))
    expect(project.snapshot()).toEqual(before)
  })
})

describe.concurrent('the owner is written', () => {
  it('in the right one of several markers', async () => {
    const project = createSourceProject()
    const first = await project.cli(['create', '1', 'a'], { env: ENV })
    const second = await project.cli(['create', '2', 'b'], { env: ENV })
    await project.hook(shellRan('postflight create 2 b', second.stdout, { agent_id: 'agent-b' }))
    await project.hook(shellRan('postflight create 1 a', first.stdout, { agent_id: 'agent-a' }))
    expect(ownerOf(project, 'specs/001_a/.postflight-pending')).toEqual([SESSION, 'agent-a'])
    expect(ownerOf(project, 'specs/002_b/.postflight-pending')).toEqual([SESSION, 'agent-b'])
  })

  it('though the agent is in a worktree of its own', async () => {
    const project = createSourceProject()
    const worktree = '.claude/worktrees/agent-a'
    project.write(join(worktree, '.git'), 'gitdir: elsewhere')
    project.write(join(worktree, 'specs/x'), '')
    const cwd = project.at(worktree)
    const { stdout } = await project.cli(['create', '1', 'a'], { cwd, env: ENV })
    const env = { CLAUDE_PROJECT_DIR: project.dir }
    await project.hook(shellRan('postflight create 1 a', stdout, IN_AGENT_A), { cwd, env })
    expect(ownerOf(project, join(worktree, 'specs/001_a/.postflight-pending'))).toEqual([SESSION, 'agent-a'])
  })

  it('never to a marker that the same command cleared: it does not come back', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    await project.cli(['clear', '259'])
    expect((await project.hook(shellRan(`${CREATE} && postflight clear 259`, output, IN_AGENT_A))).stdout).toBe('{}\n')
    expect(project.has(MARKER)).toBe(false)
  })

  it('unless another process holds the lock: after at most a second the hook gives up, and stderr says so', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    project.write('specs/259_x/.postflight-lock', '1 1\n')
    const run = await project.hook(shellRan(CREATE, output, IN_AGENT_A))
    expect(run).toMatchObject({ stdout: '{}\n', stderr: expect.stringContaining('the owner was not recorded') })
    expect(run.durationMs).toBeLessThan(4000)
    expect(ownerOf(project)).toEqual([SESSION, undefined])
  })

  it('unless other processes hold many locks: when its time is over the hook gives up, and stderr says so', async () => {
    const project = createSourceProject()
    const ids = Array.from({ length: 9 }, (_, at) => `pf_abcdefghijk${at}`)
    for (const [at, id] of ids.entries()) {
      project.marker(`00${at}_x`, { id, cc_session_id: SESSION })
      project.write(`specs/00${at}_x/.postflight-lock`, '')
    }
    const run = await project.hook(shellRan('make ids', ids.join('\n'), IN_AGENT_A), { judgesForMs: 100 })
    expect(run).toMatchObject({ stdout: '{}\n', stderr: expect.stringContaining('there was no time left') })
    // It waited for the first lock only.
    expect(run.durationMs).toBeLessThan(3000)
  })
})

describe.concurrent('a marker whose creation printed nothing to the host', () => {
  const CAUGHT = 'id=$(postflight create 7 x --quiet)'
  const SEVENTH = 'specs/007_x/.postflight-pending'
  const createCaught = (project: Project, task: string) => project.cli(['create', task, 'x', '--quiet'], { env: ENV })

  it('belongs to the agent whose call it was made in', async () => {
    const project = createProject()
    await createCaught(project, '7')
    await project.hook(shellRan(CAUGHT, '', { duration_ms: 5000 }))
    expect(ownerOf(project, SEVENTH)).toEqual([SESSION, 'main'])
  })

  it('has no known owner if two were made in the call', async () => {
    const project = createSourceProject()
    for (const task of ['7', '8']) await createCaught(project, task)
    await project.hook(shellRan(CAUGHT, '', { duration_ms: 5000 }))
    expect(ownerOf(project, SEVENTH)).toEqual([SESSION, undefined])
  })

  it('has no known owner if the call printed the line of another marker', async () => {
    const project = createSourceProject()
    await createCaught(project, '7')
    await project.hook(shellRan(CREATE, await createInShell(project), { ...IN_AGENT_A, duration_ms: 5000 }))
    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
    expect(ownerOf(project, SEVENTH)).toEqual([SESSION, undefined])
  })
})

describe.concurrent('create says on stderr that the owner is unknown, and what to add', () => {
  const NOTE = /^postflight: the output of this command does not reach the hook.*--agent main.*\n$/
  const SILENT = 'postflight create 7 x >/dev/null'
  const PIPED = 'postflight create 7 x | cat >/dev/null'
  it.each([
    ['where the host tells no times', 'COPILOT_AGENT_SESSION_ID', SILENT, NOTE],
    ['not where the hook learns it from the time of the call', 'CLAUDE_CODE_SESSION_ID', SILENT, /^$/],
    ['where the call made two markers', 'CLAUDE_CODE_SESSION_ID', `postflight create 8 y >/dev/null; ${SILENT}`, NOTE],
    ['where a pipe catches it', 'CODEX_SESSION_ID', PIPED, NOTE],
    ['not for the pipe of the shell itself', 'COPILOT_AGENT_SESSION_ID', PIPED, /^$/],
  ])('%s', async (_where, variable, script, said) => {
    const project = createProject({ wired: true })
    const ours = `postflight() { "${process.execPath}" "${CLI}" "$@"; }`
    expect((await project.shell(`${ours}; ${script}`, { env: { [variable]: SESSION } })).stderr).toMatch(said)
  })
})

describe.concurrent('a marker of another agent of the session is not replaced', () => {
  const again = ['create', '259', '--operation', 'plan']

  async function withMainsPromise(): Promise<Project> {
    const project = createSourceProject()
    await project.hook(shellRan(CREATE, await createInShell(project)))
    return project
  }

  it('by an agent that its shell does not name: the conflict says what to add', async () => {
    const project = await withMainsPromise()
    const before = project.read(MARKER)
    const run = await project.cli(again, { env: ENV })
    expect(run.status).toBe(1)
    expect(run.stderr).toContain('is pending for the main conversation (research)')
    expect(run.stderr).toContain('--agent main')
    expect(project.read(MARKER)).toBe(before)
  })

  it.each([['--agent', 'main'], ['--force']])('except with %s', async (...more) => {
    const project = await withMainsPromise()
    expect((await project.cli([...again, ...more], { env: ENV })).status).toBe(0)
    expect(JSON.parse(project.read(MARKER)).operation).toBe('plan')
  })

  it.each([
    ['an unnamed agent, for agents of a type', ['--operation', 'research', '--agent-type', 'Explore']],
    ['an unnamed agent with another checklist, and no operation', ['--step', 'z']],
    ['an unnamed agent with another reason, and no operation', ['--reason', 'mine']],
    ['an unnamed agent with a check, and no operation', ['--check', 'true']],
    ['another agent that is known, whatever the operation', ['x', '--operation', 'research', '--agent', 'agent-b']],
  ])('by %s', async (_how, more) => {
    const project = await withMainsPromise()
    const before = project.read(MARKER)
    expect((await project.cli(['create', '259', ...more], { env: ENV })).status).toBe(1)
    expect(project.read(MARKER)).toBe(before)
  })

  it('but renewed as it is', async () => {
    const project = await withMainsPromise()
    expect((await project.cli(['create', '259'], { env: ENV })).stdout).toMatch(/^renewed /)
    expect(ownerOf(project)).toEqual([SESSION, 'main'])
  })
})
