import { spawnSync } from 'node:child_process'
import { type BigIntStats, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { instrument } from '../../stress/support/instrument.ts'
import { SESSION, shellRan, subagentStop } from '../../support/payloads.ts'
import { CLI, LAUNCHER } from '../../support/process.ts'
import {
  createSourceProject,
  type HookOptions,
  type HookRun,
  makeOld,
  type Project,
  withMarker,
} from '../../support/project.ts'

const FOLDER = 'specs/259_x'
const MARKER = `${FOLDER}/.postflight-pending`
const GUARD = `${FOLDER}/.postflight-loop-guard`
const LOCK = `${FOLDER}/.postflight-lock`
const CREATE = ['create', '259', 'x', '--operation', 'research', '--host-session', SESSION, '--agent', 'agent-a']

/** A marker from `create`, and one from plain bash. */
const WITH_ID = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'agent-a', operation: 'research' }
const CREATED = shellRan('postflight create 259', `created ${MARKER}  ${WITH_ID.id}\n`)
const SEED = { session_id: 'sess_1736700000_abc123', task_number: 259, operation: 'research', stop_hook_active: false }

/** For hooks that must run at once, and for a few rows of each table: the process that a host starts. */
const AS_PROCESS: HookOptions = { program: [LAUNCHER] }

const isBlock = (run: HookRun): boolean => run.answer.decision === 'block'
const reasonOf = async (project: Project) => (await project.hook(subagentStop())).answer.reason

function stopsAtOnce(project: Project, count: number): Promise<HookRun>[] {
  return Array.from({ length: count }, () => project.hook(subagentStop(), AS_PROCESS))
}

/** Runs stops one after the other, with a change after each that leaves a marker. Returns the number of blocks. */
async function stopTimes(project: Project, times: number, change?: (project: Project) => void, options?: HookOptions) {
  let blocks = 0
  for (let index = 0; index < times; index++) {
    if (isBlock(await project.hook(subagentStop(), options))) blocks += 1
    if (project.has(MARKER)) change?.(project)
  }
  return blocks
}

/** Removes marker and loop guard, as plain `rm -f` does, and writes a marker if there is a text. */
function resetByHand(project: Project, text?: string): void {
  for (const name of [MARKER, GUARD]) rmSync(project.at(name), { force: true })
  if (text !== undefined) project.write(MARKER, text)
}

function clearAtOnce({ dir, env }: Project): void {
  spawnSync(process.execPath, [CLI, 'clear', '259', '--quiet'], { cwd: dir, env })
}

/** Writes a file beside another one, and puts it in its place. */
function replace(project: Project, name: string, text: string): void {
  renameSync(project.write('next', text), project.at(name))
}

const CHANGES: Record<string, (project: Project) => void> = {
  'the loop guard is deleted': (project) => rmSync(project.at(GUARD), { force: true }),
  'the loop guard is garbled': (project) => project.write(GUARD, 'not a number\n'),
  'the loop guard is set back to 0': (project) => project.write(GUARD, '0\n'),
  'the loop guard has a million characters': (project) => project.write(GUARD, '\0'.repeat(1_000_000)),
  'the loop guard is replaced by a rename': (project) => replace(project, GUARD, '1\n'),
  'the marker is rewritten in place': (project) => project.write(MARKER, project.read('copy')),
  'the marker is rewritten in place with other words': (project) =>
    project.write(MARKER, `{"reason":"${performance.now()}"}\n`),
  'the marker is emptied': (project) => project.write(MARKER, ''),
  'the marker is replaced by a rename': (project) => replace(project, MARKER, project.read('copy')),
  'the marker is replaced by a rename with other words': (project) =>
    replace(project, MARKER, '{"operation":"plan"}\n'),
  'the marker is removed and written': (project) => {
    rmSync(project.at(MARKER))
    project.write(MARKER, project.read('copy'))
  },
  'the marker is touched': (project) => utimesSync(project.at(MARKER), new Date(), new Date()),
}

