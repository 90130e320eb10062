import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT_VARIABLES } from '../../../src/project/root.ts'
import { git } from '../../support/machines.ts'
import { SESSION, sessionStart, stop, subagentStop } from '../../support/payloads.ts'
import { canRun, HOOK_BUNDLE, LAUNCHER, PACKAGE, skipNote } from '../../support/process.ts'
import { createProject, createSourceProject, hoursAgo, type Project, withMarker } from '../../support/project.ts'

const MAY_MOUNT = canRun('unshare --mount true')
const OWNED = { cc_session_id: SESSION, agent_id: 'agent-a', reason: 'pending' }
const GUARD = 'specs/259_x/.postflight-loop-guard'

/** A project whose files are as old as this checkout. */
const FROM_BEFORE = join(PACKAGE, 'test', 'fixtures', 'from-before')

/** A project with a folder as `git worktree add` makes it. */
function withWorktree(create = createSourceProject) {
  const project = create()
  const worktree = '.claude/worktrees/agent-a'
  project.write(`${worktree}/.git`, `gitdir: ${project.at('.git/worktrees/agent-a')}\n`)
  return { project, worktree, env: { CLAUDE_PROJECT_DIR: project.dir } }
}

describe.concurrent('the hook finds the marker', () => {
  it('when the agent is three folders below the root', async () => {
    const project = withMarker(OWNED, '259_x', createProject)
    const cwd = project.at('src', 'deep', 'er')
    mkdirSync(cwd, { recursive: true })
    const { answer } = await project.hook(subagentStop(), { cwd })
    expect(answer.decision).toBe('block')
    expect(answer.reason).toMatch(/clear the marker: postflight clear 259_x\n/)
    expect(project.read(GUARD)).toBe('1\n')
  })

  it.each([`qu'ote "double" $HOME \`x\``, '-dash', 'new\nline'])('in a folder called %j', async (name) => {
    const project = createProject({ name })
    project.marker('259_x', OWNED)
    mkdirSync(project.at('a folder'))
    expect((await project.hook(subagentStop(), { cwd: project.at('a folder') })).answer.decision).toBe('block')
  })

  it("from a worktree, by the host's project variable, and prints the command with --root", async () => {
    const { project, worktree, env } = withWorktree(createProject)
    project.marker('259_x', OWNED)
    const { answer } = await project.hook(subagentStop(), { cwd: project.at(worktree), env })
    expect(answer.reason).toContain(`postflight clear 259_x --root ${project.dir}\n`)
  })

  it('in a worktree of its own, though the project variable names the main checkout', async () => {
    const { project, worktree, env } = withWorktree()
    project.write(`${worktree}/specs/259_x/.postflight-pending`, JSON.stringify(OWNED))
    expect((await project.hook(subagentStop(), { cwd: project.at(worktree), env })).answer.decision).toBe('block')
    expect((await project.hook(subagentStop(), { env })).answer).toEqual({})
    project.marker('100_y', OWNED)
    const both = await project.hook(subagentStop(), {
      cwd: project.at(worktree),
      env: { POSTFLIGHT_ROOT: project.dir },
    })
    expect(both.answer.reason, 'in path order').toMatch(/259_x.*100_y/s)
  })

  it('in worktree and main checkout: both are listed, each with a command that finds it', async () => {
    const { project, worktree, env } = withWorktree()
    project.write(`${worktree}/specs/001_here/.postflight-pending`, JSON.stringify(OWNED))
    project.marker('002_there', OWNED)
    const { answer } = await project.hook(subagentStop(), { cwd: project.at(worktree), env })
    expect(answer.reason).toContain('postflight clear 001_here\n')
    expect(answer.reason).toContain(`postflight clear 002_there --root ${project.dir}\n`)
  })

  it.each([...PROJECT_VARIABLES, 'POSTFLIGHT_ROOT'])('by %s, from a folder that leads nowhere', async (name) => {
    // droid ignores the answer to a SubagentStop, so here a main conversation stops.
    const project = withMarker({ ...OWNED, agent_id: 'main' })
    const { answer } = await project.hook(stop(), { cwd: project.home, env: { [name]: project.dir } })
    expect(answer.decision).toBe('block')
  })

  it("by the payload's cwd, if the process's own cwd leads to another project", async () => {
    const project = withMarker(OWNED)
    const other = withMarker({ ...OWNED, cc_session_id: 'elsewhere' }, '001_other')
    expect((await project.hook(subagentStop({ cwd: project.dir }), { cwd: other.dir })).answer.decision).toBe('block')
  })

  it('once, though three variables and a link name the same project', async () => {
    const project = withMarker(OWNED)
    const link = join(project.base, 'link')
    symlinkSync(project.dir, link)
    const [QWEN_PROJECT_DIR, POSTFLIGHT_ROOT] = [`${project.dir}/`, `${project.dir}/specs/..`]
    const env = { CLAUDE_PROJECT_DIR: link, QWEN_PROJECT_DIR, POSTFLIGHT_ROOT }
    const { answer } = await project.hook(subagentStop({ cwd: link }), { cwd: link, env })
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
  ])('in %s', async (_where, task) =>
    expect((await withMarker(OWNED, task).hook(subagentStop())).answer.decision).toBe('block'),
  )

  it('above the agent’s folder, if specs/ is a link', async () => {
    const project = withMarker(OWNED)
    mkdirSync(project.at('src'))
    symlinkSync(project.home, project.at('src', 'specs'))
    expect((await project.hook(subagentStop(), { cwd: project.at('src') })).answer.decision).toBe('block')
  })
})

