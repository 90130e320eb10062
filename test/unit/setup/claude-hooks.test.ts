import { describe, expect, it } from 'vitest'
import {
  claudeEntries,
  fileOfCommand,
  guardedCommand,
  guardedNodeCommand,
  isGuardedCommand,
  isOurCommand,
  withoutEventWord,
} from '../../../src/hosts/hook-entries.ts'
import { isJsonObject } from '../../../src/kernel/values.ts'
import { addEntries, findCommands, isInstalled, isOurHook, removeEntries } from '../../../src/setup/claude-hooks.ts'
import { requireRules } from '../../../src/setup/permission-rules.ts'
import { thrownBy } from '../builders.ts'

const COMMAND = '"/opt/postflight-guard/hooks/postflight-hook"'
const ENTRIES = claudeEntries(COMMAND)
const FILE = { file: '/home/me/.claude/settings.json' }
const EVENTS = ['SubagentStop', 'Stop', 'SessionStart', 'PostToolUse', 'PostToolUseFailure', 'PreToolUse']
const GROUPS = Object.fromEntries(
  EVENTS.map((event) => [event, ENTRIES.filter((entry) => entry.event === event).map(({ group }) => group)]),
)

const FOREIGN = { type: 'command', command: 'echo foreign', timeout: 5 }
const OURS = { type: 'command', command: COMMAND, timeout: 10 }
const OURS_AT_STOP = { ...OURS, command: `${COMMAND} Stop` }
const OURS_OF_OLD = { type: 'command', command: '"/old/place/hooks/postflight-hook"', timeout: 60 }

const add = (text: string): string => addEntries(text, ENTRIES, FILE, isOurHook)
const remove = (text: string): string => removeEntries(text, FILE, isOurHook)
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const hooksOf = (text: string): Record<string, unknown[]> => JSON.parse(text.replace(/^\ufeff/, '')).hooks

describe('the entries for Claude Code', () => {
  it('are one for each event and one more for the end of a sub-agent, with timeouts (s) longer than the 5 s of an answer', () => {
    const hook = (word?: string) => ({ ...OURS, command: word === undefined ? COMMAND : `${COMMAND} ${word}` })
    const endingTools = 'StructuredOutput|SubagentHandback|task_complete'
    const shell = { matcher: 'Bash', hooks: [{ ...hook(), if: 'Bash(*postflight*)' }] }
    expect(claudeEntries(COMMAND)).toEqual([
      { event: 'SubagentStop', group: { hooks: [hook()] } },
      { event: 'Stop', group: { hooks: [hook('Stop')] } },
      { event: 'SessionStart', group: { hooks: [hook('SessionStart')] } },
      { event: 'PostToolUse', group: shell },
      { event: 'PostToolUse', group: { matcher: 'Agent|Skill', hooks: [hook('Agent')] } },
      { event: 'PostToolUseFailure', group: shell },
      { event: 'PreToolUse', group: { matcher: endingTools, hooks: [hook('Stop')] } },
    ])
  })
})

describe('a command that does nothing if its file is missing', () => {
  it('is a line of the shell', () => {
    expect(guardedCommand('"/a b/hooks/hook"')).toBe('[ ! -f "/a b/hooks/hook" ] || exec "/a b/hooks/hook"')
  })

  it('is a line for Node on Windows, with the word that marks it as ours', () => {
    expect(guardedNodeCommand('"C:/a b/dist/hook.js"')).toBe(
      `node -e "require('fs').existsSync(process.argv[1])&&require(process.argv[1])" "C:/a b/dist/hook.js" postflight-hook`,
    )
  })
})