describe.concurrent('at most three stops are blocked', () => {
  it.each([
    ['with an id', WITH_ID],
    ['without an id', SEED],
  ])('with eight hooks at once on one marker %s: exactly three', async (_what, fields) => {
    const project = withMarker(fields)
    const runs = await Promise.all(stopsAtOnce(project, 8))
    const counts = runs.filter(isBlock).map((run) => /Blocked stop (\d) of 3/.exec(run.answer.reason ?? '')?.[1])
    expect(counts.sort()).toEqual(['1', '2', '3'])
    expect(await stopTimes(project, 1)).toBe(0)
    expect(Object.keys(project.snapshot(FOLDER))).toEqual(['.postflight-abandoned'])
    // The order of the journal's lines is random.
    const recorded = project.journal().map((entry) => `${entry.event} ${entry.count}`)
    expect(recorded.sort()).toEqual(['block 1', 'block 2', 'block 3', 'cap 3'])
  })

  it.each(Object.entries(CHANGES))('when %s between stops', async (_what, change) => {
    for (const fields of [WITH_ID, SEED]) {
      const project = withMarker(fields)
      project.write('copy', project.read(MARKER))
      expect(await stopTimes(project, 5, change)).toBe(3)
    }
  })

  it('by the hooks that a host starts, when the loop guard is deleted between stops', async () => {
    const project = withMarker(SEED)
    expect(await stopTimes(project, 4, CHANGES['the loop guard is deleted'], AS_PROCESS)).toBe(3)
  })

  it('each with its number in the loop guard, whatever that said before', async () => {
    const project = withMarker(SEED)
    for (const count of [1, 2, 3]) {
      expect(isBlock(await project.hook(subagentStop()))).toBe(true)
      expect(project.read(GUARD)).toBe(`${count}\n`)
      project.write(GUARD, 'x')
    }
  })

  it('when the marker loses its id in place and its loop guard is gone', async () => {
    const project = withMarker(WITH_ID)
    expect(await stopTimes(project, 2)).toBe(2)
    rmSync(project.at(GUARD))
    project.write(MARKER, `{"cc_session_id":"${SESSION}"}\n`)
    expect(await stopTimes(project, 3)).toBe(1)
  })
})

