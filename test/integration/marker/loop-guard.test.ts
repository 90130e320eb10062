import { type BigIntStats, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { instrument } from '../../stress/support/instrument.ts'
import { SESSION, shellRan, subagentStop } from '../../support/payloads.ts'
import {
  createProject,
  createSourceProject,
  type HookRun,
  makeOld,
  type Project,
  type ProjectOptions,
} from '../../support/project.ts'

const FOLDER = 'specs/259_x'
const MARKER = `${FOLDER}/.postflight-pending`
const GUARD = `${FOLDER}/.postflight-loop-guard`
const LOCK = `${FOLDER}/.postflight-lock`

/** A marker from `create`, and one from plain bash. */
const WITH_ID = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', operation: 'research' }
const SEED = { session_id: 'sess_1736700000_abc123', task_number: 259, operation: 'research', stop_hook_active: false }

/** For the rows of a long table: a few of its rows start the process that a host starts. */
const SOURCES: ProjectOptions = { sources: true }

function withMarker(fields: object, options: ProjectOptions = {}): Project {
  const project = createProject(options)
  project.marker('259_x', { ...fields })
  return project
}

function isBlock(run: HookRun): boolean {
  return run.answer.decision === 'block'
}

/** Runs several stops at once, each as a process. */
function stopsAtOnce(project: Project, count: number): Promise<HookRun>[] {
  return Array.from({ length: count }, () => project.hook(subagentStop()))
}

/** Runs stops one after the other. Returns the number of blocks. */
async function stopTimes(project: Project, times: number): Promise<number> {
  let blocks = 0
  for (let index = 0; index < times; index++) if (isBlock(await project.hook(subagentStop()))) blocks += 1
  return blocks
}

describe.concurrent('at most three stops are blocked', () => {
  it.each([
    ['with an id', WITH_ID],
    ['without an id', SEED],
  ])('with 16 hooks at once on one marker %s: exactly three', async (_what, fields) => {
    const project = withMarker(fields)

    const runs = await Promise.all(stopsAtOnce(project, 16))

    const counts = runs.filter(isBlock).map((run) => /Blocked stop (\d) of 3/.exec(run.answer.reason ?? '')?.[1])
    expect(counts.sort()).toEqual(['1', '2', '3'])
    expect(await stopTimes(project, 1)).toBe(0)
    expect(Object.keys(project.snapshot(FOLDER))).toEqual(['.postflight-abandoned'])
    // The order of the journal's lines is random.
    const recorded = project.journal().map((entry) => `${entry.event} ${entry.count}`)
    expect(recorded.sort()).toEqual(['block 1', 'block 2', 'block 3', 'cap 3'])
  })

  it('with waves of hooks in any order', async () => {
    const project = withMarker(SEED)
    let blocks = 0
    for (const size of [2, 5, 2, 5]) {
      const runs = await Promise.all(stopsAtOnce(project, size))
      blocks += runs.filter(isBlock).length
    }

    expect(blocks).toBe(3)
  })

  it.each<[string, string, ProjectOptions?]>([
    ['deleted', 'rm -f "$GUARD"'],
    ['emptied', ': > "$GUARD"'],
    ['garbled', 'echo "not a number" > "$GUARD"'],
    ['an empty object', 'printf "{}" > "$GUARD"', SOURCES],
    ['set back to 0', 'echo 0 > "$GUARD"', SOURCES],
    ['negative', 'echo -5 > "$GUARD"', SOURCES],
    ['half a number', 'echo 1e > "$GUARD"', SOURCES],
    ['binary', 'printf "\\000\\377\\001" > "$GUARD"', SOURCES],
    ['a million characters', 'head -c 1000000 /dev/zero > "$GUARD"', SOURCES],
    ['replaced by a rename', 'echo 1 > other && mv other "$GUARD"', SOURCES],
  ])('when the loop guard is %s between stops', async (_how, command, options) => {
    for (const fields of [WITH_ID, SEED]) {
      const project = withMarker(fields, options)
      let blocks = 0
      for (let index = 0; index < 5; index++) {
        const run = await project.hook(subagentStop())
        if (isBlock(run)) {
          blocks += 1
          expect(project.read(GUARD)).toBe(`${blocks}\n`)
        }
        if (project.has(MARKER)) await project.shell(command, { env: { GUARD: project.at(GUARD) } })
      }

      expect(blocks).toBe(3)
    }
  })

  it.each(['2222222', '3', '99999999999999999999999'])('when the loop guard says %s: none', async (text) => {
    const project = withMarker(SEED, SOURCES)
    project.write(GUARD, `${text}\n`)

    expect(await stopTimes(project, 2)).toBe(0)
    expect(project.has(MARKER)).toBe(false)
    expect(project.has(`${FOLDER}/.postflight-abandoned`)).toBe(true)
  })

  it.each([' 2 \n', '2', '\ufeff2\r\n', '002'])('with the count of a loop guard that says %j', async (text) => {
    const project = withMarker(SEED, SOURCES)
    project.write(GUARD, text)

    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 3 of 3')
    expect(await stopTimes(project, 2)).toBe(0)
  })

  it.each<[string, string, ProjectOptions?]>([
    ['in place', 'cat copy > "$MARKER"'],
    ['in place, with other words', 'echo "{\\"reason\\":\\"$RANDOM$$\\"}" > "$MARKER"', SOURCES],
    ['in place, emptied', ': > "$MARKER"', SOURCES],
    ['by a rename', 'cp copy next && mv next "$MARKER"', SOURCES],
    ['by a rename, with other words', 'echo "{\\"operation\\":\\"plan\\"}" > next && mv next "$MARKER"', SOURCES],
    ['by removing and writing it', 'rm -f "$MARKER" && cat copy > "$MARKER"', SOURCES],
    ['by an editor', 'sed -i.bak s/research/plan/ "$MARKER"', SOURCES],
    ['by touch', 'touch "$MARKER"', SOURCES],
  ])('when the marker is rewritten %s between stops', async (_how, command, options) => {
    for (const fields of [WITH_ID, SEED]) {
      const project = withMarker(fields, options)
      project.write('copy', project.read(MARKER))
      let blocks = 0
      for (let index = 0; index < 5; index++) {
        const run = await project.hook(subagentStop())
        if (isBlock(run)) blocks += 1
        if (project.has(MARKER)) await project.shell(command, { env: { MARKER: project.at(MARKER) } })
      }

      expect(blocks).toBe(3)
    }
  })

  it('when the marker loses its id in place and its loop guard is gone', async () => {
    const project = withMarker(WITH_ID)
    expect(await stopTimes(project, 2)).toBe(2)

    await project.shell(`rm -f ${GUARD} && echo '{"cc_session_id":"${SESSION}"}' > ${MARKER}`)

    expect(await stopTimes(project, 3)).toBe(1)
  })

  it('when the marker was abandoned and git restores it', async () => {
    const project = withMarker(WITH_ID)
    await project.shell('git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x')
    expect(await stopTimes(project, 4)).toBe(3)

    for (let times = 0; times < 2; times++) {
      await project.shell('git checkout -q -- .')
      expect(project.has(MARKER)).toBe(true)
      const again = await project.hook(subagentStop())
      expect(isBlock(again)).toBe(false)
      expect(project.has(MARKER)).toBe(false)
    }
    expect(project.read(`${FOLDER}/.postflight-abandoned`)).toContain(WITH_ID.id)
  })

  it('when `create` renews the marker after every stop', async () => {
    const project = createSourceProject()
    const create = ['create', '259', 'x', '--operation', 'research', '--host-session', SESSION, '--agent', 'agent-a']
    let blocks = 0
    for (let index = 0; index < 3; index++) {
      await project.cli(create)
      if (isBlock(await project.hook(subagentStop()))) blocks += 1
    }
    await project.cli(create)

    expect(blocks + (await stopTimes(project, 2))).toBe(3)
  })

  it('when steps are ticked, the owner is recorded and the marker is adopted between stops', async () => {
    const project = createSourceProject()
    const env = { CLAUDE_CODE_SESSION_ID: SESSION }
    const created = await project.cli(['create', '259', 'x', '--step', 'one', '--step', 'two'], { env })
    const between = [
      () => project.hook(shellRan('postflight create 259 x', created.stdout, { agent_id: 'agent-a' })),
      () => project.cli(['step', '259', 'one']),
      () => project.cli(['adopt', '259', '--host-session', SESSION, '--agent', 'agent-a']),
      () => project.cli(['step', '259', 'one', '--undo']),
    ]
    let blocks = 0
    for (const change of between) {
      blocks += await stopTimes(project, 1)
      // At the last change the marker is abandoned already.
      await change()
    }

    expect(blocks).toBe(3)
    expect(await stopTimes(project, 1)).toBe(0)
  })
})

describe.concurrent('after a kill', () => {
  it('between claim and loop guard, the claim counts', async () => {
    const project = withMarker(WITH_ID)
    await project.hook(subagentStop())
    await project.shell(`rm ${GUARD}`)

    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 2 of 3')
    expect(project.read(GUARD)).toBe('2\n')
  })

  it('an old lock is taken over', async () => {
    const project = withMarker(WITH_ID)
    await stopTimes(project, 3)
    makeOld(project.write(LOCK, '12345 999\n'), 24 * 16)

    expect(await stopTimes(project, 1)).toBe(0)
    expect(Object.keys(project.snapshot(FOLDER))).toEqual(['.postflight-abandoned'])
  })

  it('a new lock blocks no agent', async () => {
    const project = withMarker(WITH_ID)
    project.write(LOCK, '12345 999\n')

    expect(await stopTimes(project, 3)).toBe(3)
    const run = await project.hook(subagentStop())

    expect(run.stdout).toBe('{}\n')
    expect(run.durationMs).toBeLessThan(5000)
  })

  it('temporary files are ignored, and removed with the marker', async () => {
    const project = withMarker(WITH_ID)
    project.write(`${FOLDER}/.postflight-claims/loop-guard.1-1-1.tmp`, '7')
    project.write(`${FOLDER}/.postflight-claims/rubbish.9`, '9')

    expect(await stopTimes(project, 4)).toBe(3)
    expect(Object.keys(project.snapshot(FOLDER))).toEqual([
      '.postflight-abandoned',
      '.postflight-claims',
      '.postflight-claims/rubbish.9',
    ])
  })
})

describe.concurrent('the loop guard', () => {
  it('reads as an integer at any time', async () => {
    const project = withMarker(SEED)
    const seen = new Set<string>()
    let watching = true
    const watch = async (): Promise<void> => {
      while (watching) {
        try {
          seen.add(readFileSync(project.at(GUARD), 'utf8'))
        } catch {
          // It does not exist at this moment.
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
    }

    const watcher = watch()
    for (let round = 0; round < 4; round++) {
      await Promise.all(stopsAtOnce(project, 5))
      project.marker('259_x', SEED)
    }
    watching = false
    await watcher

    expect([...seen].filter((text) => !/^[123]\n$/.test(text))).toEqual([])
    expect(seen.size).toBeGreaterThan(0)
  })

  it('removed together with the marker is a full reset, even if the same bytes are written again', async () => {
    const project = withMarker(SEED)
    project.write('copy', project.read(MARKER))
    expect(await stopTimes(project, 2)).toBe(2)

    await project.shell(`rm -f ${MARKER}; rm -f ${GUARD}; cat copy > ${MARKER}`)

    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
    expect(await stopTimes(project, 3)).toBe(2)
  })

  it.each([
    ['without an id', SEED],
    ['with another id', { ...WITH_ID, id: 'pf_zzzzzzzzzzzz' }],
  ])('set back to 0 together with a new marker %s is a full reset', async (_what, fields) => {
    for (const before of [WITH_ID, SEED]) {
      const project = withMarker(before, SOURCES)
      expect(await stopTimes(project, 2)).toBe(2)

      await project.shell(`rm -f ${MARKER}; echo 0 > ${GUARD}; echo '${JSON.stringify(fields)}' > ${MARKER}`)

      expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
      expect(project.read(GUARD)).toBe('1\n')
      expect(await stopTimes(project, 4)).toBe(2)
    }
  })

  it('removed together with a marker of the CLI is a full reset for the next one', async () => {
    const project = createProject()
    const create = ['create', '259', 'x', '--operation', 'research', '--host-session', SESSION, '--agent', 'agent-a']
    await project.cli(create)
    expect(await stopTimes(project, 2)).toBe(2)

    await project.shell(`rm -f ${MARKER}; rm -f ${GUARD}`)
    await project.cli(create)

    expect(await stopTimes(project, 4)).toBe(3)
  })

  it('removed by the emergency commands of the pattern resets every task', async () => {
    const project = withMarker(SEED)
    project.marker('001_a', SEED)
    await stopTimes(project, 3)

    await project.shell(
      'find specs -maxdepth 3 -name .postflight-pending -delete; find specs -maxdepth 3 -name .postflight-loop-guard -delete',
    )

    expect(await stopTimes(project, 1)).toBe(0)
    project.marker('259_x', SEED)
    expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
  })

  it('and the claims beside it are ignored by git', async () => {
    const project = withMarker(SEED)
    await project.hook(subagentStop())

    expect(project.read(`${FOLDER}/.postflight-claims/.gitignore`)).toBe('*\n')
    expect(project.read('specs/.postflight/.gitignore')).toBe('*\n')
  })
})

/** Gives every file no birth time, and the marker always the same inode, as ext2 and NFS do. */
async function withoutBirthTimes(project: Project, action: () => Promise<void>): Promise<void> {
  const { end: restore } = instrument([project.dir], (call, run) => {
    const result = run()
    if (!/^(?:l|f)?statSync$/.test(call.name) || result === undefined) return result
    const stats = result as BigIntStats
    Object.assign(stats, typeof stats.ino === 'bigint' ? { birthtimeNs: 0n } : { birthtimeMs: 0 })
    if (call.file.endsWith('-pending')) stats.ino = typeof stats.ino === 'bigint' ? 7n : (7 as never)
    return stats
  })
  try {
    await action()
  } finally {
    restore()
  }
}

describe('without birth times, where an inode comes back at once', () => {
  it('loop guard and marker removed together are a full reset', async () => {
    const project = withMarker(SEED, SOURCES)
    project.write('copy', project.read(MARKER))
    await withoutBirthTimes(project, async () => {
      expect(await stopTimes(project, 2)).toBe(2)

      await project.shell(`rm -f ${MARKER} ${GUARD}; cat copy > ${MARKER}`)

      expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
      expect(await stopTimes(project, 4)).toBe(2)
      expect(project.has(MARKER)).toBe(false)
    })
  })

  it.each([
    ['the loop guard is deleted', `rm -f ${GUARD}`],
    ['the loop guard is garbled', `echo x > ${GUARD}`],
    ['the loop guard is set back to 0', `echo 0 > ${GUARD}`],
    ['the marker is rewritten in place', `cat copy > ${MARKER}`],
    ['the marker is replaced', `rm ${MARKER}; cat copy > ${MARKER}`],
  ])('at most three stops are blocked when %s between stops', async (_what, command) => {
    for (const fields of [WITH_ID, SEED]) {
      const project = withMarker(fields, SOURCES)
      project.write('copy', project.read(MARKER))
      // The first stop comes after the first change, because a new time of the marker's content is a new marker.
      await project.shell(command)
      await withoutBirthTimes(project, async () => {
        let blocks = 0
        for (let index = 0; index < 5; index++) {
          blocks += await stopTimes(project, 1)
          if (project.has(MARKER)) await project.shell(command)
        }
        expect(blocks).toBe(3)
      })
    }
  })

  it('a marker with a time before 1970 is blocked three times, also when the loop guard is deleted', async () => {
    const { id: _id, ...withoutId } = WITH_ID
    const project = withMarker(withoutId, SOURCES)
    await project.shell(`touch -d 1960-01-01 ${MARKER}`)
    await withoutBirthTimes(project, async () => {
      expect(await stopTimes(project, 2)).toBe(2)
      await project.shell(`rm -f ${GUARD}`)
      expect(await stopTimes(project, 3)).toBe(1)
    })
  })
})

describe.concurrent('a marker that is removed while hooks run stays removed', () => {
  it.each([
    ['by clear', 'clear'],
    ['by plain rm', 'rm'],
  ])('%s', async (_how, how) => {
    for (let round = 0; round < 6; round++) {
      const project = withMarker(round % 2 === 0 ? WITH_ID : SEED)
      const hooks = stopsAtOnce(project, 4)
      // Each round removes it at another moment of the hooks' lives.
      await new Promise((resolve) => setTimeout(resolve, round * 12))
      if (how === 'clear') await project.cli(['clear', '259'])
      else await project.shell(`rm -f ${MARKER} ${GUARD}`)
      await Promise.all(hooks)

      expect(project.has(MARKER)).toBe(false)
      expect(project.has(GUARD)).toBe(false)
      expect(await stopTimes(project, 1)).toBe(0)
      project.marker('259_x', SEED)
      expect((await project.hook(subagentStop())).answer.reason).toContain('Blocked stop 1 of 3')
      expect(readdirSync(project.at(FOLDER)).filter((name) => name.endsWith('.tmp'))).toEqual([])
    }
  })
})
