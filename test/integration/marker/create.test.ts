import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeNewMarker } from '../../../src/marker/marker-store.ts'
import { taskFolderBelow } from '../../../src/project/task-folders.ts'
import { OTHER_SESSION, SESSION, subagentStop } from '../../support/payloads.ts'
import {
  createProject,
  createSourceProject,
  type Project,
  type ProjectOptions,
  withMarker,
  withoutPrivileges,
} from '../../support/project.ts'

const SEED_WORDS = ['259', 'prove_completeness', '--skill', 'skill-lean-research', '--operation', 'research']
const SEED_MARKER = 'specs/259_prove_completeness/.postflight-pending'
const SEED_GUARD = 'specs/259_prove_completeness/.postflight-loop-guard'

function readMarker(project: Project, name = SEED_MARKER): Record<string, unknown> {
  return JSON.parse(project.read(name)) as Record<string, unknown>
}

function createFor(project: Project, session: string, ...more: string[]) {
  return project.cli(['create', ...SEED_WORDS, '--host-session', session, '--json', ...more])
}

describe.concurrent('create writes the marker', () => {
  it('with every required field of the protocol, in the task folder, and no other file but the journal', async () => {
    const project = createSourceProject({ specs: false })
    const before = Date.now()
    const run = await project.cli(['create', ...SEED_WORDS])
    expect(run).toMatchObject({ status: 0, stderr: '' })
    const marker = readMarker(project)
    expect(marker).toEqual({
      id: expect.stringMatching(/^pf_[a-z0-9]{12}$/),
      session_id: expect.stringMatching(/^sess_\d{10}_[a-z0-9]{6}$/),
      skill: 'skill-lean-research',
      task_number: 259,
      operation: 'research',
      reason: 'Postflight operations pending',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      stop_hook_active: false,
    })
    const created = Date.parse(String(marker.created))
    expect(created).toBeGreaterThanOrEqual(Math.floor(before / 1000) * 1000)
    expect(created).toBeLessThanOrEqual(Date.now())
    const [first, ...notes] = run.stdout.trimEnd().split('\n')
    expect(first).toBe(`created ${SEED_MARKER}  ${marker.id}`)
    expect(notes.join()).toMatch(/Not run by an agent.*--host-session/)
    expect(Object.keys(project.snapshot('specs'))).toEqual([
      ...['.postflight', '.postflight/.gitignore', '.postflight/journal.jsonl'],
      ...['259_prove_completeness', '259_prove_completeness/.postflight-pending'],
    ])
    expect(project.journal()).toMatchObject([{ event: 'create', task: '259_prove_completeness' }])
  })

  it('and prints one JSON document with --json', async () => {
    const project = createSourceProject()
    const run = await createFor(project, SESSION, '--agent', 'agent-a')
    expect(run.json()).toEqual({
      dropped_steps: [],
      kept_unchecked: false,
      id: readMarker(project).id,
      path: project.at(SEED_MARKER),
      task: '259_prove_completeness',
      renewed: false,
      replaced: null,
      owner: { host_session: SESSION, agent: 'agent-a' },
    })
  })

  it('with the values of all options, in the order of the original pattern', async () => {
    const project = createSourceProject()
    await createFor(
      project,
      SESSION,
      ...['--agent', 'agent-a', '--agent-type', 'planner', '--reason', 'A "quoted" reason\nof two lines'],
      ...['--session-id', 'sess_1', '--step', 'update status', '--step', 'git commit', '--check', 'npm test'],
    )
    const marker = readMarker(project)
    expect(Object.keys(marker)).toEqual([
      ...['id', 'session_id', 'skill', 'task_number', 'operation', 'reason', 'created', 'stop_hook_active'],
      ...['cc_session_id', 'agent_id', 'agent_type', 'steps', 'checks'],
    ])
    expect(marker).toMatchObject({
      session_id: 'sess_1',
      reason: 'A "quoted" reason\nof two lines',
      cc_session_id: SESSION,
      agent_id: 'agent-a',
      agent_type: 'planner',
      steps: ['update status', 'git commit'].map((name) => ({ name, done: false })),
      checks: [{ run: 'npm test' }],
    })
  })

  it('without the agent main for a type of sub-agent, even if main’s shell runs it', async () => {
    const project = createSourceProject()
    const env = { CODEX_SESSION_ID: SESSION, CODEX_THREAD_ID: SESSION }
    await project.cli(['create', ...SEED_WORDS, '--agent-type', 'worker'], { env })
    expect(readMarker(project)).toMatchObject({ cc_session_id: SESSION, agent_type: 'worker' })
    expect(readMarker(project)).not.toHaveProperty('agent_id')
    expect((await project.hook(subagentStop({ agent_type: 'worker' }))).answer.decision).toBe('block')
    expect((await project.hook(subagentStop({ agent_type: 'other' }))).answer.decision).toBeUndefined()
  })
})

