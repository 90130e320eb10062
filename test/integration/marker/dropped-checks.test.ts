import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OTHER_SESSION, SESSION, stop } from '../../support/payloads.ts'
import { createSourceProject, hoursAgo, type Project } from '../../support/project.ts'

/** No command drops the checks of a marker in silence. */

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'main', created: hoursAgo(0) }
const FAILS = { run: 'false' }
const MARKER = 'specs/259_x/.postflight-pending'
const ABANDONED = 'specs/259_x/.postflight-abandoned'

function projectWith(fields: object, name: 'pending' | 'abandoned' = 'pending'): Project {
  const project = createSourceProject()
  project.write(`specs/259_x/.postflight-${name}`, JSON.stringify({ ...OWNED, ...fields }))
  return project
}

const read = (project: Project, name: string) => JSON.parse(project.read(name))
const verdict = async (project: Project) => (await project.cli(['status', '--exit-code'])).status

describe.concurrent('a field `checks` that cannot be read', () => {
  it.each(['npm test', [{ run: 'true' }, {}]].map((checks) => [checks]))(
    'is refused like a failed check: %j',
    async (checks) => {
      const project = projectWith({ checks, steps: ['a'] })
      for (const line of ['clear 259', 'clear 259 --run-checks', 'step 259 1']) {
        const run = await project.cli(line.split(' '), { env: ENV })
        expect(run.status, line).toBe(1)
        expect(run.stdout + run.stderr).toContain('has a field "checks" that cannot be read')
      }
      expect(project.has(MARKER)).toBe(true)
    },
  )

  it('is refused in an abandoned marker of the session, and the message names its file', async () => {
    const project = projectWith({ checks: 'npm test' }, 'abandoned')
    const run = await project.cli(['clear', '259'], { env: ENV })
    expect(run).toMatchObject({ status: 1, stdout: expect.stringContaining(`${ABANDONED} has a field "checks"`) })
  })

  it('is kept as unchecked by --unchecked and by bypass', async () => {
    const project = projectWith({ checks: 'npm test' })
    await project.cli(['clear', '259', '--unchecked'], { env: ENV })
    expect(read(project, ABANDONED)).toMatchObject({ checks: 'npm test', outcome: 'unchecked' })
    const bypassed = projectWith({ checks: 'npm test', stop_hook_active: true })
    await bypassed.hook(stop())
    expect(read(bypassed, ABANDONED)).toMatchObject({ checks: 'npm test', outcome: 'unchecked' })
  })

  it('is not replaced by a `create` without --force, which keeps it as unchecked', async () => {
    const project = projectWith({ checks: 'npm test' })
    expect((await project.cli(['create', '259', '--check', 'true'], { env: ENV })).status).toBe(1)
    expect(read(project, MARKER).checks).toBe('npm test')
    expect((await project.cli(['create', '259', '--operation', 'o', '--force'], { env: ENV })).status).toBe(0)
    expect(read(project, ABANDONED)).toMatchObject({ checks: 'npm test', outcome: 'unchecked' })
  })
})

describe.concurrent('create --check', () => {
  const TWENTY = Array.from({ length: 20 }, (_, at) => ({ run: `true ${at}` }))

  it('refuses a check that has no room in a renewed marker', async () => {
    const project = projectWith({ operation: 'work', checks: TWENTY })
    const before = project.read(MARKER)
    const run = await project.cli(['create', '259', '--agent', 'main', '--check', 'false'], { env: ENV })
    expect(run.status).toBe(64)
    expect(run.stderr).toContain('can add at most 0 checks to this marker, which has 20')
    expect(project.read(MARKER)).toBe(before)
    // One that it has already needs no room.
    expect((await project.cli(['create', '259', '--agent', 'main', '--check', 'true 7'], { env: ENV })).status).toBe(0)
  })
})

