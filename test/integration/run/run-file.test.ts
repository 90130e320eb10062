/** The run file, by which the hook finds a workflow: what survives changes of people and agents to task folders. */

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { replaceFile } from '../../../src/disk/write.ts'
import { findActiveRuns } from '../../../src/run/store/active-runs.ts'
import { readState } from '../../../src/run/store/state-store.ts'
import { IN_SESSION as ENV, IN_TASK, startFlow } from '../../support/flow.ts'
import { OTHER_SESSION, SESSION, sessionStart, shellRan, stop, subagentStop } from '../../support/payloads.ts'
import {
  claudeHookEnv,
  createProject,
  createSourceProject,
  type HookRun,
  type JsonDocument,
  linkWorktree,
  type Project,
  type ProjectOptions,
} from '../../support/project.ts'

const MARKER = `${IN_TASK}/.postflight-pending`
const STATE = `${IN_TASK}/workflow/state.json`
const RUNNING = 'specs/.postflight/running'
const RUN_FILE = `${RUNNING}/007_flow`

const PHASES = [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }]

/** The first row of a table starts the processes that a host starts; the other rows run the sources. */
const makerOf = (isFirst: boolean, options?: ProjectOptions) => () =>
  isFirst ? createProject(options) : createSourceProject(options)

const START = ['workflow', 'start', '7', 'flow', '--definition', 'flow.json']

const started = (make?: () => Project) => startFlow(PHASES, { env: ENV, make })

const stopped = (project: Project, payload = stop()): Promise<HookRun> =>
  project.hook(payload, { env: claudeHookEnv(project, SESSION) })

const promptOf = async (project: Project): Promise<string | undefined> => (await stopped(project)).answer.reason

const runFiles = (project: Project): string[] =>
  project.has(RUNNING) ? readdirSync(project.at(RUNNING)).filter((name) => !name.startsWith('.')) : []

const git = async (project: Project, ...commands: string[]): Promise<void> => {
  for (const command of commands) {
    const run = await project.shell(`git -c user.name=a -c user.email=a@b ${command}`)
    expect(run.status, `${command}: ${run.stderr}`).toBe(0)
  }
}

const toldAtStart = async (project: Project): Promise<string | undefined> =>
  (await project.hook(sessionStart('startup'), { words: ['SessionStart'] })).answer.hookSpecificOutput
    ?.additionalContext

/** Doctor's findings about workflows, each with its fix. */
async function findings(project: Project): Promise<[ok: boolean, what: string, fix: string | null][]> {
  const found = (await project.cli(['doctor', '--json'])).json().findings as JsonDocument[]
  expect(found.filter(({ check, ok }) => check === 'marker' && !ok)).toEqual([])
  return found.filter(({ check }) => check === 'workflow').map(({ ok, what, fix }) => [ok, what, fix])
}

const NOTE = 'the workflow "flow" is running: phase only, attempt 1 of 3'