describe.concurrent('create finds or makes the task folder', () => {
  const BARE = { specs: false }

  it.each<[string, ProjectOptions, string, string[], string]>([
    ['pads the number to three digits', {}, '.', ['7', 'x'], 'specs/007_x'],
    ['makes specs/ beside the nearest .git, from a folder below it', BARE, 'src', ['7', 'x'], 'specs/007_x'],
    ['makes specs/ here outside any repository', { ...BARE, git: false }, '.', ['7', 'x'], 'specs/007_x'],
    ['makes specs/ in the folder that --root names', BARE, '.', ['7', 'x', '--root', 'src'], 'src/specs/007_x'],
    ['does not reopen an archived task by its number', {}, '.', ['12', 'y'], 'specs/012_y'],
  ])('%s', async (_, options, cwd, words, folder) => {
    const project = createSourceProject(options)
    mkdirSync(project.at('src'))
    if (options.specs !== false) mkdirSync(project.at('specs/archive/012_x'), { recursive: true })
    expect((await project.cli(['create', ...words], { cwd: project.at(cwd) })).status).toBe(0)
    expect(readMarker(project, `${folder}/.postflight-pending`)).toMatchObject({ task_number: Number(words[0]) })
    for (const specs of ['specs', 'src/specs']) expect(project.has(specs)).toBe(folder.startsWith(`${specs}/`))
  })

  it('finds the folder again by its number and by its name', async () => {
    const project = createSourceProject()
    await project.cli(['create', ...SEED_WORDS])
    for (const task of ['259', '259_prove_completeness']) {
      expect((await project.cli(['create', task, '--json'])).json().path).toBe(project.at(SEED_MARKER))
    }
  })

  it.each<[string, string[], string[], number, RegExp]>([
    ['asks for a slug if the task has no folder yet', [], ['7'], 64, /give a slug/],
    ['refuses a second folder for a number', ['007_a'], ['7', 'another_slug'], 1, /007_a/],
    ['reports a number with several folders', ['007_a', '007_b'], ['7'], 64, /007_a, 007_b/],
    ['refuses a slug beside a folder’s name', ['007_a'], ['7_b', 'c'], 64, /"7_b" already contains a slug: omit "c"/],
  ])('%s', async (_, folders, words, status, message) => {
    const project = createSourceProject()
    for (const folder of folders) mkdirSync(project.at('specs', folder))
    const before = project.snapshot()
    const run = await project.cli(['create', ...words])
    expect(run.status).toBe(status)
    expect(run.stderr).toMatch(message)
    expect(project.snapshot()).toEqual(before)
  })
})

