import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findTask, readChecklist } from '../../src/core/workflow/checklist.ts'
import { findTaskLine } from '../../src/core/workflow/checklist-line.ts'

describe('a task that is found by its line', () => {
  it('is the one that the parser finds, in any text, with any boxes ticked meanwhile', () => {
    const line = fc
      .tuple(
        fc.constantFrom('', '  ', '    ', '> ', '\t', '      '),
        fc.constantFrom(
          '- [ ] ',
          '- [x] ',
          '* [ ]  ',
          '1. [ ] ',
          '2) [ ]\t',
          '- ',
          '',
          '```',
          '<!--',
          '-->',
          '# ',
          '- - [ ] ',
          '[ ] ',
        ),
        fc.constantFrom('a', 'b', 'c d', 'e', 'f', 'g ', '', '`h', '[x]: i'),
        fc.constantFrom('\n', '\r\n', '\n\n', '\r'),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(11)), (lines, ticked) => {
        const before = lines.join('')
        const tasks = readChecklist(before)
        let after = before
        for (const at of ticked) {
          const box = tasks[at]?.box
          if (box !== undefined) after = `${after.slice(0, box)}x${after.slice(box + 1)}`
        }
        for (const [item, { text }] of tasks.entries()) {
          const found = findTaskLine(after, { text, item })
          if (found !== undefined) expect(found).toEqual(findTask(readChecklist(after), { text, item }))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is found without the parser in a usual list', () => {
    const text = '# Tasks\n\n- [x] T001 one\n- [ ] T002 [P] two \t\n  - [X] T003 three\n\n## More\n\n1. [ ] T004 four'
    const found = readChecklist(text).map((task, item) => findTaskLine(text, { text: task.text, item }))

    expect(found).toEqual(readChecklist(text))
  })

  it.each([
    ['whose text may be that of a bare box', '      - [ ] a\n- [ ] \na\n', 0],
    ['of two with its text', '- [ ] a\n- [ ] a\n', 0],
    ['after tasks were added before it', '- [ ] new\n- [ ] a\n', 0],
    ['that has more lines now', '- [ ] a\n  b\n', 0],
    ['that is gone', '- [ ] b\n', 0],
  ])('is left to the parser: one %s', (_, text, item) => {
    expect(findTaskLine(text, { text: 'a', item })).toBeUndefined()
  })

  it('is found in time in a hostile text', () => {
    const start = Date.now()
    for (const part of ['-  ', '> ', ' ', '- [ ] ', '1. ', '\t-']) {
      findTaskLine(`${part.repeat(131_072 / part.length)}\n- [ ] a`, { text: 'a', item: 0 })
    }

    expect(Date.now() - start).toBeLessThan(1000)
  })
})