describe.concurrent('a run file', () => {
  it('exists while the run is active, names it, and is hidden from git, as is the state', async () => {
    // A full disk leaves folders that nothing hides.
    const files = { [`${RUNNING}/.1.tmp`]: '', [`${IN_TASK}/workflow/shared.json.1.tmp`]: '' }
    const project = await started(() => createProject({ files }))
    const { id } = project.state()
    expect(id).toMatch(/^wf_[a-z0-9]{12}$/)
    expect(JSON.parse(project.read(RUN_FILE))).toEqual({ id, path: '007_flow' })
    expect(project.read(`${IN_TASK}/workflow/id`)).toBe(`${id}\n`)
    expect(project.has(MARKER)).toBe(false)
    for (const folder of [RUNNING, 'specs/.postflight', `${IN_TASK}/workflow`])
      expect(project.read(`${folder}/.gitignore`)).toBe('*\n')
    project.write(`${IN_TASK}/out.txt`, 'done')
    expect((await stopped(project)).answer.systemMessage).toContain('completed')
    expect(runFiles(project)).toEqual([])
    expect(project.has(`${IN_TASK}/workflow/id`)).toBe(false)
  })

  it.each([['stop'], ['abort']])('is removed by workflow %s, and resume puts it back', async (command) => {
    const project = await started(makerOf(command === 'stop'))
    await project.cli(['workflow', command, '7'])
    expect(runFiles(project)).toEqual([])
    expect((await stopped(project)).answer).toEqual({})
    await project.cli(['workflow', 'resume', '7'], { env: ENV })
    expect(runFiles(project)).toEqual(command === 'stop' ? ['007_flow'] : [])
  })

  it.each<[string, ((project: Project) => unknown)?]>([
    ['without a run'],
    ['whose task folder is gone', (project) => rmSync(project.at(IN_TASK), { recursive: true })],
    ['of an ended run', (project) => project.cli(['workflow', 'abort', '7'])],
  ])('%s is removed by the next stop', async (_what, end) => {
    const project = end === undefined ? createProject() : await started()
    await end?.(project)
    project.write(RUN_FILE, '{"id": "wf_000000000000", "path": "007_flow"}')
    expect((await stopped(project)).answer).toEqual({})
    expect(runFiles(project)).toEqual([])
  })

  it('is left for the next stop if there is no time for it', () => {
    const project = createSourceProject({ files: { [RUN_FILE]: '{}' } })
    const { runs, problems } = findActiveRuns([project.dir], { payload: {}, deadline: 0 })
    expect([runs, problems, runFiles(project)]).toMatchObject([[], [{ path: project.at(RUN_FILE) }], ['007_flow']])
  })

  it.each([
    ['garbled', '{"id'],
    ['that leads out of specs/', '{"id": "wf_1", "path": "../../etc"}'],
    ['that leads nowhere', '{"id": "wf_1", "path": "a/b/c"}'],
  ])('%s does no harm', async (what, text) => {
    const project = makerOf(what === 'garbled')()
    project.write(`${RUNNING}/x`, text)
    expect((await stopped(project)).answer).toEqual({})
    expect(runFiles(project)).toEqual([])
  })
})

describe.concurrent('a run whose state is gone is over, and nothing is kept of it in .git:', () => {
  it.each<[string, (project: Project) => unknown]>([
    ['git clean -fdx', (project) => git(project, 'add -A', 'commit -qm x --allow-empty', 'clean -qfdx')],
    ['git clean -fdx of the task folder too', (project) => git(project, 'clean -qfdx')],
    ['its state alone was deleted', (project) => rmSync(project.at(STATE))],
    ['its task folder was deleted', (project) => rmSync(project.at(IN_TASK), { recursive: true })],
  ])('%s', async (what, remove) => {
    const project = makerOf(what === 'git clean -fdx', { git: false })()
    await git(project, 'init -q .')
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: PHASES }))
    await git(project, 'add flow.json', 'commit -qm flow')
    expect(await project.cli(START, { env: ENV })).toMatchObject({ status: 0 })
    expect(await promptOf(project)).toContain('attempt 1 of 3')
    project.write(`${IN_TASK}/work.txt`, 'of the agent')
    await remove(project)
    expect((await stopped(project)).answer).toEqual({})
    expect(runFiles(project)).toEqual([])
    expect(await toldAtStart(project)).toBe(undefined)
    expect(await findings(project)).toEqual([])
    expect(await project.cli(['workflow', 'resume', '7'], { env: ENV })).toMatchObject({ status: 1, stdout: '' })
    expect(await project.cli(START, { env: ENV })).toMatchObject({ status: 0 })
    expect(await promptOf(project)).toContain('attempt 1 of 3')
    expect(project.has('.git/postflight-guard')).toBe(false)
  })
})