describe.concurrent('create refuses these, and writes nothing:', () => {
  it.each(['--skill', '--operation', '--session-id', '--host-session', '--agent', '--agent-type', '--step'])(
    'a %s that is empty or has several lines',
    async (option) => {
      const project = createSourceProject({ specs: false })
      const lines = await project.cli(['create', '7', 'x', option, 'two\nlines'])
      const empty = await project.cli(['create', '7', 'x', option, ''])
      expect([lines.status, empty.status]).toEqual([64, 64])
      expect(lines.stderr).toContain(option)
      expect(project.snapshot()).toEqual({})
    },
  )

  it.each(['--host-session', '--agent', '--agent-type'])('a %s that is longer than any id', async (option) => {
    const project = createSourceProject({ specs: false })
    const run = await project.cli(['create', '7', 'x', option, 'x'.repeat(257)])
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining(`${option} must have at most 256 `) })
    expect(project.snapshot()).toEqual({})
    expect((await project.cli(['create', '7', 'x', option, 'x'.repeat(256)])).status).toBe(0)
  })

  it('more steps than a marker can have', async () => {
    const project = createSourceProject({ specs: false })
    const steps = (count: number): string[] => Array.from({ length: count }, (_, at) => ['--step', `s${at}`]).flat()
    const run = await project.cli(['create', '7', 'x', ...steps(101)])
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining('--step can be given at most 100 times') })
    expect(project.snapshot()).toEqual({})
    expect((await project.cli(['create', '7', 'x', ...steps(100)])).status).toBe(0)
  })

  it.each(['specs', 'specs/007_x'])('%s that is a link to elsewhere', async (name) => {
    const project = createSourceProject({ specs: name !== 'specs' })
    mkdirSync(join(project.base, 'elsewhere'))
    symlinkSync(join(project.base, 'elsewhere'), project.at(name))
    const run = await project.cli(['create', '7', 'x'])
    expect(run).toMatchObject({ status: 73, stderr: expect.stringContaining('a link') })
    expect(project.snapshot('../elsewhere')).toEqual({})
  })

  it.each(['a link', 'a folder'])('a marker that is %s', async (kind) => {
    const project = createSourceProject()
    mkdirSync(project.at('specs/007_x'))
    if (kind === 'a folder') mkdirSync(project.at('specs/007_x/.postflight-pending'))
    else symlinkSync(project.write('mine.txt', 'precious'), project.at('specs/007_x/.postflight-pending'))
    expect(await project.cli(['create', '7', 'x'])).toMatchObject({ status: 65, stderr: expect.stringContaining(kind) })
    if (kind === 'a link') expect(project.read('mine.txt')).toBe('precious')
  })
})

describe.concurrent('create learns host session and agent from the environment', () => {
  const CODEX = { CODEX_SESSION_ID: 's', CODEX_THREAD_ID: 's' }
  const QWEN = { QWEN_CODE_SESSION_ID: 's', QWEN_CODE_AGENT_ID: 'a' }

  it.each([
    ['if no option names them', CODEX, [], 's', 'main'],
    ['but not the agent for the session of an option', QWEN, ['--host-session', 'given'], 'given', undefined],
  ])('%s', async (_what, env, more, session, agent) => {
    const project = createSourceProject()
    await project.cli(['create', ...SEED_WORDS, ...more], { env })
    expect(readMarker(project)).toMatchObject({ cc_session_id: session })
    expect(readMarker(project).agent_id).toBe(agent)
  })
})

