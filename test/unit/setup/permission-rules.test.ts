import { describe, expect, it } from 'vitest'
import { freeCommands } from '../../../src/cli/commands/command-list.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import { findCommands, isOurHook } from '../../../src/setup/claude-hooks.ts'
import { addRules, countRules, missingRules, removeRules, rulesOf } from '../../../src/setup/permission-rules.ts'
import { thrownBy } from '../builders.ts'

const RULES = rulesOf(freeCommands(), true)
/** Those of a project that does not depend on the package. */
const ALONE = rulesOf(freeCommands(), false)

const PATH = '/p/.claude/settings.json'

/** True if a rule of Claude Code matches a command: a star stands for anything, and ` *` at the end for nothing too. */
function matches(rule: string, command: string): boolean {
  const pattern = /^Bash\((.*)\)$/.exec(rule)?.[1] as string
  const escaped = pattern.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped.replace(/ \.\*$/, '(?: .*)?')}$`).test(command)
}

/** What Claude Code does with a command: a rule that asks comes before one that allows. */
function answerTo(command: string): 'ask' | 'allow' | undefined {
  return (['ask', 'allow'] as const).find((kind) => RULES[kind].some((rule) => matches(rule, command)))
}

/** True if the real command line takes these words for the command that `plain` starts. */
async function isTaken(words: readonly string[], plain: readonly string[]): Promise<boolean> {
  const ran: string[] = []
  const program = buildProgram({
    version: '1.2.3',
    stdout: { write: () => {} },
    run: async ({ command }) => void ran.push(command),
  })
  await program.parseAsync(words, { from: 'user' }).catch(() => {})
  return ran[0] !== undefined && plain.join(' ').startsWith(ran[0])
}

describe('our permission rules', () => {
  it('are one for each command of the protocol and each way to start it, and one for what starts commands', () => {
    const protocol = [
      ...['create', 'clear', 'status', 'inspect', 'step', 'wait', 'done', 'explain', 'logs', 'doctor'],
      ...['workflow validate', 'workflow status', 'workflow next', 'workflow check'],
      ...['workflow publish', 'workflow history', 'workflow graph'],
    ]
    const { allow, ask } = rulesOf(freeCommands(), true)
    expect(allow).toEqual([
      ...protocol.map((words) => `Bash(postflight ${words} *)`),
      ...protocol.map((words) => `Bash(npx --no-install postflight ${words} *)`),
    ])
    expect(ask).toEqual([
      ...['Bash(*postflight *--check*)', 'Bash(*postflight *--step-check*)', 'Bash(*postflight *--run-checks*)'],
      ...['Bash(*postflight *--trust*)', 'Bash(*postflight install*)', 'Bash(*postflight -*install*)'],
      ...['Bash(*postflight trust*)', 'Bash(*postflight -*trust*)'],
      ...['Bash(*postflight workflow start*)', 'Bash(*postflight -*workflow*start*)'],
      ...['Bash(*postflight workflow -*start*)', 'Bash(*postflight workflow resume*)'],
      ...['Bash(*postflight -*workflow*resume*)', 'Bash(*postflight workflow -*resume*)'],
    ])
  })

  it('name npx only for a project that depends on the package', () => {
    const { permissions } = JSON.parse(addRules('', PATH, ALONE))
    expect(permissions).toEqual({ allow: ALONE.allow, ask: RULES.ask })
    expect(permissions.allow).toEqual(RULES.allow.filter((rule) => !rule.includes('npx')))
    expect(JSON.parse(removeRules(addRules('', PATH, RULES), PATH, missingRules('', PATH, RULES)))).toEqual({})
  })

  it('are completed if some are missing, and those of people stay in their place', () => {
    const [first, second] = RULES.allow
    const text = JSON.stringify({ permissions: { allow: ['Bash(ls)', second, 7], ask: RULES.ask, deny: ['x'] } })
    const { permissions } = JSON.parse(addRules(text, PATH, RULES))
    const missing = RULES.allow.filter((rule) => rule !== second)
    expect(missing[0]).toBe(first)
    expect(permissions).toEqual({ allow: ['Bash(ls)', second, 7, ...missing], ask: RULES.ask, deny: ['x'] })
    expect(missingRules(text, PATH, RULES)).toEqual(missing)
    expect(removeRules(addRules(text, PATH, RULES), PATH, missing)).toBe(text)
  })

  it.each([
    ['{}', [...RULES.allow, ...RULES.ask]],
    [`{"permissions": {"allow": ["${RULES.ask[0]}"]}}`, [...RULES.allow, ...RULES.ask]],
    [`{"permissions": {"ask": ["${RULES.ask[0]}"]}}`, [...RULES.allow, ...RULES.ask.slice(1)]],
    [addRules('', PATH, RULES), []],
  ])('are missing in %s', (text, missing) => expect(missingRules(text, PATH, RULES)).toEqual(missing))

  it('are removed only as far as a record names them, and a record removes no other rule', () => {
    const [first = '', second = ''] = RULES.allow
    const text = JSON.stringify({ permissions: { allow: [first, second, 'Bash(ls)'], deny: ['Bash(rm *)'] } })
    expect(removeRules(text, PATH, [])).toBe(text)
    expect(removeRules('{"permissions": "of another host"}', PATH, [])).toBe('{"permissions": "of another host"}')
    const left = { allow: [first, 'Bash(ls)'], deny: ['Bash(rm *)'] }
    expect(JSON.parse(removeRules(text, PATH, [second, 'Bash(ls)', 'Bash(rm *)']))).toEqual({ permissions: left })
  })

  it.each([
    ['', 0],
    ['{"hooks": {"allow": [1]}, "permissions": {"allow": ["Bash(postflight x)", ["Bash(postflight y)"], 7]}}', 1],
    ['{"permissions": {"allow": ["Bash(npx postflight x)", "Bash(ls)"], "ask": ["Bash(postflight y)"]}}', 2],
  ])('are counted in the settings %s, whoever added them', (text, count) => {
    // Another reader of the same text gets its own part.
    expect(findCommands(text, { file: PATH }, isOurHook)).toEqual([])
    expect(countRules(text, PATH)).toBe(count)
  })

  it.each([
    ...['create 259 x --step "git commit"', 'step 259 1', 'wait 259 --for answers', 'clear 259', 'inspect'],
    'status --json',
  ])('allow the protocol: postflight %s', (words) => {
    expect(answerTo(`postflight ${words}`)).toBe('allow')
    expect(answerTo(`npx --no-install postflight ${words}`)).toBe('allow')
  })

  it.each([
    ...['create 259 x --check "npm test"', 'create 259 x --check=ls', 'create 259 --step-check "a=ls"'],
    ...['clear 259 --run-checks', 'workflow start 259 --definition x', 'workflow resume 259 --trust'],
    ...['install', 'install --scope user'],
  ])('ask for what can start a command: postflight %s', (words) => {
    for (const runner of ['', 'npx ', 'npx --no-install ']) expect(answerTo(`${runner}postflight ${words}`)).toBe('ask')
  })

  it('ask for what can start a command wherever the command line takes an option', async () => {
    const options = [['--root', '.'], ['--root=.'], ['--quiet'], ['--json'], ['--']]
    const lines = [
      ...['install', 'install --reactive rules.json', 'create 259 --check ls', 'create 259 --step-check a=ls'],
      ...['clear 259 --run-checks', 'step 259 1 --run-checks'],
      ...['workflow start 259 --definition flow.yaml', 'workflow resume 259', 'workflow resume 259 --trust'],
    ]
    const missed: string[] = []
    let taken = 0
    for (const line of lines) {
      const words = line.split(' ')
      for (const at of words.keys()) {
        for (const option of [[], ...options]) {
          const spelled = [...words.slice(0, at), ...option, ...words.slice(at)]
          if (!(await isTaken(spelled, words))) continue
          taken += 1
          const command = ['postflight', ...spelled].join(' ')
          if (answerTo(command) !== 'ask') missed.push(command)
        }
      }
    }
    expect(missed).toEqual([])
    expect(taken).toBeGreaterThan(80)
  })

  it.each([
    ['create 259 --reason "install and start it"', 'allow'],
    ['create 259 --step "start the workflow" --root .', 'allow'],
    ['step 259 "npm install"', 'allow'],
    ['--version', undefined],
    ['--root . status', undefined],
  ])('do not ask for the protocol, whatever its words are: postflight %s', (words, answer) => {
    expect(answerTo(`postflight ${words}`)).toBe(answer)
  })

  it.each(['postflight uninstall', 'postflight bypass 259', 'postflight-other', 'postflight creates', 'rm -rf specs'])(
    'leave the rest to the host: %s',
    (command) => expect(answerTo(command)).toBeUndefined(),
  )

  it.each([
    '',
    '{\n  "permissions": {\n    "allow": [\n      "Bash(ls *)"\n    ],\n    "deny": []\n  }\n}\n',
    '{"permissions":{"ask":["Bash(git push *)"]},"hooks":{}}',
    '{"permissions": {"allow": []}}',
  ])('are added to %j once, and taking them out restores what it says', (text) => {
    const added = addRules(text, PATH, RULES)
    const { permissions } = JSON.parse(added)
    expect(permissions.allow).toEqual(expect.arrayContaining([...RULES.allow]))
    expect(permissions.ask).toEqual(expect.arrayContaining([...RULES.ask]))
    expect(addRules(added, PATH, RULES)).toBe(added)
    const before = JSON.parse(text === '' ? '{}' : text)
    const after = JSON.parse(removeRules(added, PATH, missingRules(text, PATH, RULES)))
    // An empty list had no effect.
    expect(after).toEqual(text.includes('"allow": []') ? {} : before)
  })

  it.each(['{"permissions": []}', '{"permissions": {"allow": {}}}', '{"permissions": {"ask": "x"}}'])(
    'are refused for settings of another shape: %s',
    (text) => {
      expect(thrownBy(() => addRules(text, PATH, RULES))).toMatchObject({ code: 'settings-wrong-shape' })
      expect(thrownBy(() => removeRules(text, PATH, RULES.ask))).toMatchObject({ code: 'settings-wrong-shape' })
    },
  )
})