describe.concurrent('the run continues after', () => {
  it.each([
    ['git stash -u', ['add -A', 'commit -qm x', 'stash -u']],
    ['git stash -u of work', ['add flow.json', 'commit -qm x', 'stash -u']],
    ['git clean -fd', ['add flow.json', 'commit -qm x', 'clean -fd']],
    ['git reset --hard', ['add -A', 'commit -qm x', 'reset -q --hard']],
    ['its id was removed: the run file still leads to it', ['clean -qfx specs/007_flow/workflow/id']],
    ['git checkout of another branch', ['add -A', 'commit -qm x', 'checkout -q --orphan other', 'rm -rqf .']],
  ])('%s', async (what, commands) => {
    const project = await started(makerOf(what === 'git stash -u', { git: false }))
    await git(project, 'init -q .')
    project.write('work.txt', 'of the agent')
    expect(await promptOf(project)).toContain('attempt 1 of 3')
    await git(project, ...commands)
    expect(await promptOf(project)).toContain('attempt 2 of 3')
    expect([runFiles(project), project.has(`${IN_TASK}/workflow/id`)]).toEqual([['007_flow'], true])
  })

  it.each([
    ['renamed', 'specs/007_better_name'],
    ['renumbered', 'specs/012_flow'],
    ['archived', 'specs/archive/007_flow'],
  ])('its folder was %s', async (what, place) => {
    const project = await started(makerOf(what === 'renamed'))
    expect(await promptOf(project)).toContain('attempt 1 of 3')
    mkdirSync(project.at('specs/archive'))
    renameSync(project.at(IN_TASK), project.at(place))
    expect(await promptOf(project)).toContain('attempt 2 of 3')
    expect(runFiles(project)).toEqual([place.slice('specs/'.length).replace('/', '%')])
    if (what !== 'archived') return
    await project.workflow('abort', '7')
    const { stderr } = await project.workflow('resume', '7')
    const again = /`postflight (workflow start archive\/007_flow --definition )FILE( --fresh)`/.exec(stderr)
    const words = `${again?.[1]}flow.json${again?.[2]}`.split(' ')
    expect(await project.cli(words)).toMatchObject({ status: 0 })
    expect(runFiles(project)).toEqual(['archive%007_flow'])
  })

  it('its folder was moved into a hidden one', async () => {
    const project = await started(makerOf(false))
    mkdirSync(project.at('specs/.archive'))
    renameSync(project.at(IN_TASK), project.at('specs/.archive/007_flow'))
    for (const attempt of [1, 2]) expect(await promptOf(project)).toContain(`attempt ${attempt} of 3`)
    // A name that begins with a dot would hide it from the hook.
    expect(runFiles(project)).toEqual([expect.stringMatching(/^wf_/)])
  })

  it('a copy of its folder was made, which is another run once it is resumed', async () => {
    const project = await started()
    cpSync(project.at(IN_TASK), project.at('specs/008_copy'), { recursive: true })
    expect(await promptOf(project)).toContain('task 007_flow')
    await project.cli(['workflow', 'resume', '8'], { env: ENV })
    expect(runFiles(project)).toEqual(['007_flow', '008_copy'])
    expect(project.read(`${IN_TASK}/workflow/id`)).not.toBe(project.read('specs/008_copy/workflow/id'))
  })

  const cleaned = (project: Project, track: string) =>
    git(project, 'init -q .', 'add -A', track, 'commit -qm x', 'clean -qfdx')

  it.each<[string, (project: Project) => unknown]>([
    ['its run file was removed', (project) => rmSync(project.at('specs/.postflight'), { recursive: true })],
    ['git clean -fdx while git tracks state and id', (project) => cleaned(project, 'add -f specs/007_flow/workflow')],
    ['git clean -fdx while git tracks the state alone', (project) => cleaned(project, `add -f ${STATE}`)],
  ])('%s: status, doctor and a new session say so, and resume continues', async (what, remove) => {
    const project = await started(makerOf(what === 'its run file was removed', { git: false }))
    expect(await promptOf(project)).toContain('attempt 1 of 3')
    await remove(project)
    expect((await stopped(project)).answer).toEqual({})
    const resume = 'postflight workflow resume 007_flow'
    expect((await project.workflow('status', '7')).stdout).toContain(`\`${resume}\``)
    expect(await project.status()).toMatchObject({ run_file: false })
    const shown = (await project.cli(['status'])).stdout
    expect(shown).toMatch(/no run file, so hooks ignore it.*\n {2}→ postflight workflow resume 007_flow\n/)
    expect(await findings(project)).toEqual([[false, expect.stringContaining('its run file is missing'), resume]])
    expect(await toldAtStart(project)).toContain(`\`${resume}\` puts it back`)
    await project.cli(['workflow', 'resume', '7'], { env: ENV })
    expect(await promptOf(project)).toContain('attempt 1 of 3')
    expect(runFiles(project)).toEqual(['007_flow'])
  })

  it('a linked worktree was made: the run belongs to the main one', async () => {
    const project = await started(makerOf(false, { git: false }))
    const linked = await linkWorktree(project)
    const env = claudeHookEnv(project, SESSION)
    // The hook searches the worktree, and the project by its variable.
    expect((await project.hook({ ...stop(), cwd: linked }, { env, cwd: linked })).answer.reason).toContain('do it')
    expect(existsSync(join(linked, 'specs/.postflight/running'))).toBe(false)
  })

  it('it was started in a linked worktree: a session there gets its prompts, the main one does not', async () => {
    const project = createProject({ git: false })
    project.write('flow.json', JSON.stringify({ name: 'flow', phases: PHASES }))
    const linked = await linkWorktree(project)
    await project.cli(START, { cwd: linked, env: { ...ENV, CLAUDE_PROJECT_DIR: linked } })
    const env = { ...claudeHookEnv(project, SESSION), CLAUDE_PROJECT_DIR: linked }
    const there = async () => (await project.hook({ ...stop(), cwd: linked }, { env, cwd: linked })).answer.reason
    expect(await there()).toContain('attempt 1 of 3')
    expect((await stopped(project)).answer).toEqual({})
    expect(await there()).toContain('attempt 2 of 3')
    expect(runFiles(project)).toEqual([])
  })
})

