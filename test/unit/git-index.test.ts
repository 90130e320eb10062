import { describe, expect, it } from 'vitest'
import { findIndexEntries, type HashBytes } from '../../src/core/git-index.ts'
import { type Entry, indexOf } from './git-index-file.ts'

const NAME = '.postflight-pending'
const find = (index: Uint8Array, names: readonly string[] = [NAME], hashBytes: HashBytes = 20) =>
  findIndexEntries(index, names, hashBytes)
const pathsIn = (index: Uint8Array, names?: readonly string[], hashBytes?: HashBytes): string[] => [
  ...find(index, names, hashBytes).keys(),
]

/** Paths as git sorts them, ours among others; some share much of the one before, some nothing. */
const PATHS = [
  '.gitignore',
  'README.md',
  'specs/001_a/.postflight-pending',
  'specs/001_a/report.md',
  'specs/002_bb/.postflight-pending',
  'specs/002_bb/.postflight-pending.md',
  'specs/002_bb/.postflight-pending/inner',
  'specs/002_bb/my.postflight-pending',
  'specs/.postflight-pending',
  `z/${'long/'.repeat(60)}${NAME}`,
]
const OURS = [PATHS[2], PATHS[4], PATHS[8], PATHS[9]]

describe.each([2, 3, 4] as const)('an index of version %i', (version) => {
  it.each([20, 32] as const)('with names of %i bytes gives the paths that end in the wanted name', (hashBytes) => {
    const index = indexOf(
      version,
      PATHS.map((path) => ({ path })),
      hashBytes,
    )
    expect(pathsIn(index, [NAME], hashBytes)).toEqual(OURS)
  })

  it('gives object, time and size of each', () => {
    const entries = PATHS.map((path, at) => ({
      path,
      byte: at + 1,
      modified: [at * 7, at * 9] as const,
      size: at * 11,
    }))
    const found = find(indexOf(version, entries))
    expect(found.get('specs/002_bb/.postflight-pending')).toEqual({
      object: '05'.repeat(20),
      modified: [28, 36],
      size: 44,
    })
  })

  it('knows several wanted names, and a wanted name at the top', () => {
    const index = indexOf(version, [{ path: NAME }, { path: 'a/.postflight-abandoned' }, { path: 'b' }])
    expect(pathsIn(index, [NAME, '.postflight-abandoned'])).toEqual([NAME, 'a/.postflight-abandoned'])
    expect(pathsIn(index, ['b'])).toEqual(['b'])
    expect(pathsIn(index, [])).toEqual([])
  })

  it('finds an entry whatever the length of its path leaves for padding', () => {
    for (let length = 1; length <= 20; length++) {
      const paths = ['a'.repeat(length), `b/${NAME}`, `c${'c'.repeat(length)}`, `d/${NAME}`]
      expect(
        pathsIn(
          indexOf(
            version,
            paths.map((path) => ({ path })),
          ),
        ),
      ).toEqual([paths[1], paths[3]])
    }
  })

  it('gives a path that is not UTF-8 byte by byte', () => {
    const path = `caf\u00c3\u00a9 \u00ff/${NAME}`
    expect(pathsIn(indexOf(version, [{ path }]))).toEqual([path])
  })

  it.each([1, 2, 3])('passes over stage %i of a conflict: it is no tracked content', (stage) => {
    const index = indexOf(version, [{ path: `a/${NAME}`, stage }, { path: `b/${NAME}` }])
    expect(pathsIn(index)).toEqual([`b/${NAME}`])
  })

  it('of nothing gives nothing', () => {
    expect(pathsIn(indexOf(version, []))).toEqual([])
  })

  it('that ends too soon gives what stands before, at any byte', () => {
    const index = indexOf(
      version,
      PATHS.map((path) => ({ path })),
    )
    for (let length = 0; length < index.length; length++) {
      const found = pathsIn(index.subarray(0, length))
      expect(found).toEqual(OURS.slice(0, found.length))
    }
  })

  it('that ends right behind a name gives that name', () => {
    const index = indexOf(version, [{ path: 'b' }])
    const behindName = index.indexOf('b'.charCodeAt(0), 12) + 2
    expect(pathsIn(index.subarray(0, behindName), ['b'])).toEqual(['b'])
    expect(pathsIn(index.subarray(0, behindName - 1), ['b'])).toEqual([])
  })

  it('that lies inside a larger buffer is read from its own beginning', () => {
    const index = indexOf(version, [{ path: NAME }])
    const larger = new Uint8Array(index.length + 10)
    larger.set(index, 5)
    expect(pathsIn(larger.subarray(5, 5 + index.length))).toEqual([NAME])
  })
})

