import { describe, expect, it } from 'vitest'
import { reasonText } from '../../../src/run/definition/phase-fields.ts'
import type { Observation } from '../../../src/run/machine/observation.ts'
import { duePrompt } from '../../../src/run/machine/prompt.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { resumeState } from '../../../src/run/machine/steering.ts'
import { PROMPT_TEXT } from '../../../src/run/run-messages.ts'
import { begin, MADE, NO_SESSIONS, PLACE, played, seeing } from './builders.ts'

/** The prompt's words about the phase that led here, and about the phase's own last visit. */

const TEMPLATE = '<{{verdict}}> <{{previous_artifact}}> <{{artifact:check}}> <{{artifact:fix}}>'
const JUDGED = { pass: 'end', fail: 'fix', verdict: '/ok', reason: '/errors' }
const CHECK = { id: 'check', prompt: TEMPLATE, artifact: 'reports/check.json', next: JUDGED, max_visits: 3 }
const FIX = { id: 'fix', prompt: TEMPLATE, artifact: 'fix.md', next: 'check', max_visits: 3 }
const ARCHIVED = 'artifacts/check/1-check.json'

const failing = (reason?: string): Partial<Observation> => ({ artifact: { kind: 'valid', verdict: 'fail', reason } })
const promptOf = (state: WorkflowState): string => duePrompt(state, PLACE).prompt

describe('a phase of a loop', () => {
  const fixing = played(begin(CHECK, FIX), {}, failing('line 3 is wrong'), {})

  it('gets the reason for the verdict that led to it, at its first visit too', () => {
    expect(promptOf(fixing)).toContain('\n\n<line 3 is wrong> <> </f/reports/check.json> </f/fix.md>\n\n')
    expect(promptOf(fixing)).toContain(`\n\n${PROMPT_TEXT.ledBy('check', 'fail', 'line 3 is wrong', 1)}\n\n`)
  })

  it('learns at its second visit what led back to it, and where its last artifact is', () => {
    const again = played(fixing, MADE, {}, { previousArtifact: ARCHIVED })
    expect(again).toMatchObject({ phase: 'check', stage: 'prompted', previousArtifact: ARCHIVED })
    expect(promptOf(again)).toContain(`\n\n<> </f/${ARCHIVED}> `)
    expect(promptOf(again)).toContain('\n\nThis is visit 2 of this phase. It follows the phase "fix".\n\n')
    expect(promptOf(again)).toContain(`\n\nThe previous result is now in the file /f/${ARCHIVED}.\n\n`)
    // Later attempts of the visit get the same words.
    expect(promptOf(played(again, {}, {}))).toContain(`now in the file /f/${ARCHIVED}.`)
  })

  it('gets only a verdict that the phase before it has', () => {
    const unexplained = played(begin(CHECK, FIX), {}, failing(), {})
    expect(promptOf(unexplained)).toContain('\n\n<fail> <> ')
    expect(promptOf(unexplained)).not.toContain('This phase follows')
  })

  it('that ended the run gets its own verdict after a resume', () => {
    const judged = begin({ ...CHECK, next: { ...CHECK.next, fail: 'end' } }, FIX)
    const failed = played(judged, {}, failing('nothing works'))
    expect(failed).toMatchObject({ outcome: 'failed' })
    const resumed = played(resumeState(failed, NO_SESSIONS, seeing(failing('nothing works'))), {}, {})
    expect(promptOf(resumed)).toContain('It follows the phase "check", whose verdict was "fail":\nnothing works\n\n')
  })
})

describe('the reason for a verdict', () => {
  it.each([
    ['text', ' two\nlines ', 'two\nlines'],
    ['a list', ['one', { line: 3 }], '- one\n- {"line":3}'],
    ['an object', { line: 3 }, '{"line":3}'],
    ['control characters', 'a\u001b[31mb\u202ec', 'a[31mbc'],
    ['an empty text', ' \n', undefined],
    ['an empty list', [], undefined],
    ['null', null, undefined],
    ['a missing value', undefined, undefined],
  ])('from %s', (_, value, text) => {
    expect(reasonText(value)).toBe(text)
  })

  it('is bounded', () => {
    expect(reasonText('x'.repeat(100_000))).toHaveLength(2000)
  })
})
