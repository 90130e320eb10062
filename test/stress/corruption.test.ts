import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CORRUPTIONS, type Command, listCells, NOT_OF_FOLDERS, STOPS, SUBJECTS, TABLE } from './tables/corruption.ts'
import { observe, observeFreshLock, observeManyLocks } from './tables/corruption-run.ts'
import { IS_ROOT, makePackageCopy, makeSandbox, noteBlindness, withSandbox } from './tables/sandbox.ts'

/** Each of our files, broken in every way: the whole table in `tables/corruption.ts`. */

const EACH_SUBJECT = Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[]

let pack: ReturnType<typeof makePackageCopy>

beforeAll(async () => {
  pack = makePackageCopy()
  await noteBlindness()
  if (!IS_ROOT) console.warn('not run by root: the rows for root are left out')
})
afterAll(() => pack.remove())

describe('the table', () => {
  it.each(EACH_SUBJECT)('has a row for every corruption: %s', (subject) => {
    const senseless = SUBJECTS[subject].kind === 'folder' ? NOT_OF_FOLDERS : []
    const said = [...TABLE[subject].flatMap((row) => row.when), ...senseless]
    expect(said.sort()).toEqual([...CORRUPTIONS].sort())
    for (const { hook, codes } of TABLE[subject]) {
      expect(hook).toMatch(/^[c-]- [Bn-]+$/)
      expect(hook).toHaveLength(STOPS + 3)
      expect(codes.split(' ')).toHaveLength(SUBJECTS[subject].commands.length)
    }
  })
})

for (const subject of EACH_SUBJECT) {
  describe.concurrent(`${subject} (${SUBJECTS[subject].commands.join(', ')})`, () => {
    for (const cell of listCells().filter((one) => one.subject === subject)) {
      const isRootsOwn = cell.corruption.endsWith('(root)')
      it.skipIf(isRootsOwn && !IS_ROOT)(
        `${cell.corruption}: ${cell.hook} and ${Object.values(cell.codes)}`,
        async () => {
          const { hook, codes } = cell
          const commands = Object.keys(codes) as Command[]
          expect(await observe(pack, subject, cell.corruption, commands)).toEqual({ hook, codes, faults: [] })
        },
      )
    }
  })
}

// Not beside the others, whose work in this process would delay what is measured here.
describe('a lock that another process holds, or left a moment ago', () => {
  it('is waited for by a command until it is stale, and by the hook for a second', async () => {
    expect(await withSandbox(makeSandbox(), (sandbox) => observeFreshLock(sandbox, pack))).toEqual({
      hook: 'n',
      hookInTime: true,
      command: 0,
      commandInTime: true,
    })
  })
  it('is waited for by the hook no longer than its time, if there are many', async () => {
    expect(await withSandbox(makeSandbox(), (sandbox) => observeManyLocks(sandbox, pack))).toEqual({
      stdout: '{}\n',
      ranOutOfTime: true,
      inTime: true,
    })
  })
})
