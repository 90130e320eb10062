/** The files that the rules of a definition of done name, on a real disk. */

import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { processAgeMs } from '../../../src/disk/age.ts'
import { keepReceipt, readReceipts } from '../../../src/done/done-state.ts'
import { FileSearch } from '../../../src/done/search.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

function put(project: Project, ...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(project.dir, name)), { recursive: true })
    writeFileSync(join(project.dir, name), 'x')
  }
}

const NAMES = ['001_x/artifacts/a.png', '001_x/plan.md', '1/Checks/b', '1/a/workflow/b', '1/artifacts/a/1-b']
const SPECS = [...NAMES, 'done.yaml', 'workflow/x'].map((name) => `specs/${name}`)

describe('the files of a rule', () => {
  let project: Project
  beforeAll(() => {
    project = createSourceProject()
    put(
      project,
      ...['package.json', 'src/a.ts', 'src/deep/b.ts', 'src/.hidden/x.ts', '.github/ci.yml', 'app/(auth)/page.tsx'],
      ...['node_modules/p/i.js', 'src/node_modules/p/i.js', 'src/__pycache__/a.pyc', 'src/.a.ts.swp', 'src/a.ts~'],
      ...['src/.DS_Store', 'specs/001_x/.postflight-pending', 'specs/.postflight/journal.jsonl', ...SPECS],
      ...['specs/001_x/workflow/state.json', 'specs/001_x/step-result-2.json', 'specs/old/001_x/workflow/state.json'],
      ...['specs/001_x/checks/a/1-1.json', 'specs/001_x/artifacts/a/1-plan.md'],
    )
    symlinkSync('/etc', join(project.dir, 'src/etc'))
    symlinkSync('a.ts', join(project.dir, 'src/link.ts'))
  })

  it.each<[string, string[], string[]]>([
    ['src/**', [], ['src/a.ts', 'src/deep/b.ts']],
    ['src/*.ts', [], ['src/a.ts']],
    ['package.json', [], ['package.json']],
    ['missing.json', [], []],
    ['{package.json,src/deep/*}', [], ['package.json', 'src/deep/b.ts']],
    ['app/(auth)/*', [], ['app/(auth)/page.tsx']],
    ['src/**', ['src/deep/**'], ['src/a.ts']],
    // Hidden files and `specs/` only where a pattern names them; packages, git's files and our own never.
    ['**', [], ['app/(auth)/page.tsx', 'package.json', 'src/a.ts', 'src/deep/b.ts']],
    ['.github/**', [], ['.github/ci.yml']],
    ['src/.hidden/**', [], ['src/.hidden/x.ts']],
    ['specs/**', [], SPECS],
    ['specs/**/.postflight*', [], []],
    ['node_modules/**', [], []],
    ['src/.*', [], []],
    ['.git/**', [], []],
    ['src/etc/pass*', [], []],
  ])('of %j unless %j are found, at once and beside other work', async (when, unless, expected) => {
    const rule = { when: [when], unless }
    expect(new FileSearch(project.dir).pathsOf(rule)).toEqual(expected)
    const search = new FileSearch(project.dir)
    await search.prepare([{ when: ['**'], unless: [] }, rule])
    expect(search.pathsOf(rule)).toEqual(expected)
  })
})

