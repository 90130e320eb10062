import { appendFileSync, mkdirSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { CLI, startCli } from '../../support/process.ts'
import { type CliRun, createProject, createSourceProject, type Project } from '../../support/project.ts'

const JOURNAL = 'specs/.postflight/journal.jsonl'
const OLD_JOURNAL = 'specs/.postflight/journal.old.jsonl'
const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a' }

function withEntries(count: number): Project {
  const project = createSourceProject()
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ time: '2026-01-18T10:00:00.000Z', event: 'block', task: '259_x', count: index }),
  )
  project.write(JOURNAL, `${lines.join('\n')}\n`)
  return project
}

const countsIn = (run: CliRun): number[] => run.json().entries.map((entry: { count: number }) => entry.count)

describe.concurrent('logs', () => {
  it('shows the journal for people', async () => {
    const project = createSourceProject()
    project.marker('259_x', OWNED)
    for (let index = 0; index < 4; index++) await project.hook(subagentStop())
    const run = await project.cli(['logs'])
    const lines = run.stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(['block', 'block', 'block', 'cap'])
    expect(lines[0]).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}block {10}259_x · blocked stop 1 · session \S+ · agent agent-a · pf_abcdefghijkl$/,
    )
    expect(lines[3]).toContain('capped')
  })

  it('shows the last 20 entries, or as many as -n says', async () => {
    const project = withEntries(50)
    const counts = async (...words: string[]): Promise<number[]> =>
      countsIn(await project.cli(['logs', '--json', ...words]))
    expect(await counts()).toEqual(Array.from({ length: 20 }, (_, index) => index + 30))
    expect(await counts('-n', '2')).toEqual([48, 49])
    expect(await counts('-n', '0')).toEqual([])
    expect(await counts('-n', '1000')).toHaveLength(50)
  })

  it('reads the old file too after a rotation', async () => {
    const project = withEntries(3)
    project.write(OLD_JOURNAL, '{"event":"create","task":"old"}\n')
    const { entries } = (await project.cli(['logs', '--json'])).json()
    expect(entries[0]).toEqual({ event: 'create', task: 'old' })
    expect(entries).toHaveLength(4)
  })

  it('skips lines that are not ours', async () => {
    const project = createSourceProject()
    project.write(JOURNAL, 'garbage\n{"event":"block","task":"a"}\n[]\nnull\n{"event":7}\n{"half":')
    expect((await project.cli(['logs', '--json'])).json().entries).toEqual([{ event: 'block', task: 'a' }])
  })

  it('prints no control characters', async () => {
    const project = createSourceProject()
    const entry = { time: '\u001b[2J', event: '\u009b31m\u001b[1m', task: 'a\u0007\nb', detail: { a: 1 } }
    project.write(JOURNAL, `${JSON.stringify(entry)}\n`)
    for (const words of [['logs'], ['logs', '--json']]) {
      expect((await project.cli(words)).stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    }
    expect((await project.cli(['logs'])).stdout).toContain('{"a":1}')
  })

  it('reports an empty journal, and a missing root', async () => {
    expect(await createSourceProject().cli(['logs'])).toMatchObject({ status: 0, stdout: 'the journal is empty\n' })
    expect((await createSourceProject({ specs: false }).cli(['logs'])).status).toBe(1)
  })

  it('does not follow a link for a journal', async () => {
    const project = createSourceProject({ files: { secret: '{"event":"block","task":"secret"}\n' } })
    mkdirSync(project.at('specs/.postflight'))
    symlinkSync(project.at('secret'), project.at(JOURNAL))
    expect((await project.cli(['logs'])).stdout).not.toContain('secret')
  })

  it('reads a journal that was never rotated from its end, with a note that says so', async () => {
    const project = createSourceProject()
    const line = (count: number) => `${JSON.stringify({ event: 'block', task: 'x'.repeat(150), count })}\n`
    project.write(JOURNAL, Array.from({ length: 110_000 }, (_, index) => line(index)).join(''))
    expect(statSync(project.at(JOURNAL)).size).toBeGreaterThan(16_777_216)
    const run = await project.cli(['logs', '-n', '2', '--json'])
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('only its last 16 MiB were read') })
    expect(countsIn(run)).toEqual([109_998, 109_999])
  })

  it('says that an abandoned marker was cleared, and names it', async () => {
    const project = createSourceProject()
    project.write('specs/259_x/.postflight-abandoned', JSON.stringify({ id: 'pf_abcdefghijkl' }))
    await project.cli(['clear', '259'])
    expect((await project.cli(['logs'])).stdout).toContain('the abandoned marker was cleared')
    expect(project.journal()).toMatchObject([{ event: 'clear', settles: ['pf_abcdefghijkl'] }])
  })
})

