import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../../src/run/machine/state-fields.ts'
import { statusWords, taskTitle } from '../../../src/views/report/report-messages.ts'
import { historyLine } from '../../../src/views/run-view.ts'

it.each([
  ['.', 'specs/'],
  ['done-0123456789abcdef', 'definition of done (done-0123456789abcdef)'],
] as const)('the task %s is "%s" in a report', (task, title) => expect(taskTitle(task)).toBe(title))

it.each([
  ['unchecked', 'ended without its checks'],
  ['moved', 'goes on elsewhere'],
] as const)('the status %s is "%s" in words', (status, words) => expect(statusWords(status)).toBe(words))

describe('a line of the history', () => {
  const entry = { n: 1, timeMs: 0, event: 'end', phase: 'plan' } as const

  it.each<[Partial<HistoryEntry>, string]>([
    [{ visit: 1 }, ''],
    [{ visit: 2, outcome: 'failed', detail: 'too\nlate' }, '    visit 2, failed, too late'],
    [{ step: 3, attempt: 1, verdict: 'bug' }, '    step 3, attempt 1, verdict bug'],
  ])('%j', (more, facts) => {
    expect(historyLine({ ...entry, ...more }, 6)).toBe(`1970-01-01T00:00:00.000Z  end          plan${facts}`)
  })
})