it.concurrent('a run that has stalled is named by status, next and doctor, and to a new session, with the command that continues it', async () => {
  const project = await started()
  const stops: HookRun['answer'][] = []
  for (let attempt = 0; attempt < 5; attempt++) stops.push((await stopped(project)).answer)
  expect(stops.map(({ decision }) => decision)).toEqual(['block', 'block', 'block', undefined, undefined])
  expect(stops[3]?.systemMessage).toContain('has ended (stalled): 3 attempts failed')
  const resume = '`postflight workflow resume 007_flow`'
  expect(await toldAtStart(project)).toContain(`a workflow that stalled, which ${resume}`)
  for (const words of ['workflow status', 'workflow status 7', 'workflow next 7']) {
    const run = await project.cli(words.split(' '), { env: ENV })
    expect(run).toMatchObject({ status: 1, stdout: expect.stringContaining(resume) })
  }
  const fix = 'postflight workflow resume 007_flow, or postflight workflow abort 007_flow'
  expect(await findings(project)).toEqual([[false, expect.stringContaining('has ended (stalled): 3 attempts'), fix]])
  await project.cli(['workflow', 'resume', '7'], { env: ENV })
  expect(await promptOf(project)).toContain('attempt 4 of 6')
  await project.cli(['workflow', 'abort', '7'])
  expect(await toldAtStart(project)).toBe(undefined)
})

it.concurrent('what an agent reads in mid-phase never offers to end its run', async () => {
  const project = await started()
  const texts: string[] = [(await stopped(project)).stdout]
  const own = ['workflow start 7 --definition flow.json', 'workflow start 7 --definition flow.json --fresh']
  own.push('workflow next 7 --peek', 'workflow status 7', 'workflow resume 7')
  own.push('create 7', 'clear 7', 'adopt 7', 'bypass 7', 'step 7 1')
  const others = ['workflow next 7', 'wait 7 --for x']
  for (const line of [...own, ...others]) {
    const env = others.includes(line) ? { CLAUDE_CODE_SESSION_ID: OTHER_SESSION } : ENV
    const { stdout, stderr } = await project.cli(line.split(' '), { env })
    expect(stdout + stderr, line).not.toBe('')
    texts.push(stdout, stderr)
  }
  texts.push(String(await toldAtStart(project)))
  for (let attempt = 0; attempt < 4; attempt++) texts.push((await stopped(project)).stdout)
  expect(texts.join('\n')).toContain('stalled')
  expect(texts.join('\n')).not.toMatch(/workflow abort/)
})