describe('a command of ours', () => {
  it.each([
    ...[COMMAND, guardedCommand(COMMAND), `${guardedCommand(COMMAND)} SessionStart`],
    ...[`${COMMAND} SessionStart`, `${COMMAND} Agent`],
    guardedCommand('"/a \\"b\\" \\$c/ ] || exec x/hooks/postflight-hook"'),
    guardedNodeCommand('"C:/any folder/dist/hook.js"'),
    `${guardedNodeCommand('"C:/any folder/dist/hook.js"')} Agent`,
    ...['postflight-hook', '/usr/bin/postflight-hook', ' postflight-hook\n', "'/with space/postflight-hook'"],
    ...["'/it'\\''s here/postflight-hook' SessionStart", '/it\\ is/hooks/postflight-hook'],
    '"/a \\"b\\" \\$c \\`d\\` \\\\e/ü/hooks/postflight-hook" SessionStart',
    '"$CLAUDE_PROJECT_DIR"/node_modules/postflight-guard/hooks/postflight-hook',
    '"$CLAUDE_PROJECT_DIR/node_modules/postflight-guard/hooks/postflight-hook"',
    'node "C:/Users/me/node_modules/postflight-guard/dist/hook.js"',
    'node "C:\\Users\\me\\postflight-guard\\dist\\hook.js"',
    'node C:\\Users\\me\\postflight-guard\\dist\\hook.js',
    ...[' SessionStart', ' Agent'].map((event) => `node "C:/any folder/dist/hook.js" postflight-hook${event}`),
    '"/usr/bin/node" "/x/postflight-guard/dist/hook.js"',
    '"C:\\Program Files\\nodejs\\node.exe" "C:\\x\\postflight-guard\\dist\\hook.js"',
    'node /x/postflight-guard/dist/hook.js SessionStart',
    ...['postflight hook', 'postflight  hook', '/usr/local/bin/postflight hook', 'postflight hook SessionStart'],
    ...['node "/x/bin/postflight.js" hook', 'C:\\npm\\postflight.cmd hook', 'npx -y postflight hook'],
  ])('can be %s', (command) => expect(isOurCommand(command)).toBe(true))

  it.each([
    ...['/y/hooks/postflight-hook', '/x/hooks/postflight-hook; say done', '/x/hooks/postflight-hook SessionStart x']
      .concat('/x/hooks/postflight-hooks')
      .map((run) => `[ ! -f /x/hooks/postflight-hook ] || exec ${run}`),
    ...['[ ! -f x postflight-hook ] || exec x postflight-hook', '[ ! -f say ] || exec say'],
    ...['', ' | tee -a log'].map((behind) => `timeout 3 /x/hooks/postflight-hook${behind}`),
    ...[' | tee -a log', '; say done', ' && say done', ' 2> log', ' &', '\nsay done', ' --root /x', '/log.sh']
      .concat(' SessionStart SessionStart', ' SessionStart Agent', ' SubagentStop')
      .map((behind) => `/x/hooks/postflight-hook${behind}`),
    ...['# ', '#', 'HOOK=', '"', 'node --require /x/log.js '].map((before) => `${before}/x/hooks/postflight-hook`),
    ...["echo 'start of postflight hook' >> ~/log", 'grep -q postflight-hook /etc/x && notify-send done'],
    ...['"$(find / -name postflight)/postflight-hook"', 'echo done', 'echo postflight-hook'],
    ...["~/bin/log.sh 'postflight hook'", 'postflight-hook-of-mine', '/bin/my-postflight-hook', 'npx --yes', 'npx x'],
    ...['node -e "evil()" "/x/dist/hook.js" postflight-hook', 'node /x/log.js postflight-hook'],
    ...['node /x/log.js postflight hook', 'node /x/other-tool/dist/hook.js SessionStart'],
    `${'/x'.repeat(5_000)}/hooks/postflight-hook`,
    ...['node /x/my-postflight/dist/hook.js', 'node postflight-guard/dist/hook.js.bak'],
    ...['node /x/other-tool/dist/hook.js', 'node /x/postflight-guard/dist/cli.js'],
    'node "/home/me/postflight-lab/node_modules/other-tool/dist/hook.js"',
    ...['postflight hook --root .', 'postflight hook | cat', 'postflight "hook me"', 'postflight hooks'],
    ...['postflight inspect', 'my-postflight hook', '', undefined, null, 5, ['postflight-hook']],
  ])('cannot be %j', (command) => expect(isOurCommand(command)).toBe(false))

  it.each<[string, string, string | undefined, boolean]>([
    ['/x/postflight-hook', ' Stop', '/x/postflight-hook', false],
    ['/x/postflight-hook Other', '', '/x/postflight-hook', false],
    ['nodeStop', '', undefined, false],
    ['node -e run', ' Agent', undefined, false],
    [` ${guardedCommand('"/a b/postflight-hook"')}`, ' Agent', '/a b/postflight-hook', true],
    [guardedNodeCommand('C:/dist/hook.js'), ' SessionStart', 'C:/dist/hook.js', true],
    [guardedNodeCommand('/x').replace('-e', '-p'), '', undefined, true],
    ['"/unfinished', '', undefined, false],
    ['node "/x/postflight-guard/dist/hook.js"', ' Agent', '/x/postflight-guard/dist/hook.js', false],
    [' "C:\\\\x\\\\dist\\\\hook.js" ', '', 'C:\\x\\dist\\hook.js', false],
    ['postflight hook', '', undefined, false],
    ['node', '', undefined, false],
    ['', '', undefined, false],
  ])('%j (with %j) starts %s', (plain, event, file, isGuarded) => {
    expect(withoutEventWord(plain + event)).toBe(plain)
    expect(fileOfCommand(plain + event)).toBe(file)
    expect(isGuardedCommand(plain + event)).toBe(isGuarded)
  })
})

