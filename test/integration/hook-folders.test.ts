import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, stop, subagentStop } from '../support/payloads.ts'
import { HOOK_BUNDLE, LAUNCHER } from '../support/process.ts'
import { createProject, type Project } from '../support/project.ts'

const OWNED = { cc_session_id: SESSION, agent_id: 'agent-a', reason: 'pending' }
const GUARD = 'specs/259_x/.postflight-loop-guard'

/** Runs git with nothing of the user's configuration. */
function git(project: Project, cwd: string, ...words: string[]): void {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
  execFileSync('git', [...identity, ...words], {
    cwd,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, HOME: project.home, GIT_CONFIG_NOSYSTEM: '1' },
  })
}

/** A project that git knows, with one commit. */
function createRepository(): Project {
  const project = createProject({ git: false })
  git(project, project.dir, 'init', '--quiet')
  project.write('README', 'hello\n')
  git(project, project.dir, 'add', 'README')
  git(project, project.dir, 'commit', '--quiet', '-m', 'first')
  return project
}

describe.concurrent('the hook finds the marker', () => {
  it('when the agent went three folders down', async () => {
    const project = createProject()
    project.marker('259_x', OWNED)
    const cwd = project.at('src', 'deep', 'er')
    mkdirSync(cwd, { recursive: true })

    const { answer } = await project.hook(subagentStop(), { cwd })

    expect(answer.decision).toBe('block')
    expect(answer.reason).toMatch(/clear the marker: postflight clear 259_x\n/)
    expect(project.read(GUARD)).toBe('1\n')
  })

  it.each([
    'with spaces in it',
    'Übung – ümlaute é',
    `qu'ote "double" $HOME \`x\``,
    '-dash',
    'new\nline',
    '[a]*?',
    'ü\u0301',
  ])('in a folder called %j', async (name) => {
    const project = createProject({ name })
    project.marker('259_x', OWNED)
    mkdirSync(project.at('a folder'))

    const { answer } = await project.hook(subagentStop(), { cwd: project.at('a folder') })

    expect(answer.decision).toBe('block')
  })

  it("from a worktree, by the host's project variable, and prints the command with --root", async () => {
    const project = createRepository()
    const worktree = project.at('.claude', 'worktrees', 'agent-a')
    git(project, project.dir, 'worktree', 'add', '--quiet', worktree, '-b', 'agent-a')
    project.marker('259_x', OWNED)

    const { answer } = await project.hook(subagentStop(), { cwd: worktree, env: { CLAUDE_PROJECT_DIR: project.dir } })

    expect(answer.decision).toBe('block')
    expect(answer.reason).toContain(`postflight clear 259_x --root ${project.dir}\n`)
  })

  it('in a worktree of its own, though the project variable names the main checkout', async () => {
    const project = createRepository()
    const worktree = project.at('.claude', 'worktrees', 'agent-a')
    git(project, project.dir, 'worktree', 'add', '--quiet', worktree, '-b', 'agent-a')
    mkdirSync(join(worktree, 'specs', '259_x'), { recursive: true })
    writeFileSync(join(worktree, 'specs', '259_x', '.postflight-pending'), JSON.stringify(OWNED))
    const env = { CLAUDE_PROJECT_DIR: project.dir }

    expect((await project.hook(subagentStop(), { cwd: worktree, env })).answer.decision).toBe('block')
    expect((await project.hook(subagentStop(), { env })).answer).toEqual({})
  })

  it('in worktree and main checkout at once: both are listed, each with a command that finds it', async () => {
    const project = createRepository()
    const worktree = project.at('wt')
    git(project, project.dir, 'worktree', 'add', '--quiet', worktree, '-b', 'agent-a')
    mkdirSync(join(worktree, 'specs', '001_here'), { recursive: true })
    writeFileSync(join(worktree, 'specs', '001_here', '.postflight-pending'), JSON.stringify(OWNED))
    project.marker('002_there', OWNED)

    const { answer } = await project.hook(subagentStop(), { cwd: worktree, env: { CLAUDE_PROJECT_DIR: project.dir } })

    expect(answer.reason).toContain('postflight clear 001_here\n')
    expect(answer.reason).toContain(`postflight clear 002_there --root ${project.dir}\n`)
  })

  it.each(['CLAUDE_PROJECT_DIR', 'COPILOT_PROJECT_DIR', 'QWEN_PROJECT_DIR', 'FACTORY_PROJECT_DIR', 'POSTFLIGHT_ROOT'])(
    'by %s, from a folder that leads nowhere',
    async (name) => {
      const project = createProject()
      // On droid a SubagentStop is only told, so a main conversation stops here.
      project.marker('259_x', { ...OWNED, agent_id: 'main' })

      const { answer } = await project.hook(stop(), { cwd: project.home, env: { [name]: project.dir } })

      expect(answer.decision).toBe('block')
    },
  )

  it("by the payload's cwd, where the process's own leads to another project", async () => {
    const project = createProject()
    const other = createProject()
    project.marker('259_x', OWNED)
    other.marker('001_other', { ...OWNED, cc_session_id: 'elsewhere' })

    const { answer } = await project.hook(subagentStop({ cwd: project.dir }), { cwd: other.dir })

    expect(answer.decision).toBe('block')
  })

  it('once, though three variables and a link name the same project', async () => {
    const project = createProject()
    project.marker('259_x', OWNED)
    const link = join(project.base, 'link')
    symlinkSync(project.dir, link)

    const { answer } = await project.hook(subagentStop({ cwd: link }), {
      cwd: link,
      env: {
        CLAUDE_PROJECT_DIR: link,
        QWEN_PROJECT_DIR: `${project.dir}/`,
        POSTFLIGHT_ROOT: `${project.dir}/specs/..`,
      },
    })

    expect(answer.reason?.match(/Task 259_x/g)).toHaveLength(1)
    expect(project.read(GUARD)).toBe('1\n')
  })

  it.each([
    ['specs itself', '.'],
    ['a task folder', '259_x'],
    ['a folder with a name of its own', 'feature-y'],
    ['a hidden folder', '.hidden'],
    ['an archive', 'archive/012_x'],
    ['a hidden folder below an archive', 'archive/.x'],
    ['a folder whose name begins with two dots', '..x'],
  ])('in %s', async (_where, task) => {
    const project = createProject()
    project.marker(task, OWNED)

    expect((await project.hook(subagentStop())).answer.decision).toBe('block')
  })

  it('though specs/ in the agent’s folder is a link: the real one above it counts', async () => {
    const project = createProject()
    project.marker('259_x', OWNED)
    mkdirSync(project.at('src'))
    symlinkSync(project.home, project.at('src', 'specs'))

    expect((await project.hook(subagentStop(), { cwd: project.at('src') })).answer.decision).toBe('block')
  })
})

