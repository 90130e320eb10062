import { describe, expect, it } from 'vitest'
import { addRules, holdsRules, removeRules, rulesOf } from '../../src/core/settings/permission-rules.ts'
import { thrownBy } from './builders.ts'

const PATH = '/p/.claude/settings.json'

/** True if a rule of Claude Code matches a command: a star stands for anything, and ` *` at the end for nothing too. */
function matches(rule: string, command: string): boolean {
  const pattern = /^Bash\((.*)\)$/.exec(rule)?.[1] as string
  const escaped = pattern.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped.replace(/ \.\*$/, '(?: .*)?')}$`).test(command)
}

describe('our permission rules', () => {
  it.each([
    'postflight create 259 x --step "git commit"',
    'postflight step 259 1',
    'postflight wait 259 --for answers',
    'postflight clear 259',
    'postflight inspect',
    'postflight status --json',
    'npx --no-install postflight clear 259',
    'npx --no-install postflight workflow next 259 --json',
  ])('allow the protocol: %s', (command) => {
    expect(rulesOf('allow').some((rule) => matches(rule, command))).toBe(true)
    expect(rulesOf('ask').some((rule) => matches(rule, command))).toBe(false)
  })

  it.each([
    'postflight create 259 x --check "npm test"',
    'postflight create 259 x --check=ls',
    'postflight create 259 --step-check "a=ls"',
    'postflight clear 259 --run-checks',
    'postflight workflow start 259 --definition x',
    'postflight workflow resume 259 --trust',
    'postflight install',
    'npx --no-install postflight install --scope user',
    'npx --no-install postflight create 259 --check ls',
    'npx postflight workflow start 259 --definition x',
  ])('ask for what can start a command: %s', (command) => {
    expect(rulesOf('ask').some((rule) => matches(rule, command))).toBe(true)
  })

  it.each(['postflight uninstall', 'postflight bypass 259', 'postflight-other', 'postflight creates', 'rm -rf specs'])(
    'leave the rest to the host: %s',
    (command) => {
      expect([...rulesOf('allow'), ...rulesOf('ask')].some((rule) => matches(rule, command))).toBe(false)
    },
  )

  it.each([
    '',
    '{}\n',
    '{\n  "permissions": {\n    "allow": [\n      "Bash(ls *)"\n    ],\n    "deny": []\n  }\n}\n',
    '{"permissions":{"ask":["Bash(git push *)"]},"hooks":{}}',
    '{"permissions": {"allow": []}}',
  ])('are added to %j once, and taking them out restores what it says', (text) => {
    const added = addRules(text, PATH)
    const { permissions } = JSON.parse(added)

    expect(permissions.allow).toEqual(expect.arrayContaining(rulesOf('allow')))
    expect(permissions.ask).toEqual(expect.arrayContaining(rulesOf('ask')))
    expect(addRules(added, PATH)).toBe(added)
    expect([holdsRules(text, PATH), holdsRules(added, PATH)]).toEqual([false, true])
    const before = JSON.parse(text === '' ? '{}' : text)
    const after = JSON.parse(removeRules(added, PATH))
    // An empty list had no effect.
    expect(after).toEqual(text.includes('"allow": []') ? {} : before)
  })

  it.each(['{"permissions": []}', '{"permissions": {"allow": {}}}', '{"permissions": {"ask": "x"}}'])(
    'are refused for settings of another shape: %s',
    (text) => {
      expect(thrownBy(() => addRules(text, PATH))).toMatchObject({ code: 'settings-wrong-shape' })
      expect(thrownBy(() => removeRules(text, PATH))).toMatchObject({ code: 'settings-wrong-shape' })
    },
  )
})
