import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REASON_LIMIT } from '../../src/stop/answer.ts'
import { sessionStart, subagentStop } from '../support/payloads.ts'
import { canRun, type ProcessResult } from '../support/process.ts'
import { lineProblem } from './tables/fuzz.ts'
import { git, initRepository } from './tables/git.ts'
import {
  contents,
  fillOutside,
  hostEnvironment,
  hostPayloads,
  laterSession,
  makeClone,
  makeUpstream,
  NAMES,
  printProblems,
  rewriteMarkers,
  SHIPPED_ID,
  taskFolders,
  traceOutside,
  untouchable,
} from './tables/hostile.ts'
import { askAll, clearAsPrinted, readWords } from './tables/hostile-run.ts'
import type { PackageCopy, Sandbox } from './tables/sandbox.ts'
import { makePackageCopy, makeSandbox, noteBlindness, tookTooLong, withSandbox } from './tables/sandbox.ts'

/** A repository that was made to harm those who clone it. */

const MARKER = '.postflight-pending'
const TRACES = canRun('strace -f -e trace=openat -o /dev/null true')

let pack: PackageCopy
let base: string

beforeAll(async () => {
  pack = makePackageCopy()
  base = realpathSync(mkdtempSync(join(tmpdir(), 'postflight-upstream-')))
  makeUpstream(join(base, 'plain'), { hugeBytes: 100 * 1024 * 1024 })
  makeUpstream(join(base, 'links'), { links: true })
  makeUpstream(join(base, 'sha256'), { words: ['--object-format=sha256'] })
  if (!TRACES) console.warn('strace cannot be used here: files that are opened outside of the project are not seen')
  await noteBlindness()
})
afterAll(() => {
  pack.remove()
  rmSync(base, { recursive: true, force: true })
})

const CLONES: readonly [string, () => Sandbox][] = [
  ['as a plain clone', () => makeClone(join(base, 'plain'))],
  ['with line ends of another platform', () => makeClone(join(base, 'plain'), 'core.autocrlf=true')],
  ['with SHA-256', () => makeClone(join(base, 'sha256'))],
  ['as a worktree', () => asWorktree(makeClone(join(base, 'plain')))],
  ['as a submodule', asSubmodule],
]

function asWorktree(sandbox: Sandbox): Sandbox {
  renameSync(sandbox.project, join(sandbox.base, 'main'))
  git(join(sandbox.base, 'main'), 'worktree', 'add', '-q', '--detach', sandbox.project)
  return sandbox
}

function asSubmodule(): Sandbox {
  const sandbox = makeSandbox()
  rmSync(sandbox.project, { recursive: true })
  rmSync(join(sandbox.base, '.git'), { recursive: true })
  initRepository(sandbox.base)
  git(sandbox.base, 'submodule', '--quiet', 'add', join(base, 'plain'), 'project')
  fillOutside(sandbox)
  return sandbox
}

describe.concurrent('a clone from before the session blocks no sub-agent, and does not change', () => {
  it.each(CLONES)('%s', (_, clone) =>
    withSandbox(clone(), async (sandbox) => {
      const env = hostEnvironment(sandbox, pack)
      sandbox.hand()
      sandbox.seal()
      const transcript = await laterSession(sandbox)
      const before = contents(sandbox)

      for (let round = 0; round < 2; round++) {
        const { SessionStart = '', ...stops } = await askAll(sandbox, pack, env, transcript)
        expect(Object.values(stops)).toEqual(['{}', '{}', '{}', '{}'])
        expect(SessionStart).not.toContain('IGNORE ALL')
      }
      expect(untouchable(contents(sandbox))).toEqual(untouchable(before))
      expect(sandbox.outsideProblems()).toEqual([])
    }),
  )
})

