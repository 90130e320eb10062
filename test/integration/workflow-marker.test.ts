/** The commands about markers, used on the marker of a workflow: none of them breaks the run silently. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, stop, subagentStop } from '../support/payloads.ts'
import { CLI } from '../support/process.ts'
import { createProject, type JsonDocument, type Project } from '../support/project.ts'

const IN_TASK = 'specs/007_flow'
const MARKER = `${IN_TASK}/.postflight-pending`
const STATE = `${IN_TASK}/workflow/state.json`

async function started(): Promise<Project> {
  const project = createProject()
  const file = project.write(
    'flow.json',
    JSON.stringify({ name: 'flow', phases: [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }] }),
  )
  const run = await project.cli(['workflow', 'start', '7', 'flow', '--definition', file], {
    env: { CLAUDE_CODE_SESSION_ID: SESSION },
  })
  expect(run.status, run.stderr).toBe(0)
  return project
}

/** A project with a marker whose run is over or missing. */
async function leftBehind(how: 'over' | 'missing'): Promise<Project> {
  const project = await started()
  const marker = project.read(MARKER)
  if (how === 'over') await project.cli(['workflow', 'abort', '7'])
  else rmSync(project.at(IN_TASK, 'workflow'), { recursive: true })
  writeFileSync(project.at(MARKER), marker)
  return project
}

const outcomeOf = async (project: Project): Promise<string | null> =>
  (await project.cli(['workflow', 'status', '7', '--json'])).json().outcome

/** Doctor's findings about workflows, each with its fix. */
async function findings(project: Project): Promise<[ok: boolean, what: string, fix: string | null][]> {
  const found = (await project.cli(['doctor', '--json'])).json().findings as JsonDocument[]
  expect(found.filter(({ check, ok }) => check === 'marker' && !ok)).toEqual([])
  return found.filter(({ check }) => check === 'workflow').map(({ ok, what, fix }) => [ok, what, fix])
}

const RUNNING = 'the workflow "flow" is running: phase only, attempt 1 of 3'

/** Lets another process create its marker just before this one takes the lock of the task folder. */
const OTHER_PROMISE = `
const fs = require('node:fs')
const { openSync } = fs
fs.openSync = (...words) => {
  if (String(words[0]).endsWith('007_flow/.postflight-lock')) {
    fs.openSync = openSync
    fs.writeFileSync(String(words[0]).replace('-lock', '-pending'), '{"reason": "another promise"}')
  }
  return openSync(...words)
}
`

describe.concurrent('a marker that is created while', () => {
  it.each([
    ['a run is started', ['start', '7', '--definition', 'flow.json', '--fresh'], 'completed'],
    ['a run is resumed', ['resume', '7'], null],
  ])('%s is kept, and the error names it', async (_what, words, outcome) => {
    const project = await started()
    project.write('other.cjs', OTHER_PROMISE)
    if (outcome !== null) {
      project.write(`${IN_TASK}/out.txt`, 'done')
      await project.cli(['workflow', 'next', '7'], { env: { CLAUDE_CODE_SESSION_ID: SESSION } })
    }
    rmSync(project.at(MARKER), { force: true })
    const run = await project.shell(`exec node -r ./other.cjs "${CLI}" workflow ${words.join(' ')}`)
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('is the marker of another postflight') })
    expect(project.read(MARKER)).toBe('{"reason": "another promise"}')
    // Nothing was put aside, and nothing is lost.
    expect(await outcomeOf(project)).toBe(outcome)
    rmSync(project.at(MARKER))
    expect((await project.cli(['workflow', ...words])).status).toBe(0)
    expect(project.read(MARKER)).toContain('"workflow": true')
  })
})

