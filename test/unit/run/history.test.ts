import { describe, expect, it } from 'vitest'
import { MAX_PHASE_STEPS } from '../../../src/run/definition/definition-limits.ts'
import { type HistoryEntry, historyFields, readHistoryEntry } from '../../../src/run/machine/state-fields.ts'
import { NOW } from './builders.ts'

const ENTRY: HistoryEntry = {
  ...{ n: 3, timeMs: NOW, event: 'end', phase: 'a', visit: 2, step: MAX_PHASE_STEPS, attempt: 4 },
  ...{ outcome: 'failed', verdict: 'bug', detail: 'why' },
}

describe('an entry of the history', () => {
  it('is read as it was written', () => {
    const fields = historyFields(ENTRY)
    const { timeMs: _time, ...others } = ENTRY
    expect(fields).toEqual({ ...others, time: '2023-11-14T22:13:20.000Z' })
    expect(readHistoryEntry(fields)).toEqual(ENTRY)
  })

  it.each([
    ...[{ n: -1 }, { event: 'ended' }, { event: 'constructor' }, { phase: undefined }, { visit: 1.5 }],
    ...[{ step: MAX_PHASE_STEPS + 1 }, { step: '1' }, { attempt: '1' }, { attempt: -1 }, { outcome: 'done' }],
    ...[{ outcome: { a: 1 } }, { verdict: 3 }, { detail: null }],
  ])('that was changed to %j cannot be read', (wrong) => {
    expect(readHistoryEntry({ ...historyFields(ENTRY), ...wrong })).toBeUndefined()
  })

  it.each([[undefined], [3], ['soon']])('is kept with the time %j, which is then unknown', (time) => {
    expect(readHistoryEntry({ ...historyFields(ENTRY), time })).toEqual({ ...ENTRY, timeMs: 0 })
  })
})