describe.concurrent('after a kill', () => {
  it('between claim and loop guard, the claim counts', async () => {
    const project = withMarker(WITH_ID)
    await project.hook(subagentStop())
    rmSync(project.at(GUARD))
    expect(await reasonOf(project)).toContain('Blocked stop 2 of 3')
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
    const run = await project.hook(subagentStop(), AS_PROCESS)
    expect(run.stdout).toBe('{}\n')
    expect(run.durationMs).toBeLessThan(5000)
  })

  it('a marker that bash rewrites while it is abandoned, without its loop guard, counts nothing anew', async () => {
    const project = withMarker(SEED)
    await stopTimes(project, 3)
    project.write(LOCK, '')
    resetByHand(project, project.read(MARKER))
    expect(await stopTimes(project, 1)).toBe(0)
    rmSync(project.at(LOCK))
    expect(await stopTimes(project, 1)).toBe(1)
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
  it('removed together with the marker is a full reset, even if the same bytes are written again', async () => {
    const project = withMarker(SEED)
    expect(await stopTimes(project, 2)).toBe(2)
    resetByHand(project, project.read(MARKER))
    expect(await reasonOf(project)).toContain('Blocked stop 1 of 3')
    expect(await stopTimes(project, 3)).toBe(2)
  })

  it.each([
    ['without an id', SEED],
    ['with another id', { ...WITH_ID, id: 'pf_zzzzzzzzzzzz' }],
  ])('set back to 0 together with a new marker %s is a full reset', async (_what, fields) => {
    for (const before of [WITH_ID, SEED]) {
      const project = withMarker(before)
      expect(await stopTimes(project, 2)).toBe(2)
      resetByHand(project, JSON.stringify(fields))
      project.write(GUARD, '0\n')
      expect(await reasonOf(project)).toContain('Blocked stop 1 of 3')
      expect(project.read(GUARD)).toBe('1\n')
      expect(await stopTimes(project, 4)).toBe(2)
    }
  })

  it('removed together with a marker of the CLI is a full reset for the next one', async () => {
    const project = createSourceProject()
    await project.cli(CREATE)
    expect(await stopTimes(project, 2)).toBe(2)
    resetByHand(project)
    await project.cli(CREATE)
    expect(await stopTimes(project, 4)).toBe(3)
  })
})

it('a second stop that claims after the first has read the count gets the next number, and each is synced before its block', async () => {
  const project = withMarker(WITH_ID)
  const calls: string[] = []
  const blocked: string[] = []
  const { end } = instrument([project.at(FOLDER)], (call, run) => {
    calls.push(`${call.name} ${basename(call.file)}`)
    if (calls.at(-1) === 'openSync pf_abcdefghijkl.1' && blocked.length === 0) {
      const input = JSON.stringify({ ...subagentStop(), cwd: project.dir })
      blocked.push(String(spawnSync(LAUNCHER, { input, cwd: project.dir, env: project.env }).stdout))
    }
    return run()
  })
  blocked.push((await reasonOf(project)) ?? '')
  end()
  expect(blocked.map((text) => /Blocked stop (\d) of 3/.exec(text)?.[1])).toEqual(['1', '2'])
  expect(calls.indexOf('fsyncSync .postflight-claims')).toBeGreaterThan(calls.indexOf('openSync pf_abcdefghijkl.2'))
  // It reads as an integer at any time, because only a rename changes it.
  expect(calls.filter((call) => /^\w*(?:write|truncate)\w* \.postflight-loop-guard$/i.test(call))).toEqual([])
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
    const project = withMarker(SEED)
    await withoutBirthTimes(project, async () => {
      expect(await stopTimes(project, 2)).toBe(2)
      resetByHand(project, project.read(MARKER))
      expect(await reasonOf(project)).toContain('Blocked stop 1 of 3')
      expect(await stopTimes(project, 4)).toBe(2)
      expect(project.has(MARKER)).toBe(false)
    })
  })

  it.each([
    'the loop guard is deleted',
    'the loop guard is garbled',
    'the loop guard is set back to 0',
    'the marker is rewritten in place',
    'the marker is removed and written',
  ])('at most three stops are blocked when %s between stops', async (name) => {
    for (const fields of [WITH_ID, SEED]) {
      const project = withMarker(fields)
      project.write('copy', project.read(MARKER))
      // The first stop comes after the first change, because a new time of the marker's content is a new marker.
      CHANGES[name]?.(project)
      await withoutBirthTimes(project, async () => {
        expect(await stopTimes(project, 5, CHANGES[name])).toBe(3)
      })
    }
  })

  it('a marker with a time before 1970 is blocked three times, also when the loop guard is deleted', async () => {
    const { id: _id, ...withoutId } = WITH_ID
    const project = withMarker(withoutId)
    const time = Date.parse('1960-01-01') / 1000
    utimesSync(project.at(MARKER), time, time)
    await withoutBirthTimes(project, async () => {
      expect(await stopTimes(project, 2)).toBe(2)
      rmSync(project.at(GUARD))
      expect(await stopTimes(project, 3)).toBe(1)
    })
  })
})

it.each<[string, RegExp, (project: Project) => unknown, (project: Project) => unknown]>([
  ['by plain rm while a stop is counted', /claims.loop-guard/, resetByHand, (project) => project.hook(subagentStop())],
  ['by clear while a stop is counted', /claims.loop-guard/, clearAtOnce, (project) => project.hook(subagentStop())],
  ['by plain rm while its owner is recorded', /-pending\..*tmp$/, resetByHand, (project) => project.hook(CREATED)],
])('a marker that is removed %s stays removed, and its count with it', async (_when, file, remove, act) => {
  const project = withMarker({ ...WITH_ID, agent_id: undefined })
  const { end } = instrument([project.at(FOLDER)], (call, run) => {
    if (call.name === 'openSync' && file.test(call.file)) remove(project)
    return run()
  })
  await act(project)
  end()
  expect(readdirSync(project.at(FOLDER))).toEqual([])
  project.marker('259_x', SEED)
  expect(await reasonOf(project)).toContain('Blocked stop 1 of 3')
})