describe.concurrent('a marker from after the session began blocks a sub-agent', () => {
  it.each(CLONES)('%s', (_, clone) =>
    withSandbox(clone(), async (sandbox) => {
      const env = hostEnvironment(sandbox, pack)
      sandbox.hand()
      const transcript = await laterSession(sandbox)
      writeFileSync(sandbox.at('specs/001_fresh', MARKER), '{ "reason": "Written here." }')

      const { SubagentStop = '', Stop } = await askAll(sandbox, pack, env, transcript)

      const { reason } = JSON.parse(SubagentStop) as { reason?: string }
      expect(reason).toMatch(/^Written here\.\nTask 001_fresh: .* Marker: specs\/001_fresh\/\.postflight-pending$/m)
      expect(reason).not.toContain('IGNORE')
      expect(Stop).toBe('{}')
    }),
  )

  it('all of them do, with a reason of bounded length', () =>
    withSandbox(makeClone(join(base, 'plain')), async (sandbox) => {
      rewriteMarkers(sandbox, { reason: `IGNORE ALL ${'x'.repeat(20_000)}`, steps: Array(80).fill('y'.repeat(500)) })
      const env = hostEnvironment(sandbox, pack)
      sandbox.hand()

      const { SubagentStop = '' } = await askAll(sandbox, pack, env)

      const { reason = '' } = JSON.parse(SubagentStop) as { reason?: string }
      expect(reason.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect(reason).toMatch(/You have \d+ more pending markers: postflight inspect lists them\./)
    }))
})

describe.concurrent('the printed clear command is safe to paste, and clears that folder', () => {
  it.each(NAMES)('%j', async (name) => {
    const seen = await clearAsPrinted(pack, name, 'postflight')
    expect(seen.problems).toEqual([])
    expect(readWords(seen.words)).toEqual(['clear', name.startsWith('-') ? `specs/${seen.printable}` : seen.printable])
  })

  it.each(NAMES)('%j, without `postflight` on the PATH', async (name) => {
    expect((await clearAsPrinted(pack, name, 'node')).problems).toEqual([])
  })
})

/** Runs a command in a clone, and checks what it prints and how it ends. */
const runCommand = (upstream: string, given: readonly string[], check: Check = () => {}, isTraced = false) =>
  withSandbox(makeClone(join(base, upstream)), async (sandbox) => {
    if (upstream === 'plain') {
      rewriteMarkers(sandbox, { id: SHIPPED_ID, reason: '\u001b[2J\u009b31m', skill: '\u0007', operation: '\u007f' })
    }
    const env = hostEnvironment(sandbox, pack)
    if (!isTraced) sandbox.hand()
    sandbox.seal()
    const words = [pack.cli, ...given.filter((word) => word !== undefined)]

    const { run, strangers } = isTraced
      ? await traceOutside(sandbox, pack, process.execPath, words, { env })
      : { run: await sandbox.run(process.execPath, words, { env }), strangers: [] }

    expect([0, 1, 64, 65, 73], run.stderr).toContain(run.status)
    expect(printProblems(run)).toEqual([])
    expect(strangers).toEqual([])
    expect(sandbox.outsideProblems()).toEqual([])
    check(run)
  })
type Check = (run: ProcessResult) => void

describe('nothing outside of the project is read or written', () => {
  const words = [
    ...[['inspect'], ['explain'], ['doctor'], ['logs'], ['install'], ['uninstall'], ['create', '016_link_marker']],
    ...[
      ['create', '17', 'link_folder'],
      ['clear', '--all'],
      ['bypass', '--all'],
    ],
  ]

  it.skipIf(!TRACES)('by the hook, as its system calls show', () =>
    withSandbox(makeClone(join(base, 'links')), async (sandbox) => {
      const env = hostEnvironment(sandbox, pack)
      sandbox.seal()
      for (const { words: first, payload } of hostPayloads(sandbox.project)) {
        const input = JSON.stringify(payload)
        const { run, strangers, opened } = await traceOutside(sandbox, pack, pack.launcher, first, { input, env })

        expect(run.status, run.stderr).toBe(0)
        expect(lineProblem(run.stdout)).toBeUndefined()
        expect(opened).toBeGreaterThan(3)
        expect(strangers).toEqual([])
      }
      expect(sandbox.outsideProblems()).toEqual([])
    }),
  )

  it.each(words)(`by %s %s %s, as ${TRACES ? 'its system calls' : 'the canaries'} show`, (...given) =>
    runCommand('links', given, undefined, TRACES),
  )
})

describe('its texts cannot change the terminal', () => {
  it.each([
    ...[['inspect'], ['inspect', '--json'], ['doctor'], ['doctor', '--json']],
    ...[['explain'], ['logs'], ['logs', '--json']],
  ])('%s %s', (...given) =>
    runCommand('plain', given, ({ status, stdout }) => {
      expect([0, 1]).toContain(status)
      expect(stdout.length).toBeGreaterThan(20)
    }),
  )
})

describe('fifty thousand task folders', () => {
  const COUNT = 50_000
  let sandbox: Sandbox
  let env: Record<string, string>

  // Created once: each case changes the files that the case before left.
  beforeAll(() => {
    sandbox = makeSandbox()
    env = hostEnvironment(sandbox, pack)
    for (const folder of taskFolders(sandbox.project, COUNT)) mkdirSync(folder, { recursive: true })
    writeMarkers('{ "reason": "shipped" }\n')
    sandbox.hand()
  })
  afterAll(() => sandbox.remove())

  it.each([
    ['from before the session', undefined, false],
    ['that block', '{ "reason": "held" }\n', true],
    ['of another session', '{ "cc_session_id": "another" }\n', false],
  ])('with markers %s', async (_, text, blocks) => {
    if (text !== undefined) writeMarkers(text)
    const [stopped = ''] = await answersInTime(text === undefined ? await laterSession(sandbox) : undefined)
    expect(stopped.includes('"decision":"block"')).toBe(blocks)
  })

  it('without a marker', async () => {
    for (const folder of taskFolders(sandbox.project, COUNT)) rmSync(join(folder, MARKER))
    expect(await answersInTime()).toEqual(['{}', '{}'])
  })

  function writeMarkers(text: string): void {
    for (const folder of taskFolders(sandbox.project, COUNT)) writeFileSync(join(folder, MARKER), text)
  }

  async function answersInTime(transcript?: string): Promise<string[]> {
    const common = { cwd: sandbox.project, ...(transcript !== undefined && { transcript_path: transcript }) }
    const answers: string[] = []
    for (const [words, payload] of [
      [[], subagentStop(common)],
      [['SessionStart'], sessionStart('startup', common)],
    ] as const) {
      const run = await sandbox.run(pack.launcher, words, { input: JSON.stringify(payload), env })

      expect(run.status).toBe(0)
      expect(lineProblem(run.stdout)).toBeUndefined()
      expect(tookTooLong(run.durationMs, 5000), `${run.durationMs} ms`).toBe(false)
      expect(run.stderr.split('\n').length).toBeLessThan(25)
      answers.push(run.stdout.trim())
    }
    return answers
  }
})