describe.concurrent('a specs/ that is a repository of its own', () => {
  const createNested = (gitEntry: 'folder' | 'file', create = createSourceProject): Project => {
    const project = create()
    if (gitEntry === 'folder') mkdirSync(project.at('specs/.git'))
    else project.write('specs/.git', 'gitdir: ../.git/modules/specs\n')
    return project
  }

  it.each(['folder', 'file'] as const)('with .git as a %s: the hook that starts inside it blocks', async (gitEntry) => {
    const project = createNested(gitEntry, createProject)
    project.marker('259_x', OWNED)
    for (const program of [undefined, [`${project.base}/bin/node`, HOOK_BUNDLE] as const]) {
      const cwd = project.at('specs', '259_x')
      const { answer } = await project.hook(subagentStop(), { cwd, ...(program && { program }) })
      expect(answer.reason).toContain('clear the marker: postflight clear 259_x\n')
    }
  })

  it('is where commands that start inside it find the project', async () => {
    const project = createNested('folder')
    const created = await project.cli(['create', '259', 'x', '--json'], { cwd: project.at('specs') })
    expect(created.json().path).toBe(project.at('specs/259_x/.postflight-pending'))
    expect((await project.cli(['clear', '259'], { cwd: project.at('specs', '259_x') })).stdout).toMatch(/^cleared /)
    expect(project.has('specs/specs')).toBe(false)
  })

  it('as a link to a repository gets no specs/ in it', async () => {
    const project = createProject({ specs: false })
    mkdirSync(join(project.base, 'elsewhere', '.git'), { recursive: true })
    symlinkSync(join(project.base, 'elsewhere'), project.at('specs'))
    const run = await project.cli(['create', '259', 'x', '--root', project.at('specs')])
    expect(run).toMatchObject({ status: 73, stderr: expect.stringContaining('is a link, but must be a real folder') })
    expect(readdirSync(join(project.base, 'elsewhere'))).toEqual(['.git'])
  })
})