describe.concurrent('the hook finds nothing', () => {
  it('where there is no specs/ at all', async () => {
    const project = createProject({ specs: false })

    expect(await project.hook(subagentStop())).toMatchObject({ stdout: '{}\n', stderr: '' })
    expect(project.snapshot()).toEqual({})
  })

  it('beyond the repository’s top', async () => {
    const project = createProject()
    project.marker('259_x', OWNED)
    mkdirSync(project.at('vendored', '.git'), { recursive: true })

    expect((await project.hook(subagentStop(), { cwd: project.at('vendored') })).stdout).toBe('{}\n')
  })

  it.each([
    ['two below a task folder', '259_x/sub'],
    ['three below specs', 'a/b/c'],
  ])('%s', async (_where, task) => {
    const project = createProject()
    project.marker(task, OWNED)

    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
  })

  it.each(['specs', 'task folder'])('behind a %s that is a link, whatever it holds', async (what) => {
    const project = createProject({ specs: what !== 'specs' })
    mkdirSync(join(project.base, 'real', '259_x'), { recursive: true })
    writeFileSync(join(project.base, 'real', '259_x', '.postflight-pending'), JSON.stringify(OWNED))
    if (what === 'specs') symlinkSync(join(project.base, 'real'), project.at('specs'))
    else symlinkSync(join(project.base, 'real', '259_x'), project.at('specs', '259_x'))

    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    expect(project.snapshot('../real')).toEqual({
      '259_x': 'folder',
      '259_x/.postflight-pending': JSON.stringify(OWNED),
    })
  })

  it.each([
    ['is not there', 'nowhere'],
    ['is empty', ''],
    ['is no path at all', '\u0007\n"'],
  ])('by a project variable that %s, and the others still count', async (_how, value) => {
    const project = createProject()
    project.marker('259_x', OWNED)

    const run = await project.hook(subagentStop(), {
      cwd: project.home,
      env: { CLAUDE_PROJECT_DIR: value, QWEN_PROJECT_DIR: project.dir },
    })

    expect(run.answer.decision).toBe('block')
  })

  it('from a folder that is gone, but by the project variable', async () => {
    const project = createProject()
    project.marker('259_x', OWNED)
    mkdirSync(project.at('gone'))
    const script = `cd gone && rmdir ../gone && exec "$0"`
    const program = ['sh', '-c', script, LAUNCHER] as const
    const payload = subagentStop({ cwd: project.at('gone') })

    const without = await project.hook(payload, { program })
    mkdirSync(project.at('gone'))
    const run = await project.hook(payload, { program, env: { CLAUDE_PROJECT_DIR: project.dir } })

    expect(without.stdout).toBe('{}\n')
    expect(run.answer.decision).toBe('block')
  })
})