describe.each([3, 4] as const)('extended flags of version %i', (version) => {
  const SKIP_WORKTREE = 0x4000
  const INTENT_TO_ADD = 0x2000
  const entries: Entry[] = [
    { path: `a/${NAME}`, extended: SKIP_WORKTREE },
    { path: `b/${NAME}`, extended: INTENT_TO_ADD },
    { path: `c/${NAME}`, extended: INTENT_TO_ADD | SKIP_WORKTREE },
    { path: `d/${NAME}` },
  ]

  it('`git add -N` tracks no content yet; a sparse checkout does', () => {
    expect(pathsIn(indexOf(version, entries))).toEqual([`a/${NAME}`, `d/${NAME}`])
  })
})

describe('version 2 has no extended flags', () => {
  it('the bit does not move the name', () => {
    expect(pathsIn(indexOf(2, [{ path: `a/${NAME}`, flagBits: 0x4000 }]))).toEqual([`a/${NAME}`])
  })
})

describe('what is no index that we can read', () => {
  it.each([
    ['empty', new Uint8Array()],
    ['too short for a header', indexOf(2, []).subarray(0, 11)],
    ['other letters', indexOf(2, [{ path: NAME }]).map((byte, at) => (at === 3 ? 0x58 : byte))],
    ['version 1', indexOf(1 as 2, [{ path: NAME }])],
    ['version 5', indexOf(5 as 2, [{ path: NAME }])],
    ['a split index, which has no entries of its own', indexOf(2, [], 20, 7)],
  ])('%s', (_, index) => {
    expect(pathsIn(index)).toEqual([])
  })

  it('fewer entries than it holds: the rest are extensions', () => {
    expect(pathsIn(indexOf(2, [{ path: NAME }, { path: `b/${NAME}` }], 20, 1))).toEqual([NAME])
    expect(pathsIn(indexOf(2, [{ path: NAME }], 20, 0))).toEqual([])
  })

  it('more entries than it holds', () => {
    expect(pathsIn(indexOf(2, [{ path: NAME }], 20, 0xffff_ffff))).toEqual([NAME])
    expect(pathsIn(indexOf(4, [{ path: NAME }], 20, 0xffff_ffff))).toEqual([NAME])
  })
})

describe('version 4 takes over the beginning of the path before', () => {
  it('also where more than 127 bytes of it go', () => {
    const paths = ['a'.repeat(4000), `b/${NAME}`, `b/${NAME}x`]
    expect(
      pathsIn(
        indexOf(
          4,
          paths.map((path) => ({ path })),
        ),
      ),
    ).toEqual([`b/${NAME}`])
  })

  it('a path as long as any file system takes is read', () => {
    const longest = `${'d/'.repeat(2038)}${NAME}x`
    expect(longest).toHaveLength(4096)
    expect(pathsIn(indexOf(4, [{ path: longest.slice(0, -1) }, { path: longest }, { path: NAME }]))).toHaveLength(2)
  })

  it('and a number that is larger than the path takes all of it', () => {
    const index = indexOf(4, [{ path: 'ab' }, { path: NAME, removes: 5000 }])
    expect(pathsIn(index)).toEqual([NAME])
  })

  it('a hostile one whose paths only grow is not followed', () => {
    const growing = Array.from({ length: 3000 }, () => ({ path: 'x'.repeat(1000), removes: 0 }))
    expect(pathsIn(indexOf(4, [{ path: NAME }, ...growing, { path: `late/${NAME}`, removes: 3_000_000 }]))).toEqual([
      NAME,
    ])
  })
})
