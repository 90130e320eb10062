/** Who drives a run, as `start`, `resume`, `status` and the hook say it. */

import { describe, expect, it } from 'vitest'
import { type Flow, flowProject, IN_SESSION } from '../../support/flow.ts'
import { SESSION } from '../../support/payloads.ts'
import { createProject, linkWorktree } from '../../support/project.ts'

const PHASES = [{ id: 'a', prompt: 'p', artifact: 'a.txt', max_attempts: 1 }]

const withFlow = () => flowProject(PHASES, {}, createProject)

const start = (project: Flow, task = '7', env: Readonly<Record<string, string>> = IN_SESSION) =>
  project.cli(['workflow', 'start', task, 'flow', '--definition', 'flow.json'], { env })

describe('start and resume', () => {
  it.each([
    ['Claude Code', 'CLAUDE_CODE_SESSION_ID', 'claude'],
    ['Codex CLI', 'CODEX_SESSION_ID', 'codex'],
  ])(
    'say what to do in a session of %s without the hook, and to end the turn once it is installed',
    async (title, variable, host) => {
      const project = withFlow()
      const session = { [variable]: SESSION }
      const resume = () => project.cli(['workflow', 'resume', '7'], { env: session })
      const prompt = async () => (await project.cli(['workflow', 'next', '7', '--peek'], { env: session })).stdout
      for (const run of [await start(project, '7', session), await resume()]) {
        expect(run.stderr).toContain(`no settings file of ${title} starts the hook`)
        expect(run.stderr).toContain('`postflight init` sets it up')
        expect(run.stdout).toContain('No prompt will come automatically until the hook is set up')
      }
      expect(await prompt()).toContain('The orchestrating agent runs `postflight workflow next 007_flow` again')
      expect((await project.cli(['install', '--host', host])).status).toBe(0)
      expect(await prompt()).toContain('Then end your turn.')
      const resumed = await resume()
      expect(resumed.stdout).toContain('end your turn now: the prompts come automatically')
      expect(resumed.stderr).toBe('')
    },
  )

  it('say what to do if the hook is there, but its file is missing', async () => {
    const project = withFlow()
    const command = '[ ! -f "/gone/hooks/postflight-hook" ] || exec "/gone/hooks/postflight-hook"'
    const hooks = { Stop: [{ hooks: [{ type: 'command', command }] }] }
    project.write('.claude/settings.json', JSON.stringify({ hooks }))
    const { stdout } = await start(project)
    expect(stdout).toContain('No prompt will come automatically, because')
    expect(stdout).toContain('then start a new session and resume there')
  })

  it('name the main folder in a linked worktree, and only there', async () => {
    const project = withFlow()
    const cwd = await linkWorktree(project)
    // Not committed, but Claude Code reads these settings in the worktree too.
    await project.cli(['install', '--scope', 'local'])
    const inside = ['workflow', 'start', '7', 'flow', '--definition', 'flow.json', '--root', cwd]
    const { stdout } = await project.cli(inside, { env: IN_SESSION, cwd })
    expect(stdout).toContain(`This is a linked worktree of ${project.dir}: `)
    expect(stdout).toContain('end your turn now: the prompts come automatically')
    const shared = project.read('.claude/settings.local.json')
    project.write('../linked/.claude/settings.json', shared)
    const found = async () => (await project.cli(['doctor', '--root', cwd])).stdout
    expect(await found()).not.toContain('more than once')
    project.write('.claude/settings.local.json', shared.replaceAll('/hooks/', '/./hooks/'))
    expect(await found()).toContain(`uninstall --root ${project.dir} --scope local`)
    expect((await start(project, '8')).stdout).not.toContain('linked worktree')
  })
})

it('a stalled run is reported to the user, also while another run of the session prompts', async () => {
  const project = withFlow()
  await start(project)
  expect(await project.stopped()).toMatchObject({ decision: 'block' })
  await start(project, '8')
  const answer = await project.stopped()
  expect(answer).toMatchObject({ decision: 'block', reason: expect.stringContaining('task 008_flow') })
  expect(answer.systemMessage).toContain('the workflow of task 007_flow has ended (stalled)')
  expect(Object.keys(answer).sort()).toEqual(['decision', 'reason', 'systemMessage'])
})
