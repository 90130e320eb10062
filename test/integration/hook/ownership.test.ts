import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, shellRan, stop, subagentStop } from '../../support/payloads.ts'
import { CLI } from '../../support/process.ts'
import { createProject, createSourceProject, type Project } from '../../support/project.ts'

const MARKER = 'specs/259_x/.postflight-pending'
const CREATE = 'postflight create 259 x --operation research'

/** Runs `create` as a host's shell does, and returns its output. Claude Code's shell names the session but no agent. */
async function createInShell(project: Project): Promise<string> {
  const run = await project.cli(CREATE.split(' ').slice(1), { env: { CLAUDE_CODE_SESSION_ID: SESSION } })
  return run.stdout
}

function ownerOf(project: Project, name = MARKER): [unknown, unknown] {
  const marker = JSON.parse(project.read(name)) as Record<string, unknown>
  return [marker.cc_session_id, marker.agent_id]
}

const IN_AGENT_A = { agent_id: 'agent-a', agent_type: 'general-purpose' }

describe.concurrent('a marker belongs to the agent that created it, as the host says', () => {
  it('a sub-agent', async () => {
    const project = createProject()
    const output = await createInShell(project)

    const run = await project.hook(shellRan(CREATE, output, IN_AGENT_A))

    expect(run.stdout).toBe('{}\n')
    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
    expect(project.journal()).toMatchObject([
      { event: 'create' },
      { event: 'claim', task: '259_x', host_session: SESSION, agent: 'agent-a' },
    ])
    expect((await project.hook(stop())).answer).toEqual({})
    expect((await project.hook(subagentStop({ agent_id: 'agent-b' }))).answer).toEqual({})
    expect((await project.hook(subagentStop())).answer.decision).toBe('block')
  })

  it('the main conversation, whose tool calls carry no agent', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)

    await project.hook(shellRan(CREATE, output))

    expect(ownerOf(project)).toEqual([SESSION, 'main'])
    expect((await project.hook(subagentStop())).answer).toEqual({})
    expect((await project.hook(stop())).answer.decision).toBe('block')
  })

  it('in a compound command, with other output around the id', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)

    await project.hook(shellRan(`cd /x && ${CREATE} 2>&1 | tee log`, `noise\n${output}more noise`, IN_AGENT_A))

    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
  })

  it.each([
    ['a string', (text: string) => text],
    ['a list of parts', (text: string) => [{ type: 'text', text }]],
    ['stderr', (text: string) => ({ stdout: '', stderr: text })],
  ])("in a host's own form of the output: %s", async (_form, asResponse) => {
    const project = createSourceProject()
    const output = await createInShell(project)

    await project.hook(shellRan(CREATE, '', { ...IN_AGENT_A, tool_response: asResponse(output) }))

    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
  })

  it('and keeps unknown fields and its count', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    await project.hook(subagentStop())
    const fields = JSON.parse(project.read(MARKER)) as object
    project.write(MARKER, JSON.stringify({ ...fields, custom: ['kept'] }))

    await project.hook(shellRan(CREATE, output, IN_AGENT_A))

    expect(JSON.parse(project.read(MARKER))).toMatchObject({ custom: ['kept'], agent_id: 'agent-a' })
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 2 of 3')
  })

  it('where the environment is empty: session and agent come from the payload', async () => {
    const project = createSourceProject()
    const run = await project.cli(CREATE.split(' ').slice(1))

    await project.hook(shellRan(CREATE, run.stdout, IN_AGENT_A))

    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
  })

  it('and stays the same when an agent that its shell does not name renews it', async () => {
    const project = createSourceProject()
    await project.hook(shellRan(CREATE, await createInShell(project), IN_AGENT_A))

    await project.hook(shellRan(CREATE, await createInShell(project), { agent_id: 'agent-b' }))

    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
  })

  it('of the session of the host that ran create, also inside the shell of another host', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)

    await project.hook(shellRan(CREATE, output, { ...IN_AGENT_A, session_id: OTHER_SESSION, duration_ms: 5000 }))

    expect(ownerOf(project)).toEqual([OTHER_SESSION, 'agent-a'])
  })
})

