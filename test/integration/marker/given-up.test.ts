import { describe, expect, it } from 'vitest'
import { git } from '../../stress/tables/git.ts'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { createProject } from '../../support/project.ts'

/** A project whose repository tracks a marker that was blocked three times and given up. */
async function givenUp(content: string | Readonly<Record<string, unknown>>, task = '259_x') {
  const project = createProject({ git: false, sources: true })
  const marker = project.marker(task, content)
  project.write(`specs/${task}/plan.md`, '# Plan')
  git(project.dir, 'init', '--quiet')
  git(project.dir, 'add', '-A')
  git(project.dir, 'commit', '--quiet', '-m', 'with a marker')
  let blocks = 0
  for (let stop = 0; stop < 4; stop++) {
    if ((await project.hook(subagentStop())).answer.decision === 'block') blocks += 1
  }
  expect(blocks).toBe(3)
  expect(project.has(marker)).toBe(false)
  return { project, marker }
}

describe.concurrent('a tracked marker that was given up, and lies beside its abandoned file again', () => {
  const FIELDS = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'main', operation: 'o', steps: ['x'] }
  const env = { CLAUDE_CODE_SESSION_ID: SESSION }

  async function broughtBack() {
    const { project, marker } = await givenUp({ ...FIELDS, agent_id: 'agent-a' })
    git(project.dir, 'checkout', '--quiet', '--', '.')
    return { project, marker }
  }

  it.each([
    ['bypass', '259'],
    ['step', '259', 'x'],
    ['bypass', '--all'],
  ])('can be changed: %s %s', async (...words) => {
    const { project } = await broughtBack()

    const run = await project.cli(words, { env })

    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.each([
    ['create', ['create', '259', '--operation', 'o', '--agent', 'agent-a']],
    ['adopt', ['adopt', '259', '--agent', 'agent-a']],
  ])('is a new marker after %s: it blocks three stops', async (_what, words) => {
    const { project } = await broughtBack()
    expect((await project.cli(words, { env })).status).toBe(0)

    let blocks = 0
    for (let stop = 0; stop < 5; stop++) {
      if ((await project.hook(subagentStop())).answer.decision === 'block') blocks += 1
    }

    expect(blocks).toBe(3)
  })
})

describe.concurrent('a tracked marker that was given up', () => {
  const WITH_ID = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a' }
  const BARE = { session_id: 'sess_1_abc', created: `${new Date().toISOString().slice(0, 19)}Z`, reason: 'BARE' }

  it('stays given up if its loop guard is tracked too, with a count below the limit', async () => {
    const project = createProject({ git: false, sources: true })
    const marker = project.marker('259_x', WITH_ID)
    expect((await project.hook(subagentStop())).answer.decision).toBe('block')
    git(project.dir, 'init', '--quiet')
    git(project.dir, 'add', '-A')
    git(project.dir, 'commit', '--quiet', '-m', 'with a marker and its count')
    for (let stop = 0; stop < 3; stop++) await project.hook(subagentStop())
    expect(project.has(marker)).toBe(false)

    for (const clean of [false, true]) {
      git(project.dir, 'reset', '--hard', '--quiet')
      if (clean) git(project.dir, 'clean', '-fdq')
      expect(project.has(marker)).toBe(true)
      expect((await project.hook(subagentStop())).answer.decision).toBeUndefined()
    }
  })

  it.each([
    ['reset --hard', [['reset', '--hard', '--quiet']]],
    ['checkout', [['checkout', '--quiet', '--', '.']]],
    ['stash', [['stash', '--quiet', '--include-untracked']]],
    [
      'clean and reset',
      [
        ['clean', '-fdq'],
        ['reset', '--hard', '--quiet'],
      ],
    ],
  ])('stays given up when git brings it back by %s', async (_how, commands) => {
    for (const [content, task] of [
      [WITH_ID, '259_x'],
      [BARE, '259_x'],
      [WITH_ID, 'archive/012_y'],
      [WITH_ID, '.'],
    ] as const) {
      const { project, marker } = await givenUp(content, task)
      for (let round = 0; round < 2; round++) {
        for (const words of commands) git(project.dir, ...words)
        expect(project.has(marker)).toBe(true)

        const explained = await project.cli([
          'explain',
          '--payload',
          project.write('payload', JSON.stringify({ cwd: project.dir, ...subagentStop() })),
          '--json',
        ])
        expect(explained.json().markers[0]).toMatchObject({ rule: 'capped' })
        expect((await project.cli(['inspect', '--json'])).json().markers[0].continuations.spent).toBe(3)
        expect((await project.hook(subagentStop())).answer.decision).toBeUndefined()
        expect(project.has(marker)).toBe(false)
      }
    }
  })

  it.each([
    [
      'created again',
      ['create', '259', '--operation', 'research', '--host-session', SESSION, '--agent', 'agent-a', '--force'],
    ],
    ['adopted', ['adopt', '259', '--host-session', SESSION, '--agent', 'agent-a']],
  ])('blocks again when it is %s', async (_how, words) => {
    for (const content of [WITH_ID, BARE]) {
      const { project } = await givenUp(content)
      git(project.dir, 'clean', '-fdq')
      git(project.dir, 'reset', '--hard', '--quiet')
      expect((await project.cli(words)).status).toBe(0)

      expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
    }
  })

  it('blocks again when it was cleared and git brings it back', async () => {
    const { project } = await givenUp(WITH_ID)
    await project.cli(['clear', '259'])
    git(project.dir, 'reset', '--hard', '--quiet')

    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })

  it('leaves another marker in its folder alone, and one without an id or a time', async () => {
    for (const content of [
      { ...WITH_ID, id: 'pf_zzzzzzzzzzzz' },
      { ...BARE, session_id: 'sess_2_abc' },
      '',
      { reason: 'x' },
    ]) {
      for (const before of [WITH_ID, BARE]) {
        const { project } = await givenUp(before)
        project.marker('259_x', content)

        expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
      }
    }
  })

  it('blocks where a link or any other text lies in place of the note', async () => {
    for (const replace of [
      'ln -s /etc/hostname N',
      'mkdir N',
      'mkfifo N',
      'head -c 100000 /dev/zero > N',
      ': > N',
      'printf ../../x > N',
    ]) {
      const { project } = await givenUp(WITH_ID)
      const note = 'specs/.postflight/given-up/259_x'
      expect(project.read(note)).toBe(`${WITH_ID.id}\n`)
      git(project.dir, 'clean', '-fdq')
      git(project.dir, 'reset', '--hard', '--quiet')
      await project.shell(`rm ${note}; ${replace.replace('N', note)}`)

      const run = await project.hook(subagentStop())
      expect(run.answer.reason).toContain('Blocked stop 1 of 3')
      expect(run.stderr).toBe('')
    }
  })

  it('is not looked for through a link', async () => {
    const { project } = await givenUp(WITH_ID)
    git(project.dir, 'clean', '-fdq')
    git(project.dir, 'reset', '--hard', '--quiet')
    await project.shell('mv specs/.postflight/given-up elsewhere && ln -s ../../elsewhere specs/.postflight/given-up')

    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })
})
