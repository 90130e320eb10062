import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { claudeEntries, guardedCommand } from '../../src/core/settings/hook-entries.ts'
import {
  addSkillHooks,
  findSkillCommands,
  isForkedSkill,
  removeSkillHooks,
  skillEntries,
} from '../../src/core/settings/skill-hooks.ts'
import { thrownBy } from './builders.ts'

const PATH = '/p/.claude/skills/research/SKILL.md'
const COMMAND = guardedCommand('"$CLAUDE_PROJECT_DIR/node_modules/postflight-guard/hooks/postflight-hook"')
const ENTRIES = claudeEntries(COMMAND)

const add = (text: string): string => addSkillHooks(text, ENTRIES, PATH)
const remove = (text: string): string => removeSkillHooks(text, PATH)
const frontOf = (text: string) => parse(/^\ufeff?---\r?\n([\s\S]*?)^---/m.exec(text)?.[1] ?? '')

const BODY = '\n# Research\n\n---\n\nhooks: none here\n'
const FOREIGN = `hooks:
  # what comes first
  PreToolUse:
    - matcher: "Bash"   # only there
      hooks:
        - type: command
          command: ./check.sh
`

/** Skills as people write them. */
const SKILLS: Record<string, string> = {
  'a plain one': `---\nname: research\ndescription: "does: things"   # said twice\n---\n${BODY}`,
  'one without an end of line after its front matter': '---\nname: research\n---',
  'an empty front matter': `---\n---\n${BODY}`,
  'CRLF line ends': '---\r\nname: research\r\nallowed-tools:\r\n  - Bash\r\n---\r\n\r\nText\r\n',
  'a byte-order mark': `\ufeff---\nname: research\n---\n${BODY}`,
  'a block scalar at its end': `---\nname: research\ndescription: |\n  Line one.\n\n  ---\n  Line three.\n---\n${BODY}`,
  'hooks of its own': `---\nname: research\n${FOREIGN}model: opus\n---\n${BODY}`,
  'hooks of its own at the end': `---\nname: research\n${FOREIGN}---\n${BODY}`,
  'a Stop hook of its own': `---\nhooks:\n    Stop:\n    - hooks:\n        - type: command\n          command: say done\n    # and the rest\nname: research\n---\n${BODY}`,
}

describe.each(Object.entries(SKILLS))('our hooks in a skill with this front matter: %s', (_what, text) => {
  it('are there once, and the rest is the same to the byte', () => {
    const added = add(text)

    const { hooks, ...rest } = frontOf(added)
    const { hooks: before, ...restBefore } = frontOf(text) ?? {}
    expect(rest).toEqual(restBefore)
    expect(hooks.Stop).toEqual([...(before?.Stop ?? []), ENTRIES[1]?.group])
    expect(hooks.PostToolUse).toEqual([ENTRIES[3]?.group, ENTRIES[4]?.group])
    expect(Object.keys(hooks)).not.toContain('SessionStart')
    expect(add(added)).toBe(added)
    expect(remove(added)).toBe(text)
    if (text.includes('\r\n')) expect(added.replaceAll('\r\n', '')).not.toContain('\n')
  })

  it('replace older ones', () => {
    const old = addSkillHooks(text, claudeEntries('"/old/hooks/postflight-hook"'), PATH)

    expect(findSkillCommands(old).map(({ event }) => event)).toEqual(['Stop', 'PostToolUse', 'PostToolUse'])
    expect(add(old)).toBe(add(text))
  })
})

describe('our hooks as lines of a skill', () => {
  it('are laid out as the skill lays out its own', () => {
    const [, stop] = claudeEntries('/x/postflight-hook')
    if (stop === undefined) throw new Error('no entry')
    const lines = ['- hooks:', '    - type: command', '      command: /x/postflight-hook', '      timeout: 10']
    const block = (indent: string): string => lines.map((line) => `${indent}${line}\n`).join('')
    const addStop = (text: string): string => addSkillHooks(text, [stop], PATH)
    expect(addStop('---\nname: x\n---\n')).toBe(`---\nname: x\nhooks:\n  Stop:\n${block('    ')}---\n`)
    expect(addStop('---\nhooks:\n   PreToolUse:\n     - hooks: []\nname: x\n---\n')).toBe(
      `---\nhooks:\n   PreToolUse:\n     - hooks: []\n   Stop:\n${block('     ')}name: x\n---\n`,
    )
    expect(addStop('---\nhooks:\n  Stop:\n  - hooks: []\n\n  Other: []\n---\n')).toBe(
      `---\nhooks:\n  Stop:\n  - hooks: []\n${block('  ')}\n  Other: []\n---\n`,
    )
  })

  it('are only those that Claude Code asks a skill about', () => {
    expect(skillEntries(ENTRIES).map(({ event }) => event)).toEqual(['Stop', 'PostToolUse', 'PostToolUse'])
  })

  it('are found with their events', () => {
    expect(findSkillCommands(add('---\nname: x\n---\n'))).toEqual([
      { event: 'Stop', command: COMMAND },
      { event: 'PostToolUse', command: COMMAND },
      { event: 'PostToolUse', command: `${COMMAND} Agent` },
    ])
    for (const hooks of ['x', '\n  Stop: x', '\n  - Stop', '\n  Stop:\n    - x']) {
      expect(findSkillCommands(`---\nhooks: ${hooks}\n---\n`)).toEqual([])
    }
  })
})