describe.concurrent('a marker does not get a new owner', () => {
  it('from an agent that only prints it', async () => {
    const project = createProject()
    await project.hook(shellRan(CREATE, await createInShell(project), IN_AGENT_A))
    const looked = await project.cli(['inspect', '--json'])
    const before = project.snapshot()

    await project.hook(shellRan('postflight inspect --json', looked.stdout, { agent_id: 'agent-b' }))
    await project.hook(shellRan('postflight inspect --json', looked.stdout))

    expect(project.snapshot()).toEqual(before)
  })

  it('from an agent that only prints one without a session', async () => {
    const project = createSourceProject()
    await project.cli(CREATE.split(' ').slice(1))
    const looked = await project.cli(['inspect', '--json'])
    const before = project.snapshot()

    await project.hook(shellRan('postflight inspect --json', looked.stdout, { agent_id: 'agent-b' }))
    await project.hook(shellRan(`cat ${MARKER}`, project.read(MARKER), { agent_id: 'agent-b' }))

    expect(project.snapshot()).toEqual(before)
  })

  it('from another session', async () => {
    const project = createSourceProject()
    const { stdout } = await project.cli([...CREATE.split(' ').slice(1), '--host-session', SESSION])
    const before = project.snapshot()

    await project.hook(shellRan(CREATE, stdout, { ...IN_AGENT_A, session_id: OTHER_SESSION }))

    expect(project.snapshot()).toEqual(before)
  })

  it.each([
    ['the output names another id', CREATE, 'created x  pf_aaaaaaaaaaaa'],
    ['the output is empty', CREATE, ''],
    ['only the command names it', 'ID', ''],
  ])('when %s', async (_when, command, output) => {
    const project = createSourceProject()
    await createInShell(project)
    const { id } = JSON.parse(project.read(MARKER)) as { id: string }
    const before = project.snapshot()

    await project.hook(shellRan(command.replace('ID', `echo ${id}`), output, IN_AGENT_A))

    expect(project.snapshot()).toEqual(before)
  })

  it('from a tool that is not a shell', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    const before = project.snapshot()

    await project.hook(shellRan('x', output, { ...IN_AGENT_A, tool_name: 'Read', tool_input: { file_path: '/x' } }))

    expect(project.snapshot()).toEqual(before)
  })

  it('when it does not parse, or has a foreign id', async () => {
    const project = createSourceProject()
    project.marker('001_bare', 'pf_aaaaaaaaaaaa')
    project.marker('002_evil', { id: 'pf_../../../etc', cc_session_id: SESSION })
    const before = project.snapshot()

    const output = 'pf_aaaaaaaaaaaa pf_../../../etc'
    await project.hook(shellRan('postflight create 1 x', output, IN_AGENT_A))

    expect(project.snapshot()).toEqual(before)
  })
})

describe.concurrent('the owner is written', () => {
  it('in the right one of several markers', async () => {
    const project = createProject()
    const env = { CLAUDE_CODE_SESSION_ID: SESSION }
    const first = await project.cli(['create', '1', 'a'], { env })
    const second = await project.cli(['create', '2', 'b'], { env })

    await project.hook(shellRan('postflight create 2 b', second.stdout, { agent_id: 'agent-b' }))
    await project.hook(shellRan('postflight create 1 a', first.stdout, { agent_id: 'agent-a' }))

    expect(ownerOf(project, 'specs/001_a/.postflight-pending')).toEqual([SESSION, 'agent-a'])
    expect(ownerOf(project, 'specs/002_b/.postflight-pending')).toEqual([SESSION, 'agent-b'])
  })

  it('though the agent is in a worktree of its own', async () => {
    const project = createSourceProject()
    const worktree = join(project.dir, '.claude', 'worktrees', 'agent-a')
    mkdirSync(join(worktree, 'specs'), { recursive: true })
    writeFileSync(join(worktree, '.git'), 'gitdir: elsewhere')
    const env = { CLAUDE_CODE_SESSION_ID: SESSION }
    const run = await project.cli(['create', '1', 'a'], { cwd: worktree, env })

    await project.hook(shellRan('postflight create 1 a', run.stdout, IN_AGENT_A), {
      cwd: worktree,
      env: { CLAUDE_PROJECT_DIR: project.dir },
    })

    const marker: unknown = JSON.parse(readFileSync(join(worktree, 'specs/001_a/.postflight-pending'), 'utf8'))
    expect(marker).toMatchObject({ agent_id: 'agent-a' })
  })

  it('never to a marker that the same command cleared: it does not come back', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    await project.cli(['clear', '259'])

    const run = await project.hook(shellRan(`${CREATE} && postflight clear 259`, output, IN_AGENT_A))

    expect(run.stdout).toBe('{}\n')
    expect(project.has(MARKER)).toBe(false)
  })

  it('unless another process holds the lock: after at most a second the hook gives up, and stderr says so', async () => {
    const project = createSourceProject()
    const output = await createInShell(project)
    project.write('specs/259_x/.postflight-lock', '1 1\n')

    const run = await project.hook(shellRan(CREATE, output, IN_AGENT_A))

    expect(run.stdout).toBe('{}\n')
    expect(run.stderr).toContain('the owner was not recorded')
    expect(run.durationMs).toBeLessThan(4000)
    expect(ownerOf(project)).toEqual([SESSION, undefined])
  })

  it('unless other processes hold many locks: when its time is over the hook gives up, and stderr says so', async () => {
    const project = createSourceProject()
    const ids = Array.from({ length: 9 }, (_, at) => `pf_abcdefghijk${at}`)
    for (const [at, id] of ids.entries()) project.marker(`00${at}_x`, { id, cc_session_id: SESSION })
    const output = ids.join('\n')
    for (const at of ids.keys()) project.write(`specs/00${at}_x/.postflight-lock`, '')

    const run = await project.hook(shellRan('make ids', output, IN_AGENT_A), { judgesForMs: 100 })

    expect(run.stdout).toBe('{}\n')
    expect(run.stderr).toContain('there was no time left')
    // It waited for the first lock only.
    expect(run.durationMs).toBeLessThan(3000)
  })
})

