import { describe, expect, it } from 'vitest'
import { eventWords, REPORT_TEXT, transitionWords } from '../../src/core/messages/report.ts'
import { RUN_RECORDS } from '../../src/core/messages/runs.ts'
import { STATUS_LINE_TEXT } from '../../src/core/messages/status-line.ts'
import { WATCH_TEXT } from '../../src/core/messages/views.ts'
import { hookHost } from '../../src/core/settings/hook-hosts.ts'

describe('an entry of the journal in words', () => {
  it.each([
    ['block', {}, 'stop blocked'],
    ['block', { count: 2 }, 'stop blocked, continuation 2 of 3'],
    ['clear', { outcome: 'unchecked' }, 'cleared without its checks'],
    ['claim', {}, 'owner recorded'],
    ['error', { detail: 'EACCES' }, 'error: EACCES'],
    ['of-a-later-version', {}, 'of-a-later-version'],
  ])('%s %j', (event, facts, words) => {
    const none = { count: undefined, detail: undefined, outcome: undefined }
    expect(eventWords(event, { ...none, ...facts })).toBe(words)
  })
})

describe('a transition of a run in words', () => {
  it('names the step, and the attempt from the second on', () => {
    const place = { phase: 'make', step: 2, attempt: 3 }
    expect(transitionWords('step-failed', place, 'why')).toMatch(/^make, step 2, attempt 3: .+ \(why\)$/)
    const first = { phase: 'make', step: undefined, attempt: 1 }
    expect(transitionWords('enter', first, undefined)).toMatch(/^make: [^(]+$/)
  })
})

describe('the words of views', () => {
  it('name the main conversation, and other agents by their id', () => {
    expect(REPORT_TEXT.agent('main')).toBe('main conversation')
    expect(REPORT_TEXT.agent('a73')).toBe('agent a73')
  })

  it('name the root of a live view where there is one', () => {
    expect(WATCH_TEXT.title('status', undefined)).toBe('postflight status')
    expect(WATCH_TEXT.title('status', '/my project')).toContain('/my project')
  })

  it('name the operation of a pending marker where it has one', () => {
    expect(STATUS_LINE_TEXT.pending('259_x', 'research')).toMatch(/259.* research$/)
    expect(STATUS_LINE_TEXT.pending('259_x', null)).not.toContain('null')
  })
})

it('only hosts whose settings take the hook are known by name', () => {
  expect(hookHost('droid')?.title).toBe('Factory droid')
  expect(hookHost('claude')).toBeUndefined()
  expect(hookHost('toString')).toBeUndefined()
})

describe('what the journal says of a prompt', () => {
  it.each([
    [RUN_RECORDS.prompt('make', undefined, 1, false), 'prompt: make attempt 1'],
    [RUN_RECORDS.prompt('make', 2, 3, true), 'prompt again: make step 2 attempt 3'],
    [RUN_RECORDS.batch('make', [1, 2, 5], false), 'prompt: make steps 1, 2 and 5'],
    [RUN_RECORDS.batch('make', [1], true), 'prompt again: make steps 1'],
  ])('%s', (said, words) => {
    expect(said).toBe(words)
  })
})
