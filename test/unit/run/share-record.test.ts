import { describe, expect, it } from 'vitest'
import { formatHolder, readHolder } from '../../../src/run/shared/share-record.ts'

const HOLDER = {
  machine: 'one',
  session: undefined,
  sinceMs: Date.parse('2026-01-18T12:00:00Z'),
  generation: 2,
  nonce: '0123456789abcdef0123456789abcdef',
  path: 'area/007_walk',
  project: 'pkg/a/',
}

const read = (text: string) => readHolder(Buffer.from(text))

const readWith = (fields: object) => read(JSON.stringify({ ...JSON.parse(formatHolder(HOLDER)), ...fields }))

describe('the holder of a shared run', () => {
  it('is read as it was written, also after a release', () => {
    expect(read(formatHolder(HOLDER))).toEqual(HOLDER)
    expect(read(formatHolder({ ...HOLDER, machine: undefined }))).toEqual({ ...HOLDER, machine: undefined })
  })

  it.each([
    ...[{ path: '../../evil' }, { path: '/tmp/evil' }, { path: '.git/hooks' }, { path: 'a/.b' }, { path: 'a/b/c' }],
    ...['007_a b', '007_$(id)', '-rf', 'a/-rf', '007_walk/sub'].map((path) => ({ path })),
    ...[{ generation: -1 }, { nonce: 'x' }, { since: 'yesterday' }, { machine: 7 }, { path: undefined }],
  ])('is refused with %j', (fields) => {
    expect(readWith(fields)).toBe(undefined)
  })

  it('is refused if it is absent, not JSON, not an object, or larger than 8 kB', () => {
    for (const text of ['{', '[]', '']) expect(read(text)).toBe(undefined)
    expect(readHolder(undefined)).toBe(undefined)
    expect(readWith({ more: 'x'.repeat(8_192) })).toBe(undefined)
  })

  it('has no control characters in its names', () => {
    const { machine, session } = readWith({ machine: 'e\u001b[2Jvil', session: 'a\nb' }) ?? {}
    expect(`${machine}${session}`).not.toMatch(/\p{Cc}/u)
  })
})