/** Runs `create` with its output caught, in a call of some seconds. */
async function createCaught(project: Project, task: string, ...more: string[]): Promise<void> {
  const env = { CLAUDE_CODE_SESSION_ID: SESSION }
  await project.cli(['create', task, 'x', '--quiet', ...more], { env })
}

const CAUGHT = 'id=$(postflight create 7 x --quiet)'

describe.concurrent('a marker whose creation printed nothing to the host', () => {
  it('belongs to the agent whose call it was made in', async () => {
    const project = createProject()
    await createCaught(project, '7')

    await project.hook(shellRan(CAUGHT, '', { duration_ms: 5000 }))

    expect(ownerOf(project, 'specs/007_x/.postflight-pending')).toEqual([SESSION, 'main'])
  })

  it('stays with main while a sub-agent looks around, and holds main alone', async () => {
    const project = createSourceProject()
    await createCaught(project, '7')
    await project.hook(shellRan(CAUGHT, '', { duration_ms: 5000 }))
    const marker = 'specs/007_x/.postflight-pending'
    const looked = { ...IN_AGENT_A, duration_ms: 5000 }
    await project.hook(shellRan('postflight inspect --json', (await project.cli(['inspect', '--json'])).stdout, looked))
    await project.hook(shellRan(`cat ${marker} # postflight`, project.read(marker), looked))
    await project.hook(shellRan('postflight logs', (await project.cli(['logs'])).stdout, looked))

    expect((await project.hook(subagentStop())).answer).toEqual({})
    expect((await project.hook(stop())).answer.decision).toBe('block')
  })

  it.each([
    ['two were made in the call', '', { duration_ms: 5000 }],
    ['another session made it', '', { duration_ms: 5000, session_id: OTHER_SESSION }],
    ['the host does not tell how long the call took', '', {}],
  ])('has no known owner if %s', async (what, output, more) => {
    const project = createSourceProject()
    await createCaught(project, '7')
    if (what.startsWith('two')) await createCaught(project, '8')

    await project.hook(shellRan(CAUGHT, output, more))

    expect(ownerOf(project, 'specs/007_x/.postflight-pending')).toEqual([SESSION, undefined])
  })

  it.each([
    'bash .claude/postflight/steps/step-1.sh',
    './postflight-start.sh && sleep 1 && wait',
    'cd x; sh -e run.sh',
  ])('belongs to the agent whose script made it: %s', async (command) => {
    const project = createSourceProject()
    await createCaught(project, '7')

    await project.hook(shellRan(command, '', { duration_ms: 5000 }))

    expect(ownerOf(project, 'specs/007_x/.postflight-pending')).toEqual([SESSION, 'main'])
  })

  it('has no known owner if the call printed the line of another marker', async () => {
    const project = createSourceProject()
    await createCaught(project, '7')
    const output = await createInShell(project)

    await project.hook(shellRan(CREATE, output, { ...IN_AGENT_A, duration_ms: 5000 }))

    expect(ownerOf(project)).toEqual([SESSION, 'agent-a'])
    expect(ownerOf(project, 'specs/007_x/.postflight-pending')).toEqual([SESSION, undefined])
  })

  it('has no known owner if it was made before the call', async () => {
    const project = createSourceProject()
    const created = new Date(Date.now() - 60_000).toISOString()
    project.marker('007_x', { id: 'pf_abcdefghijkl', cc_session_id: SESSION, created })

    await project.hook(shellRan(CAUGHT, '', { duration_ms: 5000 }))

    expect(ownerOf(project, 'specs/007_x/.postflight-pending')).toEqual([SESSION, undefined])
  })

  it.each([
    'postflight inspect',
    'cat specs/007_x/.postflight-pending',
    'ls -la specs/*/.postflight-*',
    'npm test; grep -r postflight .',
  ])('has no known owner if the call only read: %s', async (command) => {
    const project = createSourceProject()
    await createCaught(project, '7')

    await project.hook(shellRan(command, '', { ...IN_AGENT_A, duration_ms: 20_000 }))

    expect(ownerOf(project, 'specs/007_x/.postflight-pending')).toEqual([SESSION, undefined])
  })
})