describe.concurrent('a marker in the folder of a run', () => {
  it('is made, kept and cleared by the CLI, and the run continues', async () => {
    const project = await started()
    await project.cli(['create', '7', '--reason', 'Commit it.', '--agent', 'main'], { env: ENV })
    // The marker first, then the prompt.
    expect(await promptOf(project)).toMatch(/^Commit it\./)
    expect(await project.status()).toMatchObject({ prompts: 0 })
    expect((await project.cli(['step', '7', '1'])).stderr).toContain('has no checklist')
    expect((await project.cli(['clear', '7'], { env: ENV })).status).toBe(0)
    expect(await promptOf(project)).toContain('attempt 1 of 3')
  })

  it('is not cleared, adopted or bypassed with the run', async () => {
    const project = await started()
    const run = project.snapshot(`${IN_TASK}/workflow`)
    for (const [words, said] of [
      ['clear 7', /^nothing to clear\n$/],
      ['clear --all', /^nothing to clear\n.*the workflow goes on/],
      ['bypass 7', /no marker/],
      ['adopt 7', /no marker/],
      ['inspect', /no markers/],
    ] as const) {
      const { stdout, stderr } = await project.cli(words.split(' '), { env: ENV })
      expect(stdout + stderr, words).toMatch(said)
    }
    expect(project.snapshot(`${IN_TASK}/workflow`)).toEqual(run)
  })

  it('that is kept until its continuations are used up lets the prompt out', async () => {
    const project = await started()
    project.marker('007_flow', { cc_session_id: SESSION, agent_id: 'main', reason: 'Commit it.' })
    for (let count = 1; count <= 3; count++) expect(await promptOf(project)).toContain('Commit it.')
    expect(await promptOf(project)).toContain('attempt 1 of 3')
  })
})

describe.concurrent('a run that waits', () => {
  const WAIT = ['wait', '7', '--for', 'go-ahead to deploy']

  it('allows the stops of its prompt, uncounted, and continues at the next message', async () => {
    const project = await started()
    await promptOf(project)
    const run = await project.cli(WAIT, { env: ENV })
    expect(run.stdout).toMatch(/^waiting specs\/007_flow\/workflow\/state\.json {2}wf_\w+\n/)
    for (let count = 0; count < 2; count++) expect((await stopped(project)).answer).toEqual({})
    const wait = { for: 'go-ahead to deploy', count: 1 }
    expect(await project.status()).toMatchObject({ prompts: 1, attempt: 1, wait })
    expect((await project.workflow('status', '7')).stdout).toContain('waits for: go-ahead to deploy')
    expect((await stopped(project, stop({ prompt_id: 'prompt-2' }))).answer.reason).toContain('attempt 2 of 3')
  })

  it.each([
    ['resume', { event: 'wait-end', detail: 'go-ahead to deploy' }, null],
    ['compact', { event: 'wait' }, { for: 'go-ahead to deploy' }],
  ])('ends its wait when the session starts again, but waits on after a compaction: %s', async (how, last, wait) => {
    const project = await started()
    await promptOf(project)
    await project.cli(WAIT, { env: ENV })
    await project.hook(sessionStart(how), { words: ['SessionStart'], env: claudeHookEnv(project, SESSION) })
    expect(project.journal().at(-1)).toMatchObject(last)
    expect(project.state().wait).toEqual(wait && expect.objectContaining(wait))
  })

  it('waits at the prompt at which main announced it, although it first stops at a later one', async () => {
    const project = await started()
    await promptOf(project)
    const { stdout } = await project.cli(WAIT, { env: ENV })
    await stopped(project, shellRan(WAIT.join(' '), stdout))
    expect(project.state().wait).toMatchObject({ prompt_id: 'prompt-1' })
    // The person interrupted before its stop.
    expect((await stopped(project, stop({ prompt_id: 'prompt-2' }))).answer.systemMessage).toContain('you interrupted')
  })

  it.each(['', ' >/dev/null'])('does not wait for a sub-agent, whose stop ends its wait: %j', async (end) => {
    const project = await started(makerOf(end === ''))
    await promptOf(project)
    const { stdout } = await project.cli(WAIT, { env: ENV })
    const ran = { agent_id: 'a1', agent_type: 'general', duration_ms: 4_000 }
    await stopped(project, shellRan(`postflight ${WAIT.join(' ')}${end}`, end === '' ? stdout : '', ran))
    expect(project.journal().at(-1)).toMatchObject({ event: 'wait-end', detail: 'go-ahead to deploy' })
    expect(await promptOf(project)).toContain('attempt 2 of 3')
  })

  it('waits together with the marker of its task', async () => {
    const project = await started()
    await promptOf(project)
    await project.cli(['create', '7', '--agent', 'main'], { env: ENV })
    expect((await project.cli(WAIT, { env: ENV })).stdout.match(/^waiting /gm)).toHaveLength(2)
    expect((await stopped(project)).answer).toEqual({})
  })

  it('is refused to another session, to a sub-agent, and after ten prompts', async () => {
    const project = await started()
    const refusal = async (env: Record<string, string>) => (await project.cli(WAIT, { env })).stderr
    const helper = { ...ENV, POSTFLIGHT_HOST_SESSION: SESSION, POSTFLIGHT_AGENT: 'a' }
    expect(await refusal(helper)).toContain('only the main conversation')
    expect(await refusal({ CLAUDE_CODE_SESSION_ID: OTHER_SESSION })).toContain('`postflight workflow resume 007_flow`')
    project.write(STATE, project.read(STATE).replace('"waits":0', '"waits":10'))
    expect(await refusal(ENV)).toContain('the limit')
  })
})