describe('a skill that runs as a sub-agent', () => {
  it.each([
    ['---\ncontext: fork\n---\n', true],
    ['---\ncontext: other\n---\n', false],
    ['---\n- context: fork\n---\n', false],
    ['---\n---\n', false],
    ['context: fork\n', false],
    ['---\ncontext: "fork\n---\n', false],
  ])('%j: %s', (text, isForked) => {
    expect(isForkedSkill(text)).toBe(isForked)
  })
})

describe('taking our hooks out of a skill', () => {
  it('keeps hooks of others in the same group', () => {
    const mixed = `---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: "/x/hooks/postflight-hook"\n        - type: command\n          command: say done\n---\n`

    expect(remove(mixed)).toBe(
      '---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: say done\n---\n',
    )
  })

  it.each([
    [
      'a group of ours between others, and a hook of ours among others',
      [
        ...['hooks:', '  Stop:', '    - hooks:', '        - type: command', '          command: one'],
        ...['-    - hooks:', '-        - command: postflight hook', '    - matcher: x', '      hooks:'],
        ...['-        - command: postflight hook', '        - command: two', 'name: x'],
      ],
    ],
    [
      'an event of ours between others, and keeps an empty list',
      [
        ...['hooks:', '  First: []', '-  Stop:', '-    - hooks:', '-        - command: postflight hook'],
        ...['  Last:', '    - hooks:', '        - command: two'],
      ],
    ],
    [
      'all hooks, if they are ours alone',
      [
        ...['name: x', '-hooks:', '-  Stop:', '-    - hooks:', '-        - command: postflight hook'],
        ...['-  PostToolUse:', '-    - hooks:', '-        - command: postflight hook', 'model: opus'],
      ],
    ],
    [
      'every group of ours, and keeps an event that is not a list',
      [
        ...['hooks:', '  Odd: x', '-  Stop:', '-    - hooks:', '-        - command: postflight hook'],
        ...['-    - hooks:', '-        - command: postflight-hook'],
      ],
    ],
  ])('removes %s', (_what, lines) => {
    // Lines that begin with a hyphen go.
    const skill = (some: readonly string[]): string =>
      `---\n${some.map((line) => `${line.replace(/^-/, '')}\n`).join('')}---\n`
    expect(remove(skill(lines))).toBe(skill(lines.filter((line) => !line.startsWith('-'))))
  })

  it('refuses a layout in which the rest would change', () => {
    const text = '---\nhooks: { Stop: [{ hooks: [{ command: postflight hook }] }], Other: [1] }\n---\n'
    expect(thrownBy(() => remove(text))).toMatchObject({ code: 'skill-layout', args: { path: PATH } })
  })

  it('changes nothing where there are none', () => {
    for (const text of Object.values(SKILLS)) expect(remove(text)).toBe(text)
    expect(findSkillCommands('no front matter')).toEqual([])
  })
})

describe('a skill is refused', () => {
  it.each([
    ['without front matter', '# Research\n', 'skill-front-matter'],
    ['with front matter that is not closed', '---\nname: x\n', 'skill-front-matter'],
    ['with front matter below something else', 'x\n---\nname: x\n---\n', 'skill-front-matter'],
    ['with front matter that is not YAML', '---\nname: "x\n---\n', 'skill-front-matter'],
    ['with something before the dashes', ' ---\nname: x\n---\n', 'skill-front-matter'],
    ['that runs as a sub-agent', '---\nname: x\ncontext: fork\n---\n', 'skill-forked'],
    ['with hooks on one line', '---\nhooks: { Stop: [] }\n---\n', 'skill-layout'],
    ['with hooks that are a list', '---\nhooks:\n  - Stop\n---\n', 'skill-layout'],
    ['with an event that is not a list', '---\nhooks:\n  Stop: x\n---\n', 'skill-layout'],
    ['with front matter on one line', '---\n{ name: x }\n---\n', 'skill-layout'],
  ])('%s', (_what, text, code) => {
    expect(thrownBy(() => add(text))).toMatchObject({ code, args: { path: PATH } })
  })
})

it('a skill that is refused is told the fault of its front matter, if it has one', () => {
  expect(thrownBy(() => add('# Research\n'))).toMatchObject({ args: { path: PATH, fault: '' } })
  expect(thrownBy(() => add('---\nname: "x\n---\n'))).toMatchObject({ args: { path: PATH, fault: 'MISSING_CHAR' } })
})