describe.concurrent('create says on stderr that the owner is unknown, and what to add', () => {
  it.each([
    ['where the host tells no times', 'COPILOT_AGENT_SESSION_ID', '', true],
    ['not where the hook learns it from the time of the call', 'CLAUDE_CODE_SESSION_ID', '', false],
    ['where the call made two markers', 'CLAUDE_CODE_SESSION_ID', 'postflight create 8 y >/dev/null; ', true],
  ])('%s', async (_where, variable, before, isSaid) => {
    const project = createProject({ wired: true })
    const script = `postflight() { "${process.execPath}" "${CLI}" "$@"; }; ${before}postflight create 7 x > /dev/null`

    const { stderr } = await project.shell(script, { env: { [variable]: SESSION } })

    if (isSaid)
      expect(stderr).toMatch(/^postflight: the output of this command does not reach the hook.*--agent main.*\n$/)
    else expect(stderr).toBe('')
  })

  it.each([
    ['COPILOT_AGENT_SESSION_ID', false],
    ['CODEX_SESSION_ID', true],
  ])('where a pipe catches it, but not for the pipe of the shell itself: %s', async (variable, isSaid) => {
    const project = createProject({ wired: true })
    const script = `"${process.execPath}" "${CLI}" create 7 x | cat`

    const { stderr } = await project.shell(script, { env: { [variable]: SESSION } })

    expect(stderr !== '').toBe(isSaid)
  })
})

describe.concurrent('a known owner stays', () => {
  it.each([
    ['an old line', { duration_ms: 20 }],
    ['an old line, of a call whose time is not known', {}],
  ])('when another session prints %s', async (_what, more) => {
    const project = createProject()
    const words = [...CREATE.split(' ').slice(1), '--agent', 'main', '--step', 'one']
    const { stdout } = await project.cli(words, { env: { CLAUDE_CODE_SESSION_ID: SESSION } })
    await project.cli(['step', '259', '1'])

    await project.hook(shellRan('grep create build.log', stdout, { ...more, session_id: OTHER_SESSION }))

    expect(ownerOf(project)).toEqual([SESSION, 'main'])
  })
})

describe.concurrent('a marker of another agent of the session is not replaced', () => {
  const again = ['create', '259', '--operation', 'plan']
  const env = { CLAUDE_CODE_SESSION_ID: SESSION }

  async function withMainsPromise(): Promise<Project> {
    const project = createProject()
    await project.hook(shellRan(CREATE, await createInShell(project)))
    return project
  }

  it('by an agent that its shell does not name: the conflict says what to add', async () => {
    const project = await withMainsPromise()
    const before = project.read(MARKER)

    const run = await project.cli(again, { env })

    expect(run.status).toBe(1)
    expect(run.stderr).toContain('is pending for the main conversation (research)')
    expect(run.stderr).toContain('--agent main')
    expect(project.read(MARKER)).toBe(before)
  })

  it.each([['--agent', 'main'], ['--force']])('except with %s', async (...more) => {
    const project = await withMainsPromise()

    expect((await project.cli([...again, ...more], { env })).status).toBe(0)

    expect(JSON.parse(project.read(MARKER)).operation).toBe('plan')
  })

  it.each([
    ['for agents of a type', ['--operation', 'research', '--agent-type', 'Explore']],
    ['with another checklist, and no operation', ['--step', 'z']],
    ['with another reason, and no operation', ['--reason', 'mine']],
  ])('by an agent that its shell does not name: %s', async (_how, more) => {
    const project = await withMainsPromise()
    const before = project.read(MARKER)

    expect((await project.cli(['create', '259', ...more], { env })).status).toBe(1)

    expect(project.read(MARKER)).toBe(before)
  })

  it('but renewed as it is', async () => {
    const project = await withMainsPromise()

    expect((await project.cli(['create', '259'], { env })).stdout).toMatch(/^renewed /)

    expect(ownerOf(project)).toEqual([SESSION, 'main'])
  })

  it('by another agent that is known, whatever the operation', async () => {
    const project = await withMainsPromise()

    expect((await project.cli([...CREATE.split(' ').slice(1), '--agent', 'agent-b'], { env })).status).toBe(1)
  })
})
