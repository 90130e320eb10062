import { describe, expect, it } from 'vitest'
import {
  type Claim,
  claimKey,
  claimName,
  countSpent,
  countsFor,
  isSpent,
  type LoopGuard,
  parseClaimName,
  parseLoopGuard,
} from '../../../src/marker/loop-guard.ts'

const ID = 'pf_abcdefgh1234'
const OTHER_ID = 'pf_zzzzzzzz9999'
const FILE = 'f1a-2b'
const OTHER_FILE = 'f1a-9z'
const ABSENT: LoopGuard = { kind: 'absent' }
const GARBLED: LoopGuard = { kind: 'garbled' }
const shows = (value: number): LoopGuard => ({ kind: 'number', value })

/** The claims of `count` continuations of one marker. */
function claims(key: string, count: number, file?: string): Claim[] {
  return Array.from({ length: count }, (_, index) => ({ key, slot: index + 1, file }))
}

describe('the loop guard as text', () => {
  it.each([
    ['1\n', 1],
    ['2', 2],
    ['3', 3],
    [' 2 \r\n', 2],
    ['\ufeff2\n', 2],
    ['007', 3],
    ['002', 2],
    ['0000000002', 2],
  ])('%j reads as %i', (text, value) => {
    expect(parseLoopGuard(text)).toEqual({ kind: 'number', value })
  })

  it.each(['4', '99', '999', '1000', '2'.repeat(500), '9'.repeat(64)])(
    'a number past the limit means: spent (rysweet/amplihack#3960, CC#18646): %s',
    (text) => {
      expect(parseLoopGuard(text)).toEqual({ kind: 'number', value: 3 })
    },
  )

  it.each(['0', '0\n', '0000'])('%j is the same as no file', (text) => {
    expect(parseLoopGuard(text)).toEqual({ kind: 'absent' })
  })

  it.each(['', ' \n', '{}', '-1', '1.5', '1e1', 'NaN', 'null', 'three', '1 2', '0x2', '٢', '1\u0000', '1\ufeff2'])(
    '%j is garbled: it says nothing',
    (text) => {
      expect(parseLoopGuard(text)).toEqual({ kind: 'garbled' })
    },
  )
})

describe('the names of claims', () => {
  it('have the id of the marker, or the identity of its file if it has none', () => {
    expect(claimKey({ id: ID, file: FILE })).toBe(ID)
    expect(claimKey({ file: FILE })).toBe(FILE)
    expect(claimKey({ id: undefined, file: FILE })).toBe(FILE)
  })

  it.each(['sess_1', '', '../../etc/passwd', 'pf_short', `${ID}x`, 'pf_abcdefgh123/'])(
    'an id %j that could not be a file name of ours is not used as one',
    (id) => {
      expect(claimKey({ id, file: FILE })).toBe(FILE)
    },
  )

  it.each([ID, FILE])('with the key %s are read as they were written', (key) => {
    for (const slot of [1, 2, 3]) expect(parseClaimName(claimName(key, slot))).toEqual({ key, slot })
  })

  it.each([
    '.gitignore',
    'loop-guard.123.tmp',
    `${ID}.expired`,
    `${ID}.0`,
    `${ID}.10`,
    `${ID}.`,
    ID,
    `x${ID}.1`,
    `${ID}.1~`,
    `${FILE}.1.tmp`,
    'f1a.1',
    'f-.1',
    'fA-B.1',
    '.1',
    '',
  ])('%j is not the name of a claim', (name) => {
    expect(parseClaimName(name)).toBeUndefined()
  })
})