describe.concurrent('a marker that two roots lead to', () => {
  /** A project with another root below its specs/, and the place of a marker that both of them find. */
  const createNested = (create = createSourceProject) => {
    const project = create()
    project.marker('specs/259_x', OWNED)
    return { project, env: { POSTFLIGHT_ROOT: project.dir }, cwd: project.at('specs') }
  }

  it('is blocked three times, each stop counted once, with one entry in the reason', async () => {
    const { project, env, cwd } = createNested(createProject)
    for (const count of [1, 2, 3]) {
      const { answer } = await project.hook(subagentStop(), { cwd, env })
      expect(answer.reason?.match(/Task .*259_x/g)).toHaveLength(1)
      expect(answer.reason).toContain(`Blocked stop ${count} of 3`)
      expect(project.read('specs/specs/259_x/.postflight-loop-guard')).toBe(`${count}\n`)
    }
    expect((await project.hook(subagentStop(), { cwd, env })).answer.decision).toBe(undefined)
    expect(project.has('specs/specs/259_x/.postflight-abandoned')).toBe(true)
  })

  it('is listed once by explain and when a session starts', async () => {
    const { project, env, cwd } = createNested()
    project.write('payload.json', JSON.stringify({ ...subagentStop(), cwd }))
    const explained = await project.cli(['explain', '--payload', project.at('payload.json'), '--json'], { cwd, env })
    const { answer } = await project.hook(sessionStart('startup'), { cwd, env, words: ['SessionStart'] })
    expect(explained.json().roots).toEqual([project.dir, project.at('specs')])
    expect(explained.json().markers).toHaveLength(1)
    expect(answer.hookSpecificOutput?.additionalContext.match(/259_x: pending/g)).toHaveLength(1)
  })

  it('as the marker of specs/ itself is counted once', async () => {
    const project = withMarker(OWNED, 'feature-y/specs')
    await project.hook(subagentStop(), { cwd: project.at('specs/feature-y'), env: { CLAUDE_PROJECT_DIR: project.dir } })
    expect(project.read('specs/feature-y/specs/.postflight-loop-guard')).toBe('1\n')
  })

  it('does not hide a marker of the same task in another root', async () => {
    const { project, env, cwd } = createNested()
    project.marker('259_x', OWNED)
    expect((await project.hook(subagentStop(), { cwd, env })).answer.reason?.match(/Task .*259_x/g)).toHaveLength(2)
  })

  it.runIf(MAY_MOUNT)(
    `by a bind mount is counted once${skipNote(MAY_MOUNT, 'mounting needs rights that are missing here')}`,
    async () => {
      const project = withMarker(OWNED)
      const other = join(project.base, 'mounted')
      mkdirSync(other)
      const script = `mount --bind "$0" "$1" && cd "$1" && exec "$2"`
      const program = ['unshare', '--mount', 'sh', '-c', script, project.dir, other, LAUNCHER] as const
      const env = { POSTFLIGHT_ROOT: project.dir, PATH: `${project.env.PATH}:/usr/sbin:/sbin` }
      expect((await project.hook(subagentStop({ cwd: other }), { program, env })).answer.decision).toBe('block')
      expect(project.read(GUARD)).toBe('1\n')
    },
  )
})

