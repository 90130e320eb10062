import { describe, expect, it } from 'vitest'
import { readOptions } from '../../../src/opencode/options.ts'

describe("the plugin's options", () => {
  it.each([[undefined], [{ guard: undefined, workflow: undefined }]])('are all optional: %j', (given) => {
    expect(readOptions(given)).toMatchObject({ guard: true, workflow: true, problems: [] })
  })

  it('switch the guard and the workflow off', () => {
    expect(readOptions({ guard: false, workflow: false })).toMatchObject({ guard: false, workflow: false })
  })

  it.each([
    [{ guard: 'no' }, 'option "guard" must be true or false; the default is used.'],
    [{ guard: null }, 'option "guard" must be true or false; the default is used.'],
    [{ postReadNudg: {} }, 'unknown option "postReadNudg" (did you mean "postReadNudge"?).'],
    [{ somethingElse: 1 }, 'unknown option "somethingElse".'],
  ])('%j leads to one line', (given, line) => {
    expect(readOptions(given).problems).toEqual([`postflight-guard: ${line}`])
  })

  const NONE = { chains: {} }
  it.each([
    [{ postReadNudge: { every: 0 } }, 'postReadNudge.every', 'it must be at least 1'],
    [{ postReadNudge: { evry: 3 } }, 'postReadNudge', 'unknown field "evry" (did you mean "every"?)'],
    [{ postReadNudge: { every: 2.5 } }, 'postReadNudge.every', 'it must be a whole number'],
    [{ phaseReminder: { agents: 'build' } }, 'phaseReminder.agents', 'it must be a list'],
    [{ phaseReminder: 7 }, 'phaseReminder', 'it must be true, false or an object'],
    [{ phaseReminder: null }, 'phaseReminder', 'it must be true, false or an object'],
    [{ reactive: null }, 'reactive', 'it must be a list'],
    [{ reactive: [{ prompt: 'p' }] }, 'reactive.0.tool', 'it is missing, and must be a string'],
    [{ postReadNudge: { every: '5' } }, 'postReadNudge.every', 'it must be a number'],
    [{ chatHeaders: 'yes' }, 'chatHeaders', 'it must be true or false'],
    [{ foregroundFallback: { chains: { a: [] } } }, 'foregroundFallback.chains.a', 'it must have at least 1 entry'],
    [{ foregroundFallback: { chains: { a: ['gpt'] } } }, 'foregroundFallback.chains.a.0', 'not "provider/model"'],
    [{ foregroundFallback: { ...NONE, patterns: ['('] } }, 'foregroundFallback.patterns.0', 'not a regular expression'],
    [{ jsonErrorRecovery: { except: [1] } }, 'jsonErrorRecovery.except.0', 'it must be a string'],
  ])('%j leaves its hook off, and leads to one line about %s: %s', (given, path, why) => {
    const name = Object.keys(given)[0]
    const line = `postflight-guard: option "${path}" is invalid, so ${name} stays off: ${why}.`
    expect(readOptions(given).problems).toEqual([line])
  })
})
