/** Unowned markers from before the session block none of its sub-agents; those made in it do. */

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, say, stubborn } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const TASK = '259_x'
const MARKER = `specs/${TASK}/.postflight-pending`
const REPORT = 'The report of the worker.'

/** A marker may be older than the session by this much (ms), and still counts as made in it. */
const TOLERANCE_MS = 10_000

/** As plain bash writes it: without a host session. */
function unowned(hoursAgo: number): string {
  const created = new Date(Date.now() - hoursAgo * 3_600_000).toISOString()
  return `${JSON.stringify({ reason: 'Left from before', created }, null, 2)}\n`
}

/** The lines by which an agent makes a marker now. */
const MAKE = `mkdir -p specs/${TASK} && echo '{ "reason": "Made now", "created": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'" }' > ${MARKER}`

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid']

function git(guarded: GuardedProject, ...words: string[]): void {
  const env = { PATH: process.env.PATH, HOME: guarded.project.home, GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', [...IDENTITY, ...words], { cwd: guarded.project.dir, env, stdio: 'pipe' })
}

/** Runs a session whose sub-agent stops, and returns the reasons of its blocks. */
async function reasonsOfWorker(guarded: GuardedProject, first: readonly string[] = []): Promise<string[]> {
  const { ran, model } = await guarded.run({
    main: [...first.map((command) => bash(command)), delegate('worker'), say('Main is done.')],
    worker: stubborn(say(REPORT)),
  })
  expect(ran.result).toMatchObject({ result: 'Main is done.' })
  return reasonsIn(model.turns('worker').at(-1))
}

describe.skipIf(hostsSkipped())('an unowned marker from before the session holds no sub-agent of it', () => {
  it('left from an earlier session', async () => {
    const guarded = guardedProject()
    guarded.project.write(MARKER, unowned(20))

    expect(await reasonsOfWorker(guarded)).toEqual([])
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })

  it('brought by a clone', async () => {
    const origin = guardedProject({ install: false, git: true })
    origin.project.write(MARKER, unowned(2))
    git(origin, 'add', '-A', '-f')
    git(origin, 'commit', '--quiet', '-m', 'With a marker')
    const guarded = guardedProject()
    execFileSync('git', ['clone', '--quiet', origin.project.dir, join(guarded.project.base, 'clone')])
    guarded.project.dir = join(guarded.project.base, 'clone')
    expect(guarded.postflight('install').status).toBe(0)

    expect(await reasonsOfWorker(guarded)).toEqual([])
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })

  it('unpacked from an archive by the agent itself', async () => {
    const origin = guardedProject({ install: false })
    origin.project.write(MARKER, unowned(2))
    const guarded = guardedProject()

    const unpack = `tar -cf - -C '${origin.project.dir}' specs | tar -xf -`
    expect(await reasonsOfWorker(guarded, [unpack])).toEqual([])
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })

  it('restored by git in the middle of the session', async () => {
    const guarded = guardedProject({ git: true })
    guarded.project.write(MARKER, unowned(2))
    git(guarded, 'add', '-A', '-f')
    git(guarded, 'commit', '--quiet', '-m', 'With a marker')

    expect(await reasonsOfWorker(guarded, [`rm -r specs && git checkout --quiet -- specs`])).toEqual([])
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })

  it('that says nothing of its age, with a file that is older than the session', async () => {
    const guarded = guardedProject()
    const file = guarded.project.write(MARKER, 'session_id=sess_1\n')
    await setTimeout(lstatSync(file).ctimeMs + TOLERANCE_MS + 200 - Date.now())

    expect(await reasonsOfWorker(guarded)).toEqual([])
    expect(guarded.files(TASK)).toEqual(['.postflight-pending'])
  })
})

describe.skipIf(hostsSkipped())('an unowned marker of the session holds its sub-agents', () => {
  const HELD = expect.stringMatching(/^Made now\n/)

  it('written in it', async () => {
    const guarded = guardedProject()

    expect(await reasonsOfWorker(guarded, [MAKE])).toEqual([HELD, HELD, HELD])
  })

  it('rewritten by jq', async () => {
    const guarded = guardedProject()
    const rewrite = `jq '.reason = "Rewritten"' ${MARKER} > m.json && mv m.json ${MARKER}`

    expect(await reasonsOfWorker(guarded, [MAKE, rewrite])).toEqual(
      Array(3).fill(expect.stringMatching(/^Rewritten\n/)),
    )
  })

  it('written before the session was resumed', async () => {
    const guarded = guardedProject()
    const session = randomUUID()
    await guarded.run({ main: [bash(MAKE), say('First is done.')] }, { args: ['--session-id', session] })
    await setTimeout(TOLERANCE_MS + 500)

    const { ran, model } = await guarded.run(
      { main: [delegate('worker'), say('Main is done.')], worker: stubborn(say(REPORT)) },
      { prompt: 'go on', args: ['--resume', session] },
    )

    expect(ran.sessionId).toBe(session)
    expect(reasonsIn(model.turns('worker').at(-1))).toEqual([HELD, HELD, HELD])
  })

  it('written before the session was compacted', async () => {
    const guarded = guardedProject()
    const session = randomUUID()
    await guarded.run({ main: [bash(MAKE), say('First is done.')] }, { args: ['--session-id', session] })
    await setTimeout(TOLERANCE_MS + 500)
    const compacted = await guarded.run(
      { main: () => say('<summary>A marker was made.</summary>') },
      { prompt: '/compact', args: ['--resume', session] },
    )

    const { model } = await guarded.run(
      { main: [delegate('worker'), say('Main is done.')], worker: stubborn(say(REPORT)) },
      { prompt: 'go on', args: ['--resume', session] },
    )

    expect(compacted.ran.events.map(({ subtype }) => subtype)).toContain('compact_boundary')
    // The compaction stops as a sub-agent of the client's own: nothing was counted for it.
    expect(compacted.model.turns('main')).toHaveLength(1)
    expect(reasonsIn(model.turns('worker').at(-1))).toEqual([HELD, HELD, HELD])
  })

  it('written by the first line of a slash command, before the model was asked anything', async () => {
    const guarded = guardedProject()
    guarded.project.write(
      '.claude/commands/begin.md',
      `---\nallowed-tools: Bash(sh *)\n---\n\n!\`sh make.sh\`\n\nHand the work to a sub-agent.\n`,
    )
    guarded.project.write('make.sh', `${MAKE}\n`)

    const { model } = await guarded.run(
      { main: [delegate('worker'), say('Main is done.')], worker: stubborn(say(REPORT)) },
      { prompt: '/begin' },
    )

    expect(reasonsIn(model.turns('worker').at(-1))).toEqual([HELD, HELD, HELD])
  })
})
