import { describe, expect, it } from 'vitest'
import {
  type Claim,
  claimKey,
  countSpent,
  isSpent,
  type LoopGuard,
  type MarkerIdentity,
  parseClaimName,
  parseLoopGuard,
} from '../../../src/marker/loop-guard.ts'

const ID = 'pf_abcdefgh1234'
const OTHER_ID = 'pf_zzzzzzzz9999'
const FILE = 'f1a-2b'
const OTHER_FILE = 'f1a-9z'
const ABSENT = 0
const GARBLED = undefined
const shows = (value: number): LoopGuard => value

/** The claims of `count` continuations of one marker. */
function claims(key: string, count: number, file?: string): Claim[] {
  return Array.from({ length: count }, (_, index) => ({ key, slot: index + 1, file }))
}

describe('the loop guard as text', () => {
  it.each([
    ['1\n', 1],
    [' 2 \r\n', 2],
    ['\ufeff2\n', 2],
    ['0000000002', 2],
    ['3', 3],
    ...['4', '007', '99', '1000', '2'.repeat(500), '9'.repeat(64)].map((text): [string, number] => [text, 3]),
  ])('%j reads as %i: past the limit means spent (rysweet/amplihack#3960, CC#18646)', (text, value) => {
    expect(parseLoopGuard(text)).toBe(value)
  })

  it.each(['0', '0\n', '0000'])('%j is the same as no file', (text) => {
    expect(parseLoopGuard(text)).toBe(ABSENT)
  })

  it.each([...['', ' \n', '{}', '-1', '1.5', '1e1', 'NaN', 'null', 'three', '1 2', '0x2', '٢', '1\u0000', '1\ufeff2']])(
    '%j is garbled: it says nothing',
    (text) => {
      expect(parseLoopGuard(text)).toBe(GARBLED)
    },
  )
})

describe('the names of claims', () => {
  it.each([
    [ID, ID],
    ...[undefined, 'sess_1', '', '../../etc/passwd', 'pf_short', `${ID}x`, 'pf_abcdefgh123/'].map((id) => [id, FILE]),
  ])('have the id %j of the marker, or the identity of its file if that is no id of ours', (id, key) => {
    expect(claimKey({ id, file: FILE })).toBe(key)
  })

  it.each([
    ...`.gitignore loop-guard.123.tmp ${ID}.expired ${ID}.0 ${ID}.10 ${ID}. ${ID} x${ID}.1 ${ID}.1~`.split(' '),
    ...`${FILE}.1.tmp f1a.1 f-.1 fA-B.1 .1`.split(' '),
    '',
  ])('%j is not the name of a claim', (name) => {
    expect(parseClaimName(name)).toBeUndefined()
  })
})

describe('the count of spent continuations', () => {
  const own: MarkerIdentity = { id: ID, file: FILE }
  const noId: MarkerIdentity = { file: FILE }

  it.each<[string, Claim[], MarkerIdentity, LoopGuard, number]>([
    ['is 0 before the first', [], own, ABSENT, 0],
    ['is that of its claims, shown by the guard', claims(ID, 2), own, shows(2), 2],
    ['stays without a guard, which does not mean the first stop (CRU#581)', claims(ID, 2), own, ABSENT, 2],
    ['stays without a guard and an id', claims(FILE, 2), noId, ABSENT, 2],
    ['stays if the guard is emptied or garbled (CRU#570)', claims(ID, 2), own, GARBLED, 2],
    ['stays if the guard is set back', claims(ID, 3), own, shows(1), 3],
    ['is that of the guard without claims: a plain shell hook may have counted', [], own, shows(2), 2],
    ['is 0 with a garbled guard and no claims', [], own, GARBLED, 0],
    ['is the highest slot, if there are gaps', [1, 3].map((slot) => ({ key: ID, slot })), own, ABSENT, 3],
    ['is never more than three by its claims', [{ key: ID, slot: 9 }], own, ABSENT, 3],
    ['is never more than three by the guard', [], own, shows(7), 3],
    ['is never negative', [], own, shows(-1), 0],
  ])('%s', (_, made, marker, guard, expected) => {
    expect(countSpent(made, marker, guard)).toBe(expected)
  })

  it('is the limit for a corrupt 2222… (rysweet/amplihack#3960)', () => {
    expect(isSpent(countSpent([], own, parseLoopGuard('2'.repeat(64))))).toBe(true)
  })
})

describe('a marker that was rewritten in the same chain', () => {
  const rewritten: MarkerIdentity = { id: OTHER_ID, file: OTHER_FILE }
  const noId: MarkerIdentity = { file: OTHER_FILE }
  const both = [...claims(ID, 3, FILE), ...claims(OTHER_ID, 1, OTHER_FILE)]

  it.each<[string, Claim[], MarkerIdentity, LoopGuard, number]>([
    ['keeps its count with another id while the guard exists', claims(ID, 2, FILE), rewritten, shows(1), 2],
    ['keeps its count with another id while the guard is garbled', claims(ID, 2, FILE), rewritten, GARBLED, 2],
    ['keeps its count without an id while the guard exists', claims(ID, 2, FILE), noId, shows(1), 2],
    ['keeps its count in the same file, with a lost id', claims(ID, 2, FILE), { file: FILE }, ABSENT, 2],
    ['keeps its count in the same file, with a new id', claims(ID, 2, FILE), { id: OTHER_ID, file: FILE }, ABSENT, 2],
    ['keeps its count in another file with its id', claims(ID, 2, FILE), { id: ID, file: OTHER_FILE }, ABSENT, 2],
    ['starts at 0 if marker and guard were removed together', claims(ID, 3, FILE), rewritten, ABSENT, 0],
    ['starts at 0 then without an id', claims(ID, 3, FILE), noId, ABSENT, 0],
    ['starts at 0 then, also if the file of the claims is not known', claims(ID, 3), noId, ABSENT, 0],
    ['has only its own claims counted after the guard was removed', both, rewritten, ABSENT, 1],
    ['has all claims counted while the guard exists', both, rewritten, shows(1), 3],
  ])('%s', (_, made, marker, guard, expected) => {
    expect(countSpent(made, marker, guard)).toBe(expected)
  })
})