describe.concurrent('create if a marker is pending', () => {
  it('of another session: exits with 1, names the session, and changes nothing', async () => {
    const project = createSourceProject()
    await createFor(project, SESSION)
    const before = project.snapshot()
    const run = await createFor(project, OTHER_SESSION)
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining(SESSION) })
    expect(run.stderr).toContain('adopt 259_prove_completeness')
    expect(run.json().error.code).toBe('marker-of-other-session')
    expect(project.snapshot()).toEqual(before)
  })

  it('of another session, with --force: replaces it and restarts the count', async () => {
    const project = createSourceProject()
    await createFor(project, SESSION)
    await project.hook(subagentStop())
    const former = readMarker(project)
    const run = await createFor(project, OTHER_SESSION, '--force')
    expect(run.json()).toMatchObject({ renewed: false, replaced: former.id })
    expect(readMarker(project)).toMatchObject({ cc_session_id: OTHER_SESSION })
    expect(readMarker(project).id).not.toBe(former.id)
    expect(project.has(SEED_GUARD)).toBe(false)
    expect((await project.cli(['inspect', '--json'])).json().markers[0].continuations.spent).toBe(0)
  })

  it('of the same session for the same operation: keeps id, count, steps, ticks, checks and unknown fields', async () => {
    const project = createSourceProject()
    await createFor(project, SESSION, '--step', 'one', '--step', 'two', '--check', 'true')
    await project.cli(['step', '259', 'one'])
    await project.hook(subagentStop())
    project.write(SEED_MARKER, JSON.stringify({ ...readMarker(project), custom: { kept: [1, 2] } }))
    const former = readMarker(project)
    const run = await createFor(project, SESSION, '--step', 'one', '--step', 'two', '--step', 'three')
    expect(run.json()).toMatchObject({ id: former.id, renewed: true, replaced: null })
    await createFor(project, SESSION)
    const { id, session_id, checks } = former
    const steps = ['one', 'two', 'three'].map((name) => ({ name, done: name === 'one' }))
    expect(readMarker(project)).toMatchObject({ id, session_id, custom: { kept: [1, 2] }, steps, checks })
    expect(project.read(SEED_GUARD)).toBe('1\n')
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 2 of 3')
  })

  it('of the same session for another operation: makes a new marker with its own count', async () => {
    const project = createSourceProject()
    await createFor(project, SESSION)
    await project.hook(subagentStop())
    await project.hook(subagentStop())
    const former = readMarker(project)
    await project.cli(['create', '259', '--operation', 'plan', '--host-session', SESSION])
    expect(readMarker(project)).toMatchObject({ operation: 'plan' })
    expect(readMarker(project).id).not.toBe(former.id)
    expect(project.has(SEED_GUARD)).toBe(false)
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })

  it('of another skill’s session: exits with 1', async () => {
    const project = withMarker({ session_id: 'sess_1', operation: 'research' }, '259_prove_completeness')
    const before = project.snapshot()
    const bySkillSession = await project.cli(['create', '259', '--session-id', 'sess_2'])
    const byHostSession = await project.cli(['create', '259', '--host-session', SESSION])
    expect([bySkillSession.status, byHostSession.status]).toEqual([1, 1])
    expect(bySkillSession.stderr).toContain('sess_1')
    expect(project.snapshot()).toEqual(before)
  })

  it.each([
    ['renewed with the same steps', ['--step', 'one', '--step', 'two'], []],
    ['renewed without steps', [], []],
    ['renewed with other steps', ['--step', 'two', '--step', 'three'], ['one']],
    ['replaced for another operation', ['--operation', 'plan', '--step', 'one'], ['one', 'two']],
  ])('names the ticked steps that it drops: %s', async (_what, words, dropped) => {
    const env = { CLAUDE_CODE_SESSION_ID: SESSION }
    const run = async (...more: string[]) => {
      const project = createSourceProject()
      const steps = ['--operation', 'research', '--step', 'one', '--step', 'two']
      await project.cli(['create', '259', 'x', ...steps], { env })
      for (const number of ['1', '2']) await project.cli(['step', '259', number])
      return project.cli(['create', '259', ...words, ...more], { env })
    }
    const said = (await run()).stdout
    expect((await run('--json')).json().dropped_steps).toEqual(dropped)
    const names = dropped.map((name) => `"${name}"`).join(', ')
    if (dropped.length === 0) expect(said).not.toContain('ticked')
    else expect(said).toContain(`\n  ticked in the previous marker, but not in this one: ${names}\n`)
  })

  it('removes what an earlier marker left behind: loop guard and claims without a marker', async () => {
    const project = createSourceProject()
    await createFor(project, SESSION)
    await project.hook(subagentStop())
    await project.hook(subagentStop())
    rmSync(project.at(SEED_MARKER))
    await createFor(project, SESSION)
    expect(project.has(SEED_GUARD)).toBe(false)
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })

  it('many at once make one complete marker, and all but the first renew it', async () => {
    const project = createProject()
    const runs = await Promise.all(Array.from({ length: 4 }, () => createFor(project, SESSION)))
    const documents = runs.map((run) => run.json())
    expect(runs.map((run) => run.status)).toEqual(Array(4).fill(0))
    expect(new Set(documents.map((document) => document.id))).toEqual(new Set([readMarker(project).id]))
    expect(documents.filter((document) => document.renewed)).toHaveLength(3)
    expect(Object.keys(project.snapshot('specs/259_prove_completeness'))).toEqual(['.postflight-pending'])
  })

  it('many sessions at once: one wins, the others exit with 1', async () => {
    const project = createProject()
    const runs = await Promise.all(['s1', 's2', 's3'].map((session) => createFor(project, session)))
    expect(runs.map((run) => run.status).sort()).toEqual([0, 1, 1])
    expect(runs.find((run) => run.status === 0)?.json().owner.host_session).toBe(readMarker(project).cc_session_id)
  })
})

