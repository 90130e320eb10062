import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { git } from '../../stress/tables/git.ts'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { LAUNCHER } from '../../support/process.ts'
import { createSourceProject, hoursAgo, type Project } from '../../support/project.ts'

const WITH_ID = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', operation: 'o', steps: ['x'] }
const BARE = { session_id: 'sess_1_abc', created: hoursAgo(0), reason: 'BARE' }
const NOTE = 'specs/.postflight/given-up/259_x'
const env = { CLAUDE_CODE_SESSION_ID: SESSION }

const answerOf = async (project: Project) => (await project.hook(subagentStop())).answer
const blocksAgain = async (project: Project): Promise<void> =>
  expect((await answerOf(project)).reason).toContain('Blocked stop 1 of 3')

async function blocksOf(project: Project, stops: number): Promise<number> {
  let blocks = 0
  for (let stop = 0; stop < stops; stop++) if ((await answerOf(project)).decision === 'block') blocks += 1
  return blocks
}

function commitAll(project: Project): void {
  project.write('specs/259_x/plan.md', '# Plan')
  git(project.dir, 'init', '--quiet')
  git(project.dir, 'add', '-A')
  git(project.dir, 'commit', '--quiet', '-m', 'with a marker')
}

/** A project whose marker was blocked three times and given up. `reset` brings it back as `git clean` and `reset --hard` do. */
async function givenUp(content: object, task = '259_x', tracked = false) {
  const project = createSourceProject({ git: !tracked })
  const marker = project.marker(task, { ...content })
  const text = project.read(marker)
  if (tracked) commitAll(project)
  expect(await blocksOf(project, 4)).toBe(3)
  expect(project.has(marker)).toBe(false)
  const abandoned = marker.replace('pending', 'abandoned')
  expect(JSON.parse(project.read(abandoned))).toMatchObject(content)
  const bringBack = (): unknown => project.write(marker, text)
  const reset = (): void => {
    rmSync(project.at(abandoned), { force: true })
    bringBack()
  }
  return { project, marker, bringBack, reset }
}

describe.concurrent('a marker that was given up, and is beside its abandoned file again', () => {
  it.each([
    ['bypass', '259'],
    ['step', '259', 'x'],
    ['bypass', '--all'],
  ])('can be changed: %s %s', async (...words) => {
    const { project, bringBack } = await givenUp(WITH_ID)
    bringBack()
    expect(await project.cli(words, { env })).toMatchObject({ status: 0, stderr: '' })
  })

  it.each([
    ['create', ['create', '259', '--operation', 'o', '--agent', 'agent-a']],
    ['adopt', ['adopt', '259', '--agent', 'agent-a']],
  ])('is a new marker after %s: it blocks three stops', async (_what, words) => {
    const { project, bringBack } = await givenUp(WITH_ID)
    bringBack()
    expect((await project.cli(words, { env })).status).toBe(0)
    expect(await blocksOf(project, 5)).toBe(3)
  })
})

