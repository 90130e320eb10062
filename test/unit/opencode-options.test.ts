import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/opencode/options.ts'

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
      'postflight-guard: option "postReadNudge.every" is wrong (Too small: expected number to be >=1), so postReadNudge stays off.',
    ],
    [
      { postReadNudge: { evry: 3 } },
      'postflight-guard: option "postReadNudge" is wrong (Unrecognized key: "evry"), so postReadNudge stays off.',
    ],
  ])('%j is answered in one line', (given, line) => {
    expect(readOptions(given).problems).toEqual([line])
  })
})