it('a marker that plain bash writes meanwhile is judged like any other', () => {
  const project = createSourceProject()
  mkdirSync(project.at('specs/007_x'))
  const seen: (string | undefined)[] = []
  writeNewMarker(taskFolderBelow(project.dir, '007_x'), (present) => {
    if (seen.push(present?.text) === 1) project.marker('007_x', 'by bash')
    return { fields: { reason: 'new' }, keepsCount: false }
  })
  expect(seen).toEqual([undefined, 'by bash'])
  expect(project.read('specs/007_x/.postflight-unparsed')).toBe('by bash')
  expect(project.read('specs/007_x/.postflight-pending')).toContain('new')
})

describe.concurrent('with a umask that takes the right to enter new folders', () => {
  it('folders can be used all the same, by create, install, and the hook', async () => {
    const project = createProject({ specs: false })
    const { uid, cli, launcher } = withoutPrivileges(project)
    const payload = JSON.stringify(subagentStop())
    const run = await project.shell(
      `umask 177
      node '${cli}' create 259 x --host-session ${SESSION} --agent agent-a --root . &&
      node '${cli}' install --root . &&
      printf %s '${payload}' | '${launcher}' &&
      cat specs/259_x/.postflight-loop-guard`,
      { uid },
    )
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.stdout).toContain('"decision":"block"')
    expect(run.stdout).toMatch(/\n1\n$/)
    expect(project.journal().map(({ event }) => event)).toEqual(['create', 'block'])
  })
})