describe.concurrent('inspect', () => {
  it('shows the owner of a workflow’s marker and where its run stands', async ({ expect }) => {
    const project = await started()
    const { stdout } = await project.cli(['inspect', '7'])
    expect(stdout).toContain(`  ▶ ${RUNNING}\n`)
    expect(stdout).not.toContain('continuations')
    expect((await project.cli(['inspect', '--json'])).json().markers[0]).toMatchObject({
      workflow: true,
      run: { standing: 'running', note: RUNNING },
    })
  })

  it.each([
    ['over', 'the workflow "flow" has ended (aborted)'],
    ['missing', 'it belongs to a workflow, but this task has none'],
  ] as const)('says that it is %s', async (how, note) => {
    const project = await leftBehind(how)
    expect((await project.cli(['inspect', '7'])).stdout).toContain(`  ! ${note}\n`)
  })
})

describe.concurrent('explain', () => {
  it.each<[string, object, string, RegExp]>([
    [
      'its own session',
      stop(),
      'driver',
      /is running: phase only, attempt 1 of 3\): the driver checks .*gives out the next prompt/,
    ],
    ['a sub-agent of it', subagentStop(), 'allow', /the driver checks the results and allows the stop/],
    [
      'a stop with a sub-agent in the background',
      stop({ background_tasks: [{ id: 'a', type: 'subagent', status: 'running' }] }),
      'allow',
      /and allows the stop/,
    ],
    ['another session', stop({ session_id: OTHER_SESSION }), 'allow', /this session does not drive it/],
  ])('says for %s what the driver would do, and writes nothing', async (_who, payload, answer, why) => {
    const project = await started()
    project.write('payload.json', JSON.stringify({ cwd: project.dir, ...payload }))
    const before = project.snapshot()
    const explained = await project.cli(['explain', '--payload', 'payload.json', '--json'])
    expect(explained.json().markers).toMatchObject([
      { rule: 'workflow', row: 0, answer, why: expect.stringMatching(why) },
    ])
    expect(project.snapshot()).toEqual(before)
    const { stdout } = await project.cli(['explain', '--payload', 'payload.json'])
    expect(stdout).toContain(
      answer === 'driver' ? "answer: allow, unless the workflow's driver gives out a prompt" : 'answer: allow\n',
    )
  })

  it('says that the run is over', async ({ expect }) => {
    const project = await leftBehind('over')
    project.write('payload.json', JSON.stringify({ cwd: project.dir, ...stop() }))
    const { stdout } = await project.cli(['explain', '--payload', 'payload.json'])
    expect(stdout).toContain('has ended (aborted)')
  })
})

describe.concurrent('bypass', () => {
  it.each([['7'], ['--all']])('%s stops the run, and names the command that continues it', async (target) => {
    const project = await started()
    const { stdout } = await project.cli(['bypass', target])
    expect(stdout).toBe(`${MARKER}: its workflow is stopped; to continue it: postflight workflow resume 007_flow\n`)
    expect(project.has(MARKER)).toBe(false)
    expect((await project.hook(stop())).answer).toEqual({})
    expect(await outcomeOf(project)).toBe('stopped')
    expect((await project.cli(['workflow', 'resume', '7'])).status).toBe(0)
  })

  it('treats a marker without a run as any other marker', async ({ expect }) => {
    const project = await leftBehind('missing')
    expect((await project.cli(['bypass', '7'])).stdout).toContain('the next stop goes through')
  })
})

describe.concurrent('clear', () => {
  it('refuses the marker of a running workflow, and names the commands that end it', async ({ expect }) => {
    const project = await started()
    const before = project.snapshot('specs')
    const run = await project.cli(['clear', '7'])
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('`postflight workflow status 007_flow`') })
    expect(run.stderr.trim().split('\n')).toHaveLength(1)
    expect(project.snapshot('specs')).toEqual(before)
  })

  it('--all stops the run, and names the command that continues it', async ({ expect }) => {
    const project = await started()
    const dry = await project.cli(['clear', '--all', '--dry-run'])
    expect(dry.stdout).toMatch(/would clear .*this stops its workflow/)
    expect(project.has(MARKER)).toBe(true)
    const run = await project.cli(['clear', '--all'])
    expect(run.stdout).toMatch(/cleared .*\.postflight-pending.*to continue it: postflight workflow resume 007_flow\)/)
    expect(project.has(MARKER)).toBe(false)
    expect(await outcomeOf(project)).toBe('stopped')
    expect(project.journal().at(-1)).toMatchObject({ event: 'clear', outcome: 'cleared', detail: 'workflow stopped' })
  })

  it('--orphaned leaves a run that can be resumed, however old', async ({ expect }) => {
    const project = await started()
    const old = project.read(MARKER).replace(/"created": "[^"]+"/, '"created": "2025-01-01T00:00:00Z"')
    project.write(MARKER, old)
    expect((await project.cli(['clear', '--orphaned'])).stdout).toBe('nothing to clear\n')
    expect(project.read(MARKER)).toBe(old)
  })

  it.each(['over', 'missing'] as const)('removes a marker whose run is %s', async (how) => {
    for (const target of ['7', '--orphaned']) {
      const project = await leftBehind(how)
      expect((await project.cli(['clear', target])).status).toBe(0)
      expect(project.has(MARKER)).toBe(false)
    }
  })
})