describe.concurrent('a marker that git tracks', () => {
  function cloned(format: 'plain' | 'index version 4' | 'worktree'): Project {
    const origin = createProject({ git: false })
    origin.marker('259_x', { reason: 'rm -rf everything' })
    git(origin, origin.dir, 'init', '--quiet')
    git(origin, origin.dir, 'add', '-A')
    git(origin, origin.dir, 'commit', '--quiet', '-m', 'with a marker')
    const project = createProject({ specs: false, git: false, name: 'clone' })
    if (format === 'worktree') git(origin, origin.dir, 'worktree', 'add', '--quiet', project.dir, '-b', 'other')
    else git(origin, project.base, 'clone', '--quiet', origin.dir, 'clone')
    if (format === 'index version 4') git(project, project.dir, 'update-index', '--index-version', '4')
    return project
  }

  it.each(['plain', 'index version 4', 'worktree'] as const)(
    'and that came with a clone (%s) holds nobody, and is left as it is',
    async (format) => {
      const project = cloned(format)
      const before = project.snapshot()

      expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
      expect(project.snapshot()).toEqual(before)
    },
  )

  it('but was written anew since holds the agent', async () => {
    const project = cloned('plain')
    project.marker('259_x', { reason: 'a live promise' })

    expect((await project.hook(subagentStop())).answer.reason).toContain('a live promise')
  })

  it('but names the session holds that session', async () => {
    const project = createRepository()
    project.marker('259_x', OWNED)
    git(project, project.dir, 'add', '-A')
    git(project, project.dir, 'commit', '--quiet', '-m', 'in the middle of a postflight')

    expect((await project.hook(subagentStop())).answer.decision).toBe('block')
  })
})

describe.concurrent('the hook never looks', () => {
  it('through a marker that is a link, and leaves it and its target alone', async () => {
    const project = createProject()
    project.write('precious', JSON.stringify({ ...OWNED, stop_hook_active: true }))
    mkdirSync(project.at('specs/259_x'))
    symlinkSync(project.at('precious'), project.at('specs/259_x/.postflight-pending'))
    const before = project.snapshot('specs/259_x')

    const run = await project.hook(subagentStop(), { program: [`${project.base}/bin/node`, HOOK_BUNDLE] })

    expect(run.stdout).toBe('{}\n')
    expect(run.stderr).toContain('specs/259_x/.postflight-pending could not be used (a link)')
    expect(project.snapshot('specs/259_x')).toEqual(before)
    expect(project.has('precious')).toBe(true)
  })
})