describe('adding our entries', () => {
  it.each([
    ['an empty file', '', '{\n  "hooks": {\n    "SubagentStop": ['],
    ['an empty object on two lines', '{\n}\n', '{\n  "hooks": {\n    "SubagentStop": ['],
    ['two spaces', '{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "hooks": {\n    "SubagentStop": [\n      {\n'],
    ['tabs', '{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"SubagentStop": [\n\t\t\t{\n\t\t\t\t"hooks": ['],
    ['CRLF', '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "SubagentStop": [\r\n'],
    ['blanks after the brace', '{ \t\n    "a": 1\n}\n', '{ \t\n    "a": 1,\n    "hooks": {\n'],
    ['a layout without a clear indent', '{"a": {\n      "b": 1 } }', '{"a": {\n      "b": 1 },\n  "hooks": {\n'],
    ['one line', '{"a":1}', '{"a":1,"hooks": {"SubagentStop":'],
  ])('keeps the layout of the file: %s', (_, text, beginning) => {
    const added = add(text)
    expect(added.slice(0, beginning.length)).toBe(beginning)
    expect(added.includes('\r')).toBe(text.includes('\r'))
    if (text.includes('\r')) expect(added).not.toMatch(/[^\r]\n/)
    expect(/\s*$/.exec(added)?.[0]).toBe(text.trim() === '' ? '\n' : /\s*$/.exec(text)?.[0])
    expect(Object.keys(hooksOf(added))).toEqual(EVENTS)
  })

  it('makes a new file that looks as if a person wrote it', () => expect(add('')).toBe(json({ hooks: GROUPS })))

  it('leaves invalid groups unchanged', () => {
    const odd = [null, 5, 'x', [], {}, { hooks: null }, { hooks: 'x' }, { hooks: [null, 5, { command: 5 }] }]
    expect(hooksOf(add(json({ hooks: { Stop: odd } }))).Stop).toEqual([...odd, { hooks: [OURS_AT_STOP] }])
  })

  it('keeps the place of ours: entries of others after them stay after them', () => {
    const text = add('').replace(/( *)\}\n( *)\],\n( *)"Stop"/, '$1},\n$1{ "hooks": [] }\n$2],\n$3"Stop"')
    expect(hooksOf(text).SubagentStop).toEqual([{ hooks: [OURS] }, { hooks: [] }])
    expect(add(text)).toBe(text)
  })

  it.each([
    ['missing', { Stop: undefined }],
    ['double', { Stop: [{ hooks: [OURS] }, { hooks: [OURS] }] }],
    ['of another timeout', { Stop: [{ hooks: [{ ...OURS, timeout: 1 }] }] }],
    ['without a matcher', { PreToolUse: [{ hooks: [OURS] }] }],
  ])('repairs entries that are %s', (_, changed) => {
    const text = json({ hooks: { ...GROUPS, ...changed } })
    expect(isInstalled(text, ENTRIES, FILE, isOurHook)).toBe(false)
    expect(JSON.parse(add(text))).toEqual({ hooks: GROUPS })
    expect(isInstalled(add(text), ENTRIES, FILE, isOurHook)).toBe(true)
  })

  it('leaves entries whose keys a formatter has put into another order', () => {
    const reversed = (_key: string, value: unknown) =>
      isJsonObject(value) ? Object.fromEntries(Object.entries(value).reverse()) : value
    const text = JSON.stringify({ hooks: GROUPS }, reversed)
    expect(add(text)).toBe(text)
  })
})

