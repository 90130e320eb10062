import { describe, expect, it } from 'vitest'
import { readOptions } from '../../../src/opencode/options.ts'

describe("the plugin's options", () => {
  it('are all optional', () => {
    expect(readOptions(undefined)).toMatchObject({ guard: true, workflow: true, problems: [] })
  })

  it('switch the guard and the workflow off', () => {
    expect(readOptions({ guard: false, workflow: false })).toMatchObject({ guard: false, workflow: false })
  })

  it.each([
    [{ guard: 'no' }, 'postflight-guard: option "guard" must be true or false; the default is used.'],
    [{ postReadNudg: {} }, 'postflight-guard: unknown option "postReadNudg" (did you mean "postReadNudge"?).'],
    [{ somethingElse: 1 }, 'postflight-guard: unknown option "somethingElse".'],
    [
      { postReadNudge: { every: 0 } },
      'postflight-guard: option "postReadNudge.every" is invalid, so postReadNudge stays off: it must be at least 1.',
    ],
    [
      { postReadNudge: { evry: 3 } },
      'postflight-guard: option "postReadNudge" is invalid, so postReadNudge stays off: unknown field "evry".',
    ],
    [
      { postReadNudge: { every: 2.5 } },
      'postflight-guard: option "postReadNudge.every" is invalid, so postReadNudge stays off: it must be a whole number.',
    ],
    [
      { phaseReminder: { agents: 'build' } },
      'postflight-guard: option "phaseReminder.agents" is invalid, so phaseReminder stays off: it must be a list.',
    ],
    [
      { phaseReminder: 7 },
      'postflight-guard: option "phaseReminder" is invalid, so phaseReminder stays off: it must be true, false or an object.',
    ],
    [
      { chatHeaders: 'yes' },
      'postflight-guard: option "chatHeaders" is invalid, so chatHeaders stays off: it must be true or false.',
    ],
    [
      { foregroundFallback: { chains: { build: [] } } },
      'postflight-guard: option "foregroundFallback.chains.build" is invalid, so foregroundFallback stays off: it must not be empty.',
    ],
    [
      { foregroundFallback: { chains: { build: ['gpt'] } } },
      'postflight-guard: option "foregroundFallback.chains.build.0" is invalid, so foregroundFallback stays off: not "provider/model".',
    ],
    [
      { foregroundFallback: { chains: {}, patterns: ['('] } },
      'postflight-guard: option "foregroundFallback.patterns.0" is invalid, so foregroundFallback stays off: not a regular expression.',
    ],
    [
      { jsonErrorRecovery: { except: [1] } },
      'postflight-guard: option "jsonErrorRecovery.except.0" is invalid, so jsonErrorRecovery stays off: it must be a string.',
    ],
  ])('%j leads to one line', (given, line) => {
    expect(readOptions(given).problems).toEqual([line])
  })
})
