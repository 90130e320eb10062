import { describe, expect, it } from 'vitest'
import { groupedLines } from '../support/grouped-lines.ts'

describe('what was left out', () => {
  it('has a line for each reason, with its places', () => {
    expect(
      groupedLines([
        { place: 'a.test.ts', why: 'no jq' },
        { place: 'b.test.ts', why: 'no fish' },
        { place: 'c.test.ts', why: 'no jq' },
        { place: 'c.test.ts', why: 'no jq' },
      ]),
    ).toEqual(['  3: no jq (a.test.ts, c.test.ts)', '  1: no fish (b.test.ts)'])
    expect(groupedLines([])).toEqual([])
  })

  it('does not grow with the cases', () => {
    const cases = Array.from({ length: 1000 }, (_, index) => ({ place: `${index}.test.ts`, why: `${index % 20}` }))
    const lines = groupedLines(cases)
    expect(lines).toHaveLength(13)
    expect(lines[0]).toBe(
      '  50: 0 (0.test.ts, 20.test.ts, 40.test.ts, 60.test.ts, 80.test.ts, 100.test.ts and 44 more)',
    )
    expect(lines.at(-1)).toBe('  400: 8 other reasons, which --reporter=verbose shows')
  })
})