describe('removing our entries', () => {
  it.each(['', ' \n', '{}', '{ "hooks" : { "Stop" : [ ] } }'])('leaves a file without them unchanged: %j', (text) => {
    expect(remove(text)).toBe(text)
  })

  it.each<[string, object, object]>([
    ['the list of an event that held nothing else', { Stop: [{ hooks: [OURS] }], Other: [1] }, { Other: [1] }],
    ['our group, if others stay', { Stop: [1, { hooks: [OURS] }, 2] }, { Stop: [1, 2] }],
    ['ours among others', { Stop: [{ hooks: [5, OURS, FOREIGN, OURS_OF_OLD] }] }, { Stop: [{ hooks: [5, FOREIGN] }] }],
    ['all, and the list of events', { A: [{ hooks: [OURS] }], B: [{ hooks: [OURS] }, { hooks: [OURS] }] }, {}],
    ['no list that was empty before', { A: [], Stop: [{ hooks: [OURS] }], B: [] }, { A: [], B: [] }],
    ['an event of a prototype’s name', { constructor: [{ hooks: [OURS] }], Stop: [1] }, { Stop: [1] }],
  ])('removes %s', (_, before, left) => {
    const after = { a: 1, ...(Object.keys(left).length > 0 && { hooks: left }) }
    expect(JSON.parse(remove(json({ a: 1, hooks: before })))).toEqual(after)
    expect(JSON.parse(remove(JSON.stringify({ a: 1, hooks: before })))).toEqual(after)
  })

  it('removes those of one event alone', () => {
    const text = json({ hooks: { Stop: [{ hooks: [OURS] }], SubagentStop: [{ hooks: [OURS] }] } })
    expect(hooksOf(removeEntries(text, FILE, isOurHook, 'SubagentStop'))).toEqual({ Stop: [{ hooks: [OURS] }] })
  })
})

describe('finding', () => {
  it('returns our hooks with their places, and no others: the event, the group in its list, the hook in its group', () => {
    for (const empty of ['', '{"a":1}']) expect(findCommands(empty, FILE, isOurHook)).toEqual([])
    const stops = [{ hooks: [FOREIGN] }, { hooks: [FOREIGN, OURS, OURS_OF_OLD] }]
    expect(findCommands(json({ hooks: { Stop: stops, Other: [null, { hooks: [OURS] }] } }), FILE, isOurHook)).toEqual([
      { event: 'Stop', group: 1, hook: 1, command: OURS.command },
      { event: 'Stop', group: 1, hook: 2, command: OURS_OF_OLD.command },
      { event: 'Other', group: 1, hook: 0, command: OURS.command },
    ])
  })
})

it('has events at the top of a hooks.json of a host that reads such a file, and of no other', () => {
  const host = { accepts: [], hooksFiles: ['hooks.json'] }
  const eventsIn = (file: string, of = {}) =>
    Object.keys(JSON.parse(addEntries('{"a": []}', ENTRIES, { file, host: { ...host, ...of } }, isOurHook)))
  expect(eventsIn('/p/hooks.json')).toEqual(['a', ...EVENTS])
  expect(eventsIn('/p/settings.json')).toEqual(['a', 'hooks'])
  expect(eventsIn('/p/hooks.json', { hooksFiles: undefined })).toEqual(['a', 'hooks'])
  const marked = thrownBy(() => addEntries('\ufeff{}', ENTRIES, { file: '/p/settings.json', host }, isOurHook))
  expect(marked).toMatchObject({ args: { line: 1, column: 1, fault: 'ByteOrderMark' } })
  const hooks = { file: '/p/hooks.json', host }
  const text = addEntries('{ "Stop": [] }', ENTRIES, hooks, isOurHook)
  expect(findCommands(text, hooks, isOurHook)).toHaveLength(ENTRIES.length)
  expect(removeEntries(text, hooks, isOurHook)).toBe('{}')
  expect(thrownBy(() => findCommands('{ "Stop": 1 }', hooks, isOurHook))).toMatchObject({ args: { property: 'Stop' } })
})

it('settings of which Claude Code would ignore all are refused', () => {
  const fault = thrownBy(() => requireRules('{"disableAllHooks":0}', 'a.json'))
  const args = { path: 'a.json', property: 'disableAllHooks', expected: 'boolean' }
  expect(fault).toMatchObject({ code: 'settings-wrong-shape', args })
  requireRules('{"disableAllHooks":false,"env":{"A":"b"},"enabledPlugins":{}}', 'a.json')
})