describe.concurrent('adopt for another session', () => {
  it.each(['pending', 'abandoned'] as const)('keeps a %s marker as unchecked if it drops checks', async (name) => {
    const project = projectWith({ checks: [FAILS] }, name)
    const run = await project.cli(['adopt', '259', '--host-session', OTHER_SESSION], { env: ENV })
    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining(`kept as ${ABANDONED}`) })
    expect(read(project, MARKER)).not.toHaveProperty('checks')
    expect(read(project, ABANDONED)).toMatchObject({ checks: [FAILS], outcome: 'unchecked' })
    expect((await project.hook(stop({ session_id: OTHER_SESSION }))).answer.reason).toContain('Blocked stop 1 of 3')
    await project.cli(['clear', '259'], { env: ENV })
    expect(await verdict(project)).toBe(1)
  })

  it('refuses a marker that has no room for the change', async () => {
    const project = projectWith({ checks: [FAILS], pad: 'x'.repeat(65_340) })
    const before = project.snapshot()
    expect((await project.cli(['adopt', '259', '--agent', 'a'.repeat(100)], { env: ENV })).status).toBe(65)
    expect(project.snapshot()).toEqual(before)
  })
})

describe.concurrent('clear --orphaned', () => {
  const OLD = { cc_session_id: OTHER_SESSION, created: hoursAgo(48) }

  it.each([
    ['this session’s own', { checks: [FAILS], outcome: 'unchecked' }, true],
    ['this session’s own, given up two days ago', { created: hoursAgo(48) }, true],
    ['another session’s of today', { cc_session_id: OTHER_SESSION }, true],
    ['another session’s, two days old', OLD, false],
    ['the same, with checks of this session', { ...OLD, checks_session: SESSION, checks: [FAILS] }, true],
    ['an unowned one of today', { cc_session_id: undefined }, false],
  ])('and an abandoned marker: %s', async (_what, fields, isKept) => {
    const project = projectWith(fields, 'abandoned')
    expect((await project.cli(['clear', '--orphaned'], { env: ENV })).status).toBe(0)
    expect(project.has(ABANDONED)).toBe(isKept)
  })

  it('leaves a folder whose earlier abandoned marker is this session’s own', async () => {
    const project = projectWith(OLD, 'abandoned')
    project.write(`${ABANDONED}.1`, JSON.stringify(OWNED))
    await project.cli(['clear', '--orphaned'], { env: ENV })
    expect(project.has(`${ABANDONED}.1`)).toBe(true)
  })
})

describe.concurrent('an abandoned marker', () => {
  it('is shown and counts when only an earlier one is left', async () => {
    const project = createSourceProject({ files: { [`${ABANDONED}.2`]: JSON.stringify(OWNED) } })
    project.write(`${ABANDONED}.10`, JSON.stringify({ ...OWNED, outcome: 'unchecked' }))
    expect(await verdict(project)).toBe(1)
    expect((await project.cli(['inspect', '--json'])).json().markers).toMatchObject([
      { relative_path: `${ABANDONED}.2` },
      { relative_path: `${ABANDONED}.10`, outcome: 'unchecked' },
    ])
  })

  it('counts when its file was removed, until `clear` of its task', async () => {
    const project = createSourceProject()
    await project.cli(['create', '259', 'x', '--agent', 'main', '--check', 'false'], { env: ENV })
    for (let count = 0; count < 4; count++) await project.hook(stop())
    rmSync(project.at('specs/259_x'), { recursive: true })
    const sentence = expect.stringMatching(/^Task 259: the agent gave up, .* \("false"\)\.$/)
    expect((await project.cli(['status', '--json'])).json().items).toMatchObject([{ kind: 'abandoned', sentence }])
    expect(await verdict(project)).toBe(1)
    expect((await project.cli(['clear', '259'], { env: ENV })).status).toBe(1)
    expect((await project.cli(['clear', '259'])).status).toBe(1)
    const stdout = expect.stringMatching(/^settled specs\/259_x: its marker was given up/)
    expect(await project.cli(['clear', '259', '--unchecked'])).toMatchObject({ stdout })
    expect(await verdict(project)).toBe(0)
  })

  it('is named by `clear` when its check fails', async () => {
    const project = projectWith({ checks: [FAILS] }, 'abandoned')
    const stdout = expect.stringMatching(/^specs\/259_x\/\.postflight-abandoned: the check `false` failed/)
    expect(await project.cli(['clear', '259'], { env: ENV })).toMatchObject({ stdout })
  })
})

describe.concurrent('--timeout', () => {
  it.each(['1000000', '0', '-1', '1.5', 'x'])('names its limit: %s', async (seconds) => {
    const project = projectWith({})
    const run = await project.cli(['clear', '259', `--timeout=${seconds}`])
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining('from 1 to 999999') })
  })
})