describe.concurrent('explain', () => {
  it.each<[string, object, string, RegExp]>([
    ['its own session', stop(), 'driver', /^the workflow "flow" is running: .*the driver checks .*next prompt/],
    ['a sub-agent of it', subagentStop(), 'allow', /the driver checks the results and allows the stop/],
    ['another session', stop({ session_id: OTHER_SESSION }), 'allow', /this session does not drive it/],
  ])('says for %s what the driver would do, and writes nothing', async (who, payload, answer, why) => {
    const project = await started(makerOf(who === 'its own session'))
    project.write('payload.json', JSON.stringify({ cwd: project.dir, ...payload }))
    const before = project.snapshot()
    const explained = await project.cli(['explain', '--payload', 'payload.json', '--json'])
    expect(explained.json().runs).toEqual([{ path: IN_TASK, answer, why: expect.stringMatching(why) }])
    expect(project.snapshot()).toEqual(before)
    const { stdout } = await project.cli(['explain', '--payload', 'payload.json'])
    expect(stdout).toContain(
      `answer: allow${answer === 'driver' ? ", unless the workflow's driver sends a prompt" : '\n'}`,
    )
  })
})

describe.concurrent('doctor', () => {
  const resumeOrAbort = 'postflight workflow resume 007_flow, or postflight workflow abort 007_flow'
  const unmoved = (text: string) => text.replace(/"updated_at":"[^"]+"/, '"updated_at":"2025-01-01T00:00:00.000Z"')

  it.each<[string, (text: string) => string, string, string]>([
    ['a run that has not moved for days', unmoved, `${IN_TASK}: ${NOTE}, and has not moved for`, resumeOrAbort],
    [
      'a state that cannot be read',
      () => '{',
      `${STATE} is not complete JSON`,
      'repair that file by hand, or move it away',
    ],
  ])('finds %s, with its fix', async (_what, change, what, fix) => {
    const project = await started()
    expect(await findings(project)).toEqual([[true, `${IN_TASK}: ${NOTE}`, null]])
    project.write(STATE, change(project.read(STATE)))
    expect(await findings(project)).toEqual([[false, expect.stringMatching(`^${what}`), fix]])
  })

  it('ignores a folder named workflow that is not ours', async () => {
    const project = createSourceProject()
    mkdirSync(project.at(IN_TASK, 'workflow'), { recursive: true })
    expect(await findings(project)).toEqual([])
  })
})

it('the state of a run is read again after it was replaced, even by one of the same size', async () => {
  const project = await started()
  const folder = { root: project.dir, path: project.at(IN_TASK), task: '007_flow', relative: IN_TASK }
  expect(readState(folder)?.name).toBe('flow')
  replaceFile(project.at(STATE), project.read(STATE).replace('"name":"flow"', '"name":"wolf"'))
  expect(readState(folder)?.name).toBe('wolf')
  rmSync(project.at(STATE))
  expect(readState(folder)).toBeUndefined()
})