describe('a file that is not JSON is refused with line and column', () => {
  it.each([
    ['{\n  "a": 1,\n}', 3, 1, 'PropertyNameExpected'],
    ['{\n  // why\n  "a": 1\n}', 2, 3, 'InvalidCommentToken'],
    ['{\r\n  "a": nul\r\n}', 2, 8, 'InvalidSymbol'],
    ['{}}', 1, 3, 'EndOfFileExpected'],
    ['\ufeff{,}', 1, 2, 'ValueExpected'],
  ])('%j at %i:%i: %s', (text, line, column, fault) => {
    for (const call of [add, remove]) {
      const args = { path: FILE.file, line, column, fault }
      expect(thrownBy(() => call(text))).toMatchObject({ code: 'settings-not-json', args })
    }
    expect(thrownBy(() => findCommands(text, FILE, isOurHook))).toMatchObject({ code: 'settings-not-json' })
    expect(thrownBy(() => isInstalled(text, ENTRIES, FILE, isOurHook))).toMatchObject({ code: 'settings-not-json' })
  })
})

describe('a file of another shape is refused', () => {
  it.each([
    ['[]', undefined, 'object'],
    ['null', undefined, 'object'],
    ['{"hooks": []}', 'hooks', 'object'],
    ['{"hooks": {"Stop": {}}}', 'hooks.Stop', 'list'],
  ])('%s: the property %s must be of the kind %s', (text, property, expected) => {
    for (const call of [add, remove]) {
      const args = { path: FILE.file, property, expected }
      expect(thrownBy(() => call(text))).toMatchObject({ code: 'settings-wrong-shape', args })
    }
  })

  it('nested more than 500 levels deep, and no file above that', () => {
    const nested = (levels: number): string => `{"a": ${'['.repeat(levels - 1)}"[{"${']'.repeat(levels - 1)}}`
    expect(remove(nested(500))).toBe(nested(500))
    const args = { path: FILE.file, limit: 500 }
    expect(thrownBy(() => add(nested(501)))).toMatchObject({ code: 'settings-too-deep', args })
    const flat = json({ list: Array(600).fill([{}]) })
    expect(remove(flat)).toBe(flat)
  })

  // Of two keys of one name, a host reads the last and an edit finds the first.
  it.each([
    ['{"hooks": {"Stop": [1]}, "a": 1, "\\u0068ooks": {}}', 'hooks'],
    ['{"hooks": {"Stop": [1, 2], "Stop": []}}', 'Stop'],
    ['{"hooks": {"__proto__": [1], "\\u005f_proto__": [2]}}', '__proto__'],
    ['{"hooks": {"Stop": [{"hooks": [{"command": "a", "command": "b"}]}]}}', 'command'],
  ])('two equal keys in %s', (text, property) => {
    for (const call of [add, remove]) {
      const args = { property, expected: 'unique' }
      expect(thrownBy(() => call(text))).toMatchObject({ code: 'settings-wrong-shape', args })
    }
  })

  it('equal keys elsewhere in the file are accepted', () => {
    const text = '{"a": {"hooks": 1, "hooks": 2}, "b": 1, "b": 2, "c": "{\\"hooks\\": 1, \\"hooks\\": 2}"}'
    expect(add(text).startsWith(text.slice(0, -1))).toBe(true)
    expect(hooksOf(add(text)).Stop).toEqual([{ hooks: [OURS_AT_STOP] }])
  })
})

describe('keys with the names of inherited properties', () => {
  it.each([
    '{"__proto__":{"hooks":5}}',
    '{"__proto__":{"hooks":{"Stop":[1]}}}',
    '{"hooks":{"__proto__":[1]}}',
    '{"hooks":{"__proto__":{"Stop":[{"hooks":[]}]}}}',
    `{"hooks":{"Stop":[{"__proto__":{"hooks":[${JSON.stringify(OURS)}]}}]}}`,
  ])('stay, and do not change our entries: %s', (text) => {
    expect(remove(text)).toBe(text)
    const added = add(text)
    expect(add(added)).toBe(added)
    expect(JSON.stringify(JSON.parse(remove(added)))).toBe(text)
  })
})