describe.concurrent('logs --follow', () => {
  const entry = (count: number): string => `${JSON.stringify({ event: 'block', task: 'a', count })}\n`

  it('misses no entry at a rotation, and ends with 0 when interrupted', async ({ expect, onTestFinished }) => {
    const project = createSourceProject({ files: { [JOURNAL]: entry(1) } })
    const child = startCli(project, ['logs', '--follow', '-n', '1', '--json'], onTestFinished)
    await expect.poll(child.stdout, { timeout: 10_000 }).toContain('"count":1')
    // A rotation as the writer does it: it must print the rest of the old file, then the new one.
    appendFileSync(project.at(JOURNAL), entry(2))
    renameSync(project.at(JOURNAL), project.at(OLD_JOURNAL))
    project.write(JOURNAL, '')
    await expect.poll(child.stdout, { timeout: 10_000 }).toContain('"count":2')
    appendFileSync(project.at(JOURNAL), entry(3) + entry(4).slice(0, 9))
    await expect.poll(child.stdout, { timeout: 10_000 }).toContain('"count":3')
    appendFileSync(project.at(JOURNAL), entry(4).slice(9))
    await expect.poll(child.stdout, { timeout: 10_000 }).toContain('"count":4')
    expect(
      child
        .stdout()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).count),
    ).toEqual([1, 2, 3, 4])
    child.child.kill('SIGINT')
    expect(await child.ended).toBe(0)
  })

  it('ends at the next entry after its reader is gone', async ({ expect }) => {
    const project = createSourceProject({ files: { [JOURNAL]: entry(1) } })
    let hasEnded = false
    const piped = project.shell(`node "${CLI}" logs --follow | head -n 1`).then((run) => {
      hasEnded = true
      return run
    })
    const append = (): boolean => {
      appendFileSync(project.at(JOURNAL), entry(2))
      return hasEnded
    }
    await expect.poll(append, { timeout: 20_000, interval: 200 }).toBe(true)
    expect(await piped).toMatchObject({ status: 0, stdout: expect.stringContaining('blocked stop 1'), stderr: '' })
  })
})

describe.concurrent('the journal', () => {
  it('is rotated at 1 MiB, and one old file is kept', async () => {
    const project = createSourceProject({ files: { [JOURNAL]: `${'x'.repeat(1_048_576)}\n`, [OLD_JOURNAL]: 'older' } })
    project.marker('259_x', OWNED)
    await project.hook(subagentStop())
    await project.hook(subagentStop())
    expect(project.read(OLD_JOURNAL)).toMatch(/^x+\n\{"time":.*"event":"block","/)
    expect(statSync(project.at(JOURNAL)).size).toBeLessThan(1000)
    expect(project.journal()).toMatchObject([{ event: 'block', count: 2 }])
    expect(Object.keys(project.snapshot('specs/.postflight'))).toEqual(['journal.jsonl', 'journal.old.jsonl'])
  })

  it('grows, with a note on stderr, if a folder has the old one’s name', async () => {
    const project = createSourceProject({ files: { [JOURNAL]: `${'x'.repeat(1_048_576)}\n` } })
    mkdirSync(project.at(OLD_JOURNAL))
    project.marker('259_x', OWNED)
    const stopped = await project.hook(subagentStop())
    const stepped = await project.cli(['bypass', '259'])
    expect([stopped.answer.decision, stepped.status]).toEqual(['block', 0])
    for (const { stderr } of [stopped, stepped]) {
      expect(stderr).toContain('the journal is too long and cannot be rotated')
      expect(stderr).toContain('journal.old.jsonl cannot be written to (a folder)')
    }
    expect(project.read(JOURNAL)).toMatch(/^x+\n\{"time":.*"event":"block",.*\n\{.*"bypass-request"/)
    expect(Object.keys(project.snapshot('specs/.postflight'))).toEqual(['journal.jsonl', 'journal.old.jsonl'])
    expect(await project.cli(['logs'])).toMatchObject({ status: 65, stderr: expect.stringContaining(OLD_JOURNAL) })
  })

  it('has complete lines, even if many processes write at once', async () => {
    const project = createProject()
    for (let index = 0; index < 6; index++) project.marker(`00${index}_x`, { ...OWNED, id: undefined })
    await Promise.all(Array.from({ length: 8 }, () => project.hook(subagentStop())))
    const entries = project.journal()
    expect(entries.filter((entry) => entry.event === 'block')).toHaveLength(18)
    expect(entries.every((entry) => typeof entry.time === 'string')).toBe(true)
  })

  it('never influences an answer, whether it is missing, forged or full', async () => {
    for (const journal of [undefined, '{"event":"clear","task":"259_x"}\n', 'x'.repeat(2_000_000)]) {
      const project = createSourceProject()
      project.marker('259_x', OWNED)
      if (journal !== undefined) project.write(JOURNAL, journal)
      const answers: (string | undefined)[] = []
      for (let index = 0; index < 4; index++) answers.push((await project.hook(subagentStop())).answer.decision)
      expect(answers).toEqual(['block', 'block', 'block', undefined])
    }
  })

  it('of a root that only a variable names is in that root', async () => {
    const project = createSourceProject()
    project.marker('259_x', OWNED)
    mkdirSync(join(project.home, 'specs'))
    await project.hook(subagentStop(), { cwd: project.home, env: { CLAUDE_PROJECT_DIR: project.dir } })
    expect(project.journal()).toMatchObject([{ event: 'block' }])
    expect(project.snapshot('../home')).toEqual({ specs: 'folder' })
  })
})