const NOTE = (host: string, name = 'claude'): string =>
  `postflight: no settings file of ${host} starts the hook, so it will probably not hold this session. \`postflight init\` sets it up${name === 'claude' ? '' : ` for Claude Code, \`postflight install --host ${name}\` for ${host}`}.\n`

const OFF_NOTE =
  'postflight: ~/.claude/settings.json sets disableAllHooks, so Claude Code runs no hook: remove disableAllHooks from that file\n'

describe.concurrent('create says on stderr that the host of this session does not start the hook', () => {
  const running = (command: string) => ({ hooks: { Stop: [{ hooks: [{ command }] }] } })

  const created = async (project: Project, env: Record<string, string>, ...words: string[]) => {
    const run = await project.cli(['create', '259', 'x', '--agent', 'main', ...words], { env })
    expect(run.status, run.stderr).toBe(0)
    return run.stderr
  }

  it.each([
    ['Claude Code', 'CLAUDE_CODE_SESSION_ID', '.claude/settings.json'],
    ['Claude Code', 'CLAUDE_CODE_SESSION_ID', '.claude/settings.local.json'],
    ['Codex CLI', 'CODEX_SESSION_ID', '.codex/hooks.json'],
    ['Copilot CLI', 'COPILOT_AGENT_SESSION_ID', '.claude/settings.json'],
    ['Copilot CLI', 'COPILOT_AGENT_SESSION_ID', '.copilot/hooks/postflight-guard.json'],
    ['Copilot CLI', 'COPILOT_AGENT_SESSION_ID', '.github/hooks/guard.json'],
    ['Qwen Code', 'QWEN_CODE_SESSION_ID', '.qwen/settings.json'],
    ['Factory droid', 'POSTFLIGHT_DROID_SESSION', '.factory/settings.json'],
  ])('on %s (%s), unless %s wires it, in the project, above it or of the user', async (host, variable, file) => {
    const settings = JSON.stringify(running('/x/hooks/postflight-hook'))
    const env = { [variable]: SESSION }
    const name = /^(?:POSTFLIGHT_)?([A-Z]+)/.exec(variable)?.[1]?.toLowerCase()
    const project = createSourceProject()
    const first = createSourceProject()
    expect((await first.cli([])).stdout).toMatch(/^! no settings file .* starts the hook.*\n {2}→ postflight init\n/m)
    first.write(file, settings)
    expect((await first.cli([])).stdout).not.toContain('init')
    expect(await created(project, env)).toBe(NOTE(host, name))
    // Permission rules are not the hook.
    project.write(file, '{"permissions":{"allow":["Bash(postflight create *)"]}}')
    expect(await created(project, env)).toBe(NOTE(host, name))
    project.write(file, settings)
    expect(await created(project, env)).toBe('')
    const below = createSourceProject({ specs: false })
    below.write(file, settings)
    mkdirSync(below.at('packages/a/specs'), { recursive: true })
    const run = await below.cli(['create', '259', 'x', '--agent', 'main'], { env, cwd: below.at('packages/a') })
    expect(run).toMatchObject({ status: 0, stderr: '' })
  })

  it.each([
    ['installed for the user', running('postflight hook'), ''],
    ['switched off', { ...running('postflight hook'), disableAllHooks: true }, OFF_NOTE],
    ['switched on', { ...running('postflight hook'), disableAllHooks: false }, ''],
    ['installed on Windows', running('node "C:\\x\\dist\\hook.js"'), ''],
    ['a script of their own', running('node my-webhook.js'), NOTE('Claude Code')],
    ['a plugin that is on', { enabledPlugins: { 'postflight-guard@here': true } }, ''],
    ['a plugin that is off', { enabledPlugins: { 'postflight-guard@here': false } }, NOTE('Claude Code')],
  ])('or not: %s', async (_what, settings, said) => {
    const project = createSourceProject()
    project.write('../home/.claude/settings.json', JSON.stringify(settings, null, 2))
    expect(await created(project, { CLAUDE_CODE_SESSION_ID: SESSION })).toBe(said.replace('~', project.home))
    expect(await created(project, { COPILOT_AGENT_SESSION_ID: SESSION })).toBe(NOTE('Copilot CLI', 'copilot'))
  })

  it('not outside a session, in a session whose settings are unknown, or for another session; but on OpenCode without the plugin', async () => {
    const unknown = [{}, { POSTFLIGHT_HOST_SESSION: SESSION }, { POSTFLIGHT_HOST_SESSION: SESSION, OPENCODE: '1' }]
    expect(await created(createSourceProject(), { OPENCODE: '1' })).toContain('no configuration file of OpenCode')
    for (const env of unknown) expect(await created(createSourceProject(), env)).toBe('')
    expect(await created(createSourceProject(), { CLAUDE_CODE_SESSION_ID: 's2' }, '--host-session', SESSION)).toBe('')
  })

  it('not if the hook was seen in the session, or settings cannot be read', async () => {
    const env = { CLAUDE_CODE_SESSION_ID: SESSION }
    const seen = createSourceProject()
    seen.write('specs/.postflight/journal.jsonl', `${JSON.stringify({ event: 'block', host_session: SESSION })}\n`)
    const unreadable = createSourceProject()
    mkdirSync(unreadable.at('.claude/settings.json'), { recursive: true })
    for (const project of [seen, unreadable]) expect(await created(project, env)).toBe('')
  })
})