describe('a search', () => {
  it('names the first five files that changed later than a time', () => {
    const project = createSourceProject()
    const names = ['1', '2', '3', '4', '5', '6', '7'].map((name) => `src/${name}`)
    put(project, ...names)
    const search = new FileSearch(project.dir)
    expect(search.changedSince(names, 0)).toEqual(names.slice(0, 5))
    expect(search.changedSince(names, Date.now() + 1000)).toEqual([])
    expect(search.changedSince(['src/gone'], 0)).toEqual([])
  })

  it('sees a file whose content was set back: its status changed', () => {
    const project = createSourceProject()
    put(project, 'src/a')
    utimesSync(join(project.dir, 'src/a'), 1, 1)
    expect(new FileSearch(project.dir).changedSince(['src/a'], Date.now() - 60_000)).toEqual(['src/a'])
  })

  it('ends without a result when its time is over', () => {
    const project = createSourceProject()
    put(project, 'src/a')
    const search = new FileSearch(project.dir, 0)
    expect(search.pathsOf({ when: ['src/**'], unless: [] })).toBeUndefined()
    expect(search.changedSince(['src/a'], 0)).toBeUndefined()
  })

  it('ends while it matches long names in one folder, each of which takes some ms', () => {
    const project = createSourceProject()
    put(project, ...Array.from({ length: 300 }, (_, index) => `${'a'.repeat(240)}${index}`))
    const search = new FileSearch(project.dir, processAgeMs() + 50)
    expect(search.pathsOf({ when: ['*a*a*b'], unless: [] })).toBeUndefined()
  })

  it('ends soon if folders with long names are in one another', () => {
    const project = createSourceProject()
    put(project, ...Array.from({ length: 12 }, (_, depth) => `${`${'a'.repeat(240)}/`.repeat(depth + 1)}a`))
    const before = processAgeMs()
    for (const pattern of ['**/*a*a*b', '**/*a*b/*a*b', '**/a*b/**/*b', '**/*a/**/*a/**/b']) {
      new FileSearch(project.dir).pathsOf({ when: [pattern], unless: [] })
    }
    expect(processAgeMs() - before).toBeLessThan(4 * 3_000)
  })

  it('ends without a result after too many entries, which several rules share', () => {
    const project = createSourceProject()
    put(project, 'one/1', 'one/2', 'two/1', 'two/2', 'two/3')
    const search = new FileSearch(project.dir, Number.POSITIVE_INFINITY, 4)
    const one = { when: ['one/*'], unless: [] }
    expect(search.pathsOf(one)).toEqual(['one/1', 'one/2'])
    expect(search.pathsOf(one), 'found once for all sessions').toBe(search.pathsOf(one))
    expect(search.pathsOf({ when: ['two/*'], unless: [] })).toBeUndefined()
  })

  it('that is prepared lets other work run, reads nothing afterwards, and has the same bounds', async () => {
    const project = createSourceProject()
    const rule = { when: ['src/**'], unless: [] }
    put(project, ...Array.from({ length: 3_000 }, (_, index) => `src/${index % 90}/${index}`))
    const expected = new FileSearch(project.dir).pathsOf(rule)
    let turns = 0
    const count = (): void => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    const search = new FileSearch(project.dir)
    await search.prepare([rule])
    clearImmediate(timer)
    put(project, 'src/later')
    // One for each folder, each thousand times and the order; on a busy machine several folders are read in one turn.
    expect(turns).toBeGreaterThan(20)
    expect(expected).toHaveLength(3_000)
    expect(search.pathsOf(rule)).toEqual(expected)
    expect(search.changedSince(expected ?? [], 0)).toHaveLength(5)
    const bounded = new FileSearch(project.dir, Number.POSITIVE_INFINITY, 100)
    await bounded.prepare([rule])
    expect(bounded.pathsOf(rule)).toBeUndefined()
  })
})

it('the receipt of every rule is kept, also of very many files with a time in the future', () => {
  const { dir } = createSourceProject()
  const rules = ['a', 'b'].map((name) => ({ name, timeoutMs: 1, when: [name], unless: [], checks: ['true'] }))
  const ahead = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${'a'.repeat(240)}${index}`, 2]))
  const receipt = { atMs: 1, paths: '', ownOutput: [], rewritten: {}, ahead, durationMs: 1 }
  for (const rule of rules) keepReceipt(dir, rule, receipt, { rules, nonce: 'n' })
  expect(Object.values(readReceipts(dir, { rules, nonce: 'n' }, 1))).toEqual([receipt, { ...receipt, ahead: {} }])
})