describe.concurrent('a marker that was given up', () => {
  async function staysGivenUp(project: Project, marker: string): Promise<void> {
    expect(project.has(marker)).toBe(true)
    const payload = project.write('payload', JSON.stringify({ cwd: project.dir, ...subagentStop() }))
    const explained = await project.cli(['explain', '--payload', payload, '--json'])
    expect(explained.json().markers[0]).toMatchObject({ rule: 'capped' })
    expect((await project.cli(['inspect', '--json'])).json().markers[0].continuations.spent).toBe(3)
    expect((await answerOf(project)).decision).toBeUndefined()
    expect(project.has(marker)).toBe(false)
  }

  it('stays given up if its loop guard is tracked too, with a count below the limit', async () => {
    const project = createSourceProject({ git: false })
    const marker = project.marker('259_x', WITH_ID)
    expect(await blocksOf(project, 1)).toBe(1)
    commitAll(project)
    await blocksOf(project, 3)
    expect(project.has(marker)).toBe(false)
    for (const clean of [false, true]) {
      git(project.dir, 'reset', '--hard', '--quiet')
      if (clean) git(project.dir, 'clean', '-fdq')
      expect(project.has(marker)).toBe(true)
      expect(await blocksOf(project, 1)).toBe(0)
    }
  })

  it.each([
    ['checkout', ['checkout --quiet -- .']],
    ['stash', ['stash --quiet --include-untracked']],
    ['clean and reset', ['clean -fdq', 'reset --hard --quiet']],
  ])('stays given up when git brings it back by %s', async (_how, commands) => {
    const { project, marker } = await givenUp(WITH_ID, '259_x', true)
    for (let round = 0; round < 2; round++) {
      for (const command of commands) git(project.dir, ...command.split(' '))
      await staysGivenUp(project, marker)
    }
  })

  it.each([
    ['without an id', BARE, '259_x'],
    ['of an archived task', WITH_ID, 'archive/012_y'],
    ['in specs/ itself', WITH_ID, '.'],
  ])('stays given up when it is brought back: one %s', async (_what, content, task) => {
    const { project, marker, bringBack, reset } = await givenUp(content, task)
    for (const again of [reset, reset, bringBack, bringBack]) {
      again()
      await staysGivenUp(project, marker)
    }
  })

  it.each([
    ['created again', ['create', '259', '--operation', 'research', '--agent', 'agent-a', '--force']],
    ['adopted', ['adopt', '259', '--agent', 'agent-a']],
  ])('blocks again when it is %s', async (_how, words) => {
    for (const content of [WITH_ID, BARE]) {
      const { project, reset } = await givenUp(content)
      reset()
      expect((await project.cli([...words, '--host-session', SESSION])).status).toBe(0)
      await blocksAgain(project)
    }
  })

  it('blocks again when it was cleared and is brought back', async () => {
    const { project, reset } = await givenUp(WITH_ID)
    await project.cli(['clear', '259'])
    reset()
    await blocksAgain(project)
  })

  it.each([
    ['another id', { ...WITH_ID, id: 'pf_zzzzzzzzzzzz' }],
    ['another session of its skill', { ...BARE, session_id: 'sess_2_abc' }],
    ['no content', ''],
    ['neither id nor time', { reason: 'x' }],
  ])('leaves another marker in its folder alone: one with %s', async (_what, content) => {
    for (const before of [WITH_ID, BARE]) {
      const { project } = await givenUp(before)
      project.marker('259_x', content)
      await blocksAgain(project)
    }
  })

  it.each<[string, (project: Project) => unknown]>([
    ['a link', (project) => symlinkSync('/etc/hostname', project.at(NOTE))],
    ['a folder', (project) => mkdirSync(project.at(NOTE))],
    ['a named pipe', (project) => project.shell(`mkfifo ${NOTE}`)],
    ['a large file', (project) => project.write(NOTE, '\0'.repeat(100_000))],
    ['an empty file', (project) => project.write(NOTE, '')],
    ['another text', (project) => project.write(NOTE, '../../x')],
  ])('blocks if %s is in place of the note', async (what, lay) => {
    const { project, reset } = await givenUp(WITH_ID)
    expect(project.read(NOTE)).toBe(`${WITH_ID.id}\n`)
    reset()
    rmSync(project.at(NOTE))
    await lay(project)
    // Only a process that hangs can be killed.
    const run = await project.hook(subagentStop(), what === 'a named pipe' ? { program: [LAUNCHER] } : {})
    expect(run.answer.reason).toContain('Blocked stop 1 of 3')
    expect(run.stderr).toBe('')
  })

  it('is not looked for through a link', async () => {
    const { project, reset } = await givenUp(WITH_ID)
    reset()
    renameSync(project.at('specs/.postflight/given-up'), project.at('elsewhere'))
    symlinkSync('../../elsewhere', project.at('specs/.postflight/given-up'))
    await blocksAgain(project)
  })
})