describe.concurrent('the hook finds nothing', () => {
  it('without a specs/ folder', async () => {
    const project = createProject({ specs: false })
    expect(await project.hook(subagentStop())).toMatchObject({ stdout: '{}\n', stderr: '' })
    expect(project.snapshot()).toEqual({})
  })

  it.each<[string, string, string, string[]?]>([
    ['above the repository’s top', '259_x', 'vendored', ['vendored/.git']],
    ['above a repository whose name only ends with specs', '259_x', 'my-specs', ['my-specs/.git']],
    ['in a folder of a task folder', '259_x/sub', '.'],
    ['three folders below specs/', 'a/b/c', '.'],
  ])('%s', async (_where, task, cwd, folders = []) => {
    const project = withMarker(OWNED, task)
    for (const folder of folders) mkdirSync(project.at(folder), { recursive: true })
    expect((await project.hook(subagentStop(), { cwd: project.at(cwd) })).stdout).toBe('{}\n')
  })

  it.each(['specs', 'task folder'])('behind a %s that is a link', async (what) => {
    const project = createProject({ specs: what !== 'specs' })
    mkdirSync(join(project.base, 'real', '259_x'), { recursive: true })
    writeFileSync(join(project.base, 'real', '259_x', '.postflight-pending'), JSON.stringify(OWNED))
    if (what === 'specs') symlinkSync(join(project.base, 'real'), project.at('specs'))
    else symlinkSync(join(project.base, 'real', '259_x'), project.at('specs', '259_x'))
    expect((await project.hook(subagentStop())).stdout).toBe('{}\n')
    const marker = JSON.stringify(OWNED)
    expect(project.snapshot('../real')).toEqual({ '259_x': 'folder', '259_x/.postflight-pending': marker })
  })

  it.each([
    ['names a missing folder', 'nowhere'],
    ['is empty', ''],
    ['is not a path', '\u0007\n"'],
  ])('by a project variable that %s, and still uses the others', async (_how, value) => {
    const project = withMarker(OWNED)
    const env = { CLAUDE_PROJECT_DIR: value, QWEN_PROJECT_DIR: project.dir }
    expect((await project.hook(subagentStop(), { cwd: project.home, env })).answer.decision).toBe('block')
  })

  it('from a deleted folder, but finds it by the project variable', async () => {
    const project = withMarker(OWNED)
    mkdirSync(project.at('gone'))
    const script = `cd gone && rmdir ../gone && exec "$0"`
    const program = ['sh', '-c', script, LAUNCHER] as const
    const payload = subagentStop({ cwd: project.at('gone') })
    expect((await project.hook(payload, { program })).stdout).toBe('{}\n')
    mkdirSync(project.at('gone'))
    const run = await project.hook(payload, { program, env: { CLAUDE_PROJECT_DIR: project.dir } })
    expect(run.answer.decision).toBe('block')
  })
})

const OLD = { reason: 'rm -rf everything', created: hoursAgo(2) }

const withOldMarker = (): Project => withMarker(OLD)

/** A clone of a repository that holds such a marker, which git writes once more during the session. */
function withRestoredMarker(): Project {
  const origin = createProject({ git: false })
  origin.marker('259_x', OLD)
  git(origin.dir, 'init', '--quiet')
  git(origin.dir, 'add', '-A')
  git(origin.dir, 'commit', '--quiet', '-m', 'with a marker')
  const project = createProject({ specs: false, git: false, name: 'clone' })
  git(project.base, 'clone', '--quiet', origin.dir, 'clone')
  rmSync(project.at('specs'), { recursive: true })
  git(project.dir, 'checkout', '--quiet', '--', 'specs')
  return project
}

