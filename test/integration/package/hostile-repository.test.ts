import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  contents,
  hostEnvironment,
  makeClone,
  makeUpstream,
  NAMES,
  printProblems,
  rewriteMarkers,
  untouchable,
} from '../../stress/tables/hostile.ts'
import { askAll, askHook, clearAsPrinted, readWords } from '../../stress/tables/hostile-run.ts'
import { makePackageCopy, makeSandbox, type PackageCopy, type Sandbox } from '../../stress/tables/sandbox.ts'
import { SOURCES } from '../../support/programs.ts'

/** A part of `test/stress/hostile.test.ts`. */

/** A marker that is older than the session by this much (ms) still counts as written in it. */
const TOLERANCE_MS = 10_000

let pack: PackageCopy
let base: string

beforeAll(() => {
  pack = makePackageCopy()
  base = realpathSync(mkdtempSync(join(tmpdir(), 'postflight-upstream-')))
  makeUpstream(join(base, 'plain'), {})
  makeUpstream(join(base, 'links'), { links: true })
})
afterAll(() => {
  pack.remove()
  rmSync(base, { recursive: true, force: true })
})

/** The sandbox, which is removed at the end of the test. */
function removed(sandbox: Sandbox): Sandbox {
  onTestFinished(() => sandbox.remove())
  return sandbox
}

describe('a cloned repository', () => {
  it('whose markers were rewritten blocks a sub-agent, with a bounded reason that names their files', async () => {
    const sandbox = removed(makeClone(join(base, 'plain')))
    rewriteMarkers(sandbox, { reason: 'Written here.' })
    const env = hostEnvironment(sandbox, pack)
    sandbox.hand()
    const { SubagentStop } = await askAll(sandbox, pack, env)
    const { decision, reason } = JSON.parse(String(SubagentStop)) as { decision: string; reason: string }
    expect(decision).toBe('block')
    expect(reason.length).toBeLessThanOrEqual(4000)
    expect(reason).toMatch(
      /^Written here\.\nTask .*: its postflight is still pending\. Marker: specs\/.*\.postflight-pending$/m,
    )
    expect(reason).toMatch(/You have \d+ more pending markers: postflight inspect lists them\./)
  })

  it('with settings that name a command like ours is inspected, and none of its commands is run', async () => {
    const sandbox = removed(makeSandbox())
    // In the form that `install` writes, so it counts as ours although its file is missing.
    const missing = "'\u001b[2J/tmp/$(touch x)/hooks/postflight-hook'"
    const forged = `[ ! -f ${missing} ] || exec ${missing}`
    // More than our command, so it belongs to the user: neither run nor removed.
    const foreign = 'touch y; "\u001b[2J/tmp/$(touch y)/hooks/postflight-hook"'
    mkdirSync(sandbox.at('.claude'))
    const hooks = { Stop: [{ hooks: [forged, foreign].map((command) => ({ type: 'command', command })) }] }
    writeFileSync(sandbox.at('.claude/settings.json'), JSON.stringify({ hooks }))
    const env = hostEnvironment(sandbox, pack)
    sandbox.hand()
    const doctor = await sandbox.run(process.execPath, [pack.cli, 'doctor'], { env })
    const install = await sandbox.run(process.execPath, [pack.cli, 'install'], { env })
    expect(doctor).toMatchObject({ status: 1, stdout: expect.stringContaining('starts another copy') })
    expect(install.status).toBe(0)
    expect([...printProblems(doctor), ...printProblems(install)]).toEqual([])
    expect(contents(sandbox)['/.claude/settings.json']).not.toContain('touch x')
    expect(contents(sandbox)['/.claude/settings.json']).toContain(JSON.stringify(foreign))
    expect(Object.keys(contents(sandbox)).filter((name) => /\/[xy]$/.test(name))).toEqual([])
  })
})

describe.concurrent('the printed clear command is safe to paste and clears its folder', () => {
  it.each(NAMES.filter((_, index) => index % 8 === 1))('%j', async (name) => {
    const seen = await clearAsPrinted(pack, name, 'postflight')
    expect(seen.problems).toEqual([])
    expect(readWords(seen.words)).toEqual(['clear', name.startsWith('-') ? `specs/${seen.printable}` : seen.printable])
  })
})

describe('a repository that was cloned before the session', () => {
  /** Runs the hook in this process, in a session that begins when the clone is old enough. */
  const askLater = (sandbox: Sandbox, env: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
    const options = { cwd: sandbox.project, env: { ...sandbox.env, ...env } }
    const sessionBirthMs = Date.now() + TOLERANCE_MS + 1000
    return askHook(sandbox, (words, { input }) => SOURCES.hook(words, { ...options, sessionBirthMs, input }))
  }

  it('blocks no sub-agent, is announced in bounded words, and stays as it is', async () => {
    const plain = removed(makeClone(join(base, 'plain'), 'core.autocrlf=true'))
    const env = hostEnvironment(plain, pack)
    plain.seal()
    const before = contents(plain)
    const { SessionStart = '', ...stops } = await askLater(plain, env)
    expect(stops).toEqual({
      SubagentStop: '{}',
      'SubagentStop of an older client': '{}',
      Stop: '{}',
      PostToolUse: '{}',
    })
    const { additionalContext } = JSON.parse(SessionStart).hookSpecificOutput
    expect(additionalContext).toContain('according to files there, which may have come with the repository')
    expect(additionalContext).not.toContain('IGNORE ALL')
    expect(additionalContext.length).toBeLessThan(4000)
    expect(untouchable(contents(plain))).toEqual(untouchable(before))
    expect(plain.outsideProblems()).toEqual([])
  })

  it('with links never leads a command out of it', async () => {
    const links = removed(makeClone(join(base, 'links')))
    const env = hostEnvironment(links, pack)
    links.hand()
    links.seal()
    const answers = await askLater(links, env)
    expect(answers.SubagentStop).toMatch(/^\{"systemMessage":"postflight-guard: .*016_link_marker.*\(a link\).*"\}$/)
    links.hand()
    for (const line of ['inspect', 'doctor', 'logs', 'clear --all --dry-run', 'install', 'uninstall']) {
      const run = await links.run(process.execPath, [pack.cli, ...line.split(' ')], { env })
      expect([0, 1, 65]).toContain(run.status)
      expect(printProblems(run)).toEqual([])
    }
    expect(links.outsideProblems()).toEqual([])
  })
})
