import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  contents,
  hostEnvironment,
  laterSession,
  makeClone,
  makeUpstream,
  NAMES,
  printProblems,
  rewriteMarkers,
  untouchable,
} from '../stress/tables/hostile.ts'
import { askAll, clearAsPrinted, readWords } from '../stress/tables/hostile-run.ts'
import { makePackageCopy, makeSandbox, type PackageCopy, type Sandbox } from '../stress/tables/sandbox.ts'

/** A part of `test/stress/hostile.test.ts`. */

let pack: PackageCopy
let base: string
let plain: Sandbox
let links: Sandbox

beforeAll(() => {
  pack = makePackageCopy()
  base = realpathSync(mkdtempSync(join(tmpdir(), 'postflight-upstream-')))
  makeUpstream(join(base, 'plain'), {})
  makeUpstream(join(base, 'links'), { links: true })
  // Made first and used last, because they must be older than the session that finds them.
  plain = makeClone(join(base, 'plain'), 'core.autocrlf=true')
  links = makeClone(join(base, 'links'))
  for (const sandbox of [plain, links]) {
    sandbox.hand()
    sandbox.seal()
  }
})
afterAll(() => {
  for (const sandbox of [plain, links]) sandbox.remove()
  pack.remove()
  rmSync(base, { recursive: true, force: true })
})

describe('a cloned repository', () => {
  it('whose markers were rewritten blocks a sub-agent, with a bounded reason that names their files', async () => {
    const sandbox = makeClone(join(base, 'plain'))
    try {
      rewriteMarkers(sandbox, { reason: 'Written here.' })
      const env = hostEnvironment(sandbox, pack)
      sandbox.hand()

      const { SubagentStop } = await askAll(sandbox, pack, env)

      const { decision, reason } = JSON.parse(String(SubagentStop)) as { decision: string; reason: string }
      expect(decision).toBe('block')
      expect(reason.length).toBeLessThanOrEqual(4000)
      expect(reason).toMatch(
        /^Written here\.\nTask .*: the postflight is not done yet\. Marker: specs\/.*\.postflight-pending$/m,
      )
      expect(reason).toMatch(/You have \d+ more pending markers: postflight inspect lists them\./)
    } finally {
      sandbox.remove()
    }
  })

  it('with settings that name a command like ours is inspected, and none of its commands is run', async () => {
    const sandbox = makeSandbox()
    try {
      const forged = "'\u001b[2J/tmp/$(touch x)/hooks/postflight-hook'"
      // More than our command, so it belongs to the user: neither run nor removed.
      const foreign = 'touch y; "\u001b[2J/tmp/$(touch y)/hooks/postflight-hook"'
      mkdirSync(sandbox.at('.claude'))
      writeFileSync(
        sandbox.at('.claude/settings.json'),
        JSON.stringify({
          hooks: { Stop: [{ hooks: [forged, foreign].map((command) => ({ type: 'command', command })) }] },
        }),
      )
      const env = hostEnvironment(sandbox, pack)
      sandbox.hand()

      const doctor = await sandbox.run(process.execPath, [pack.cli, 'doctor'], { env })
      const install = await sandbox.run(process.execPath, [pack.cli, 'install'], { env })

      expect(doctor.status).toBe(1)
      expect(doctor.stdout).toContain('starts another copy')
      expect(install.status).toBe(0)
      expect([...printProblems(doctor), ...printProblems(install)]).toEqual([])
      expect(contents(sandbox)['/.claude/settings.json']).not.toContain('touch x')
      expect(contents(sandbox)['/.claude/settings.json']).toContain(JSON.stringify(foreign))
      expect(Object.keys(contents(sandbox)).filter((name) => /\/[xy]$/.test(name))).toEqual([])
    } finally {
      sandbox.remove()
    }
  })
})

describe.concurrent('the printed clear command is safe to paste and clears its folder', () => {
  it.each(NAMES.filter((_, index) => index % 4 === 1))('%j', async (name) => {
    const seen = await clearAsPrinted(pack, name, 'postflight')
    expect(seen.problems).toEqual([])
    expect(readWords(seen.words)).toEqual(['clear', ...(name.startsWith('-') ? ['--'] : []), seen.printable])
  })
})

describe('a repository that was cloned before the session', () => {
  it('blocks no sub-agent, is announced in bounded words, and stays as it is', async () => {
    const env = hostEnvironment(plain, pack)
    const transcript = await laterSession(plain)
    const before = contents(plain)

    const { SessionStart = '', ...stops } = await askAll(plain, pack, env, transcript)

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
    const env = hostEnvironment(links, pack)

    const answers = await askAll(links, pack, env, await laterSession(links))

    expect(answers.SubagentStop).toMatch(/^\{"systemMessage":"postflight-guard: .*016_link_marker.*\(a link\).*"\}$/)
    for (const words of [
      ['inspect'],
      ['doctor'],
      ['logs'],
      ['clear', '--all', '--dry-run'],
      ['install'],
      ['uninstall'],
    ]) {
      const run = await links.run(process.execPath, [pack.cli, ...words], { env })
      expect([0, 1, 65]).toContain(run.status)
      expect(printProblems(run)).toEqual([])
    }
    expect(links.outsideProblems()).toEqual([])
  })
})