describe.concurrent('an unowned marker that', () => {
  it.each([
    ['was left by an earlier session', withOldMarker],
    ['was cloned, and restored by git during the session', withRestoredMarker],
  ])('%s does not block a sub-agent of a new session, and stays as it is', async (_origin, make) => {
    const project = make()
    const before = project.snapshot()
    expect((await project.hook(subagentStop({ transcript_path: project.transcript() }))).stdout).toBe('{}\n')
    expect(project.snapshot()).toEqual(before)
  })

  it('does not state its age does not block if its file is older than the session', async () => {
    const project = createProject()
    // A part of this repository, so its files are older than this test.
    const payload = subagentStop({ cwd: FROM_BEFORE, transcript_path: project.transcript() })
    expect((await project.hook(payload, { cwd: FROM_BEFORE })).stdout).toBe('{}\n')
    const files = ['001_empty', '002_words', '003_json'].flatMap((task) => [task, `${task}/.postflight-pending`])
    expect(readdirSync(join(FROM_BEFORE, 'specs'), { recursive: true }).sort()).toEqual(files)
  })

  it('was left by an earlier session is announced when a session starts', async () => {
    const { answer } = await withOldMarker().hook(sessionStart('startup'), { words: ['SessionStart'] })
    expect(answer.hookSpecificOutput?.additionalContext).toContain('259_x: pending, without a session, 2 h old')
  })

  it.each([
    ['names the session', () => ({ ...OWNED, created: hoursAgo(2) })],
    ['was written during the session', () => ({ reason: 'pending' })],
    ['says that it was written during the session', () => ({ reason: 'pending', created: hoursAgo(0) })],
  ])('%s blocks', async (_what, fieldsNow) => {
    const project = createSourceProject()
    const payload = subagentStop({ transcript_path: project.transcript() })
    project.marker('259_x', fieldsNow())
    expect((await project.hook(payload)).answer.reason).toMatch(/^pending\n/)
  })

  it.each([
    ['the payload names no transcript', () => ({})],
    ['the transcript does not exist', (project: Project) => ({ transcript_path: project.at('nowhere.jsonl') })],
    ['the host is another one', (project: Project) => ({ transcript_path: project.transcript(), turn_id: 'turn-1' })],
  ])('was left by an earlier session blocks if the session’s birth is not known: %s', async (_why, more) => {
    const project = withOldMarker()
    const { answer } = await project.hook(subagentStop({ transcript_path: undefined, ...more(project) }))
    expect(answer.decision).toBe('block')
  })
})

describe.runIf(process.platform === 'linux')('a task folder whose name is not UTF-8', () => {
  /** Makes a folder below specs/ with the byte 0xff at the end of its name, and a marker in it. */
  function putUndecodable(project: Project, name: string, child = ''): void {
    const folder = Buffer.concat([Buffer.from(project.at('specs', name)), Buffer.from([0xff]), Buffer.from(child)])
    mkdirSync(folder, { recursive: true })
    writeFileSync(Buffer.concat([folder, Buffer.from('/.postflight-pending')]), JSON.stringify(OWNED))
  }

  it.each([
    ['a task folder', '259_', ''],
    ['an archive', 'archive', '/012_x'],
  ])('as %s is passed over by the hook', async (_where, name, child) => {
    const project = createProject()
    putUndecodable(project, name, child)
    const run = await project.hook(subagentStop(), { env: { CLAUDECODE: '1', CLAUDE_PROJECT_DIR: project.dir } })
    expect(run).toMatchObject({ stdout: '{}\n', stderr: '' })
  })

  it('as the current folder leads to no root', async () => {
    const project = createSourceProject()
    putUndecodable(project, '259_')
    project.marker('001_other', OWNED)
    const program = ['sh', '-c', `cd "$(printf 'specs/259_\\377')" && exec "$0"`, LAUNCHER] as const
    const payload = subagentStop({ cwd: project.at('specs', '259_\ufffd') })
    expect(await project.hook(payload, { program })).toMatchObject({ stdout: '{}\n', stderr: '' })
  })

  it('is passed over by every command, with the folder whose name it seems to have; doctor names both', async () => {
    const project = createSourceProject()
    putUndecodable(project, '259_')
    project.marker('259_\ufffd', OWNED)
    project.marker('001_other', OWNED)
    project.write('specs/archive/012_\ufffd/notes', '')
    expect((await project.hook(subagentStop())).answer.reason).not.toContain('259_')
    for (const line of ['clear 259', 'bypass --all', 'clear --all', 'create 259 x'])
      expect(await project.cli(line.split(' ')), line).toMatchObject({ status: 0, stderr: '' })
    expect((await project.cli(['inspect'])).stdout).not.toContain('\ufffd')
    const examined = await project.cli(['doctor'])
    expect(project.has('specs/259_x/.postflight-pending')).toBe(true)
    expect(project.has('specs/259_\ufffd/.postflight-pending')).toBe(true)
    for (const folder of ['259_\ufffd', 'archive/012_\ufffd'])
      expect(examined.stdout).toContain(`specs/${folder} cannot be searched (its name is not UTF-8`)
  })
})
