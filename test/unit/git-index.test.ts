import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findIndexEntries, type HashBytes, type IndexEntry } from '../../src/core/git-index.ts'
import { commitAll, git, initRepository } from '../stress/tables/git.ts'

/** Every index here was made by git itself, and git says what must be found in it. */

const MARKER = '.postflight-pending'
const ABANDONED = '.postflight-abandoned'

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'postflight-index-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

/** A tree whose names share beginnings, have every length from 1 to 24, and lie before and after the markers. */
function writeTree(): string[] {
  const markers = ['', 'specs/', 'specs/001_a/', 'specs/001_a/deep/', 'specs/größe/', 'specs/z '].map(
    (place) => `${place}${place.endsWith(' ') ? '/' : ''}${MARKER}`,
  )
  markers.forEach((name, index) => {
    write(name, `{"n":${index}}\n`)
  })
  for (let length = 1; length <= 24; length++) write(`specs/001_a/${'x'.repeat(length)}`, String(length))
  write(`specs/001_a/${MARKER}.txt`, 'no marker')
  write(`specs/001_a/my${MARKER}`, 'no marker either')
  write(`specs/001_a/${ABANDONED}`, 'abandoned')
  return [...markers, `specs/001_a/${ABANDONED}`]
}

function read(hashBytes: HashBytes = 20, index = join(folder, '.git/index')): Map<string, IndexEntry> {
  return findIndexEntries(readFileSync(index), [MARKER, ABANDONED], hashBytes)
}

const latin1 = (path: string): string => Buffer.from(path).toString('latin1')

/** What git has staged for `name`. */
function staged(name: string): string {
  return git(folder, 'rev-parse', `:${name}`).trim()
}

describe("a marker in git's index", () => {
  it.each([
    ['version 2', [], 20, 2],
    ['version 3', [], 20, 3],
    ['version 4', [], 20, 4],
    ['version 2 of a SHA-256 repository', ['--object-format=sha256'], 32, 2],
    ['version 4 of a SHA-256 repository', ['--object-format=sha256'], 32, 4],
  ] as const)('is found wherever it lies, and nothing else is: %s', (_, words, hashBytes, version) => {
    initRepository(folder, ...words)
    const names = writeTree()
    commitAll(folder)
    if (version === 4) git(folder, 'update-index', '--index-version', '4')
    // Only an extended flag makes git write version 3.
    if (version === 3) git(folder, 'update-index', '--skip-worktree', 'specs/001_a/xxx')
    expect(readFileSync(join(folder, '.git/index')).readUInt32BE(4)).toBe(version)

    const found = read(hashBytes)

    expect([...found.keys()].sort()).toEqual(names.map(latin1).sort())
    for (const name of names) expect(found.get(latin1(name))?.object).toBe(staged(name))
  })

  it('has the size and the time that the file had when git looked at it', () => {
    initRepository(folder)
    write(MARKER, 'twelve bytes')
    commitAll(folder)

    const { mtimeNs } = statSync(join(folder, MARKER), { bigint: true })

    expect(read().get(MARKER)).toMatchObject({
      size: 12,
      modified: [Number(mtimeNs / 1_000_000_000n), Number(mtimeNs % 1_000_000_000n)],
    })
  })

  it.each(['--skip-worktree', '--assume-unchanged'])('is found where it is flagged %s', (flag) => {
    initRepository(folder)
    const names = writeTree()
    commitAll(folder)
    git(folder, 'update-index', flag, `specs/001_a/${MARKER}`)

    expect([...read().keys()].sort()).toEqual(names.map(latin1).sort())
  })

  it('is not tracked yet where `git add -N` only announced it', () => {
    initRepository(folder)
    write('a', 'a')
    commitAll(folder)
    write(MARKER, '')
    write(`specs/${MARKER}`, '{}')
    git(folder, 'add', '-N', '-f', MARKER, `specs/${MARKER}`)
    expect(readFileSync(join(folder, '.git/index')).readUInt32BE(4)).toBe(3)

    expect([...read().keys()]).toEqual([])
  })

  it('is nobody’s content while a merge conflicts over it', () => {
    initRepository(folder)
    write(MARKER, 'base\n')
    commitAll(folder)
    git(folder, 'checkout', '-q', '-b', 'other')
    write(MARKER, 'theirs\n')
    commitAll(folder)
    git(folder, 'checkout', '-q', 'main')
    write(MARKER, 'ours\n')
    commitAll(folder)
    expect(() => git(folder, 'merge', '-q', 'other')).toThrow()
    expect(git(folder, 'ls-files', '-u')).toContain(MARKER)

    expect(read().size).toBe(0)
  })

  it('is found in a worktree’s and in a submodule’s own index', () => {
    const library = join(folder, 'library')
    initRepository(library)
    writeFileSync(join(library, MARKER), 'of the library')
    commitAll(library)
    const project = join(folder, 'project')
    initRepository(project)
    writeFileSync(join(project, MARKER), 'of the project')
    commitAll(project)
    git(project, 'submodule', '--quiet', 'add', library, 'sub')
    git(project, 'worktree', 'add', '-q', join(folder, 'tree'))

    const indexes = ['worktrees/tree/index', 'modules/sub/index'].map((name) => join(project, '.git', name))

    expect(indexes.map((index) => read(20, index).get(MARKER)?.object)).toEqual([
      git(project, 'rev-parse', `:${MARKER}`).trim(),
      git(library, 'rev-parse', `:${MARKER}`).trim(),
    ])
  })

  it('is found beside names of hostile lengths and contents', () => {
    initRepository(folder)
    write(`specs/${'l'.repeat(250)}/${'o'.repeat(250)}/${MARKER}`, 'long')
    write(`specs/a\nb\u001b[2J/${MARKER}`, 'control')
    write(`specs/__proto__/${MARKER}`, 'prototype')
    commitAll(folder)

    expect(read().size).toBe(3)
    expect(read().get(`specs/__proto__/${MARKER}`)?.object).toBe(staged(`specs/__proto__/${MARKER}`))
  })
})

describe('an index that cannot be read', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['no index at all', Buffer.from('this is some other file, longer than a header')],
    ['of a version that nobody knows', Buffer.from('DIRC\0\0\0\x05\0\0\0\x01'.padEnd(200, '\0'), 'latin1')],
    ['promising more than it holds', Buffer.from('DIRC\0\0\0\x02\xff\xff\xff\xff', 'latin1')],
  ])('%s tracks nothing', (_, bytes) => {
    expect(findIndexEntries(bytes, [MARKER], 20).size).toBe(0)
  })

  it.each([2, 4])('cut at any byte, or with any byte changed, neither throws nor hangs (version %i)', (version) => {
    initRepository(folder)
    writeTree()
    commitAll(folder)
    if (version === 4) git(folder, 'update-index', '--index-version', '4')
    const whole = readFileSync(join(folder, '.git/index'))
    const markers = read().size

    for (let length = 0; length < whole.length; length += 3) {
      expect(findIndexEntries(whole.subarray(0, length), [MARKER], 20).size).toBeLessThanOrEqual(markers)
    }
    for (let at = 0; at < whole.length; at += 3) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0xff
      findIndexEntries(changed, [MARKER], 20)
    }
  })
})