describe.concurrent('adopt and create --force', () => {
  it.each([[['adopt', '7']], [['create', '7', '--force']]])('%j does not take the marker of a run', async (words) => {
    const project = await started()
    const before = project.read(MARKER)
    const run = await project.cli(words, { env: { CLAUDE_CODE_SESSION_ID: OTHER_SESSION } })
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('to take it over, `workflow resume`') })
    expect(project.read(MARKER)).toBe(before)
  })
})

describe.concurrent('doctor', () => {
  it('finds nothing wrong with a running workflow', async ({ expect }) => {
    expect(await findings(await started())).toEqual([[true, `${IN_TASK}: ${RUNNING}`, null]])
  })

  it.each<[string, () => Promise<Project>, string, string]>([
    [
      'a marker whose run is over',
      () => leftBehind('over'),
      '.postflight-pending is left behind: the workflow "flow" has ended (aborted)',
      'postflight clear 007_flow',
    ],
    [
      'a marker whose run is missing',
      () => leftBehind('missing'),
      '.postflight-pending is left behind: it belongs to a workflow, but this task has none',
      'postflight clear 007_flow',
    ],
    [
      'a run whose marker is missing',
      async () => {
        const project = await started()
        rmSync(project.at(MARKER))
        return project
      },
      `${RUNNING}, but .postflight-pending is missing, so no hook finds it`,
      'postflight workflow resume 007_flow',
    ],
    [
      'a run with a foreign marker in its folder',
      async () => {
        const project = await started()
        project.marker('007_flow', { cc_session_id: SESSION, agent_id: 'main' })
        return project
      },
      `${RUNNING}, but ${MARKER} is for another postflight, so no hook finds it`,
      'finish that one, or postflight clear 007_flow; then postflight workflow resume 007_flow',
    ],
    [
      'a marker that names another session than its run',
      async () => {
        const project = await started()
        project.write(MARKER, project.read(MARKER).replace(SESSION, OTHER_SESSION))
        return project
      },
      `${RUNNING}, but its marker names another session, so no hook drives it`,
      'postflight workflow resume 007_flow',
    ],
    [
      'a run that has not moved for days',
      async () => {
        const project = await started()
        const age = (text: string): string =>
          text.replace(/"updated_at":"[^"]+"/, '"updated_at":"2025-01-01T00:00:00.000Z"')
        project.write(STATE, age(project.read(STATE)))
        return project
      },
      `${RUNNING}, and has not moved for`,
      'postflight workflow resume 007_flow, or postflight workflow abort 007_flow',
    ],
    [
      'a state that cannot be read',
      async () => {
        const project = await started()
        project.write(STATE, '{')
        return project
      },
      `${STATE} is not complete JSON`,
      'repair that file by hand, or move it away',
    ],
  ])('finds %s, with its fix', async (_what, make, what, fix) => {
    const project = await make()
    expect(await findings(project)).toEqual([[false, expect.stringContaining(what), fix]])
  })

  it('ignores a folder named workflow that is not ours', async ({ expect }) => {
    const project = createProject()
    mkdirSync(project.at('specs/007_flow/workflow'), { recursive: true })
    expect(await findings(project)).toEqual([])
  })
})