describe('the count of spent continuations', () => {
  const marker = { id: ID, file: FILE }

  it.each([0, 1, 2, 3])('is %i with as many own claims, shown by the guard', (count) => {
    expect(countSpent(claims(ID, count), marker, shows(count))).toBe(count)
  })

  it.each([1, 2, 3])(
    'stays %i after the guard was deleted: no file does not mean the first stop (CRU#581)',
    (count) => {
      expect(countSpent(claims(ID, count), marker, ABSENT)).toBe(count)
      expect(countSpent(claims(FILE, count), { file: FILE }, ABSENT)).toBe(count)
    },
  )

  it.each([1, 2, 3])('stays %i after the guard was emptied or garbled, and can still grow (CRU#570)', (count) => {
    for (const text of ['', '{}', 'x', '-1']) {
      expect(countSpent(claims(ID, count), marker, parseLoopGuard(text))).toBe(count)
    }
  })

  it('stays the number of claims after the guard was set back', () => {
    expect(countSpent(claims(ID, 2), marker, parseLoopGuard('0'))).toBe(2)
    expect(countSpent(claims(FILE, 2), { file: FILE }, parseLoopGuard('0'))).toBe(2)
    expect(countSpent(claims(ID, 3), marker, shows(1))).toBe(3)
  })

  it('is the number in the guard if there are no claims: a plain shell hook may have counted', () => {
    expect(countSpent([], marker, shows(2))).toBe(2)
    expect(countSpent([], marker, parseLoopGuard('3'))).toBe(3)
  })

  it('is the limit for a corrupt 2222… (rysweet/amplihack#3960)', () => {
    expect(isSpent(countSpent([], marker, parseLoopGuard('2'.repeat(64))))).toBe(true)
  })

  it('is the highest slot, if there are gaps', () => {
    expect(countSpent([{ key: ID, slot: 3 }], marker, ABSENT)).toBe(3)
    expect(
      countSpent(
        [
          { key: ID, slot: 1 },
          { key: ID, slot: 3 },
        ],
        marker,
        ABSENT,
      ),
    ).toBe(3)
  })

  it('is never more than three', () => {
    expect(countSpent([{ key: ID, slot: 9 }], marker, ABSENT)).toBe(3)
    expect(countSpent([], marker, shows(7))).toBe(3)
  })

  it('is never negative', () => {
    expect(countSpent([], marker, ABSENT)).toBe(0)
    expect(countSpent([], marker, GARBLED)).toBe(0)
    expect(countSpent([], marker, shows(-1))).toBe(0)
  })
})

describe('a marker that was rewritten in the same chain', () => {
  const rewritten = { id: OTHER_ID, file: OTHER_FILE }

  it.each([1, 2, 3])('keeps %i spent continuations with another id while the guard exists', (count) => {
    expect(countSpent(claims(ID, count, FILE), rewritten, shows(count))).toBe(count)
    expect(countSpent(claims(ID, count, FILE), rewritten, GARBLED)).toBe(count)
  })

  it('keeps its spent continuations without an id while the guard exists', () => {
    expect(countSpent(claims(ID, 2, FILE), { file: OTHER_FILE }, shows(2))).toBe(2)
  })

  it('keeps its spent continuations with a lost or a new id in the same file, without the guard', () => {
    expect(countSpent(claims(ID, 2, FILE), { file: FILE }, ABSENT)).toBe(2)
    expect(countSpent(claims(ID, 2, FILE), { id: OTHER_ID, file: FILE }, ABSENT)).toBe(2)
  })

  it('keeps its spent continuations with the same id in another file, without the guard', () => {
    expect(countSpent(claims(ID, 2, FILE), { id: ID, file: OTHER_FILE }, ABSENT)).toBe(2)
  })

  it('starts at 0 if marker and guard were removed together', () => {
    expect(countSpent(claims(ID, 3, FILE), rewritten, ABSENT)).toBe(0)
    expect(countSpent(claims(ID, 3, FILE), { file: OTHER_FILE }, ABSENT)).toBe(0)
    expect(countSpent(claims(ID, 3), { file: OTHER_FILE }, ABSENT)).toBe(0)
  })

  it('starts at 0 if the guard was set back to 0 together with it', () => {
    expect(countSpent(claims(ID, 3, FILE), rewritten, parseLoopGuard('0\n'))).toBe(0)
    expect(countSpent(claims(FILE, 3, FILE), { file: OTHER_FILE }, parseLoopGuard('0\n'))).toBe(0)
  })

  it('has only its own claims counted after the guard was removed', () => {
    const both = [...claims(ID, 3, FILE), ...claims(OTHER_ID, 1, OTHER_FILE)]
    expect(countSpent(both, rewritten, ABSENT)).toBe(1)
    expect(countSpent(both, rewritten, shows(1))).toBe(3)
  })
})

describe('which claims count', () => {
  const marker = { id: ID, file: FILE }
  it.each<[string, Claim, LoopGuard, boolean]>([
    ['its own', { key: ID, slot: 1 }, ABSENT, true],
    ["another's", { key: OTHER_ID, slot: 1 }, ABSENT, false],
    ["another's, made on this file", { key: OTHER_ID, slot: 1, file: FILE }, ABSENT, true],
    ["another's, made on another file", { key: OTHER_ID, slot: 1, file: OTHER_FILE }, ABSENT, false],
    ["another's, while the guard shows a number", { key: OTHER_ID, slot: 1 }, shows(1), true],
    ["another's, while the guard shows 0", { key: OTHER_ID, slot: 1 }, parseLoopGuard('0'), false],
    ["another's, while the guard is garbled", { key: OTHER_ID, slot: 1 }, GARBLED, true],
  ])('%s', (_, claim, guard, expected) => {
    expect(countsFor(claim, marker, guard)).toBe(expected)
  })
})
