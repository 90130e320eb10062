import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claudeEntries } from '../../../src/hosts/hook-entries.ts'
import { PostflightError } from '../../../src/kernel/errors.ts'
import { shellWord } from '../../../src/kernel/text.ts'
import type { CommandContext } from '../../../src/project/command-context.ts'
import { addEntries, findCommands, isInstalled, isOurHook, removeEntries } from '../../../src/setup/claude-hooks.ts'
import { hookCommand } from '../../../src/setup/install/our-hooks.ts'
import { anyUnits, holds, hostileText, maybe } from '../arbitraries.ts'

const COMMAND = '"/opt/postflight-guard/hooks/postflight-hook"'
const ENTRIES = claudeEntries(COMMAND)
const FILE = { file: 's' }
const EVENTS = ENTRIES.map(({ event }) => event)

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Rebuilds a value through its text, so that "__proto__" is an ordinary key. */
const fromPairs = (pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  JSON.parse(`{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`)

const anyKey = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom('model', 'permissions', '__proto__', 'constructor', 'Hooks', '{', '"'),
)
const anyValue = fc.jsonValue({ depthSize: 'small' })

const anyObject = (value: fc.Arbitrary<unknown>, key = anyKey): fc.Arbitrary<Record<string, unknown>> =>
  fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 5 }).map(fromPairs)

/** A folder with any name: blanks, quotes, `$`, backslashes, other scripts. */
const nameOfFolder = fc.oneof(
  hostileText,
  fc.constantFrom('a b', "it's", '$HOME', 'back\\slash', '`id`', '"', 'ü', '$(id)'),
)
const anyFolder = fc
  .array(nameOfFolder, { maxLength: 4 })
  .map((names) => ['/nowhere', ...names, 'postflight-guard'].join('/').replaceAll('\0', ''))
/** A command of ours as `install` writes it on any platform, or as people write it by hand. */
const platforms = fc.constantFrom<NodeJS.Platform>('linux', 'win32')
const anyOurs = fc
  .tuple(anyFolder, platforms, fc.constantFrom('', ' SessionStart'), fc.boolean())
  .map(([packageFolder, platform, event, byHand]) => {
    if (byHand) return shellWord(`${packageFolder}/hooks/postflight-hook`) + event
    const context = { packageFolder, platform } as CommandContext
    return hookCommand(context, 'user', '/project').command + event
  })

const BEHIND = [' | tee -a log', ' && x', '; x', ' > log', ' &', '\nx', ' x', ' --root /x', '"', "'"]
const foreignCommand = fc.record({
  type: fc.constant('command'),
  command: fc.oneof(
    hostileText.map((text) => `x ${text}`),
    fc.constantFrom('echo postflight', 'other-hook "$1"'),
    // Commands that only name ours, or do more.
    fc
      .tuple(fc.constantFrom('echo ', 'timeout 3 ', 'A=b ', '! ', '# '), anyOurs)
      .map(([before, command]) => before + command),
    fc.tuple(anyOurs, fc.constantFrom(...BEHIND)).map(([command, behind]) => command + behind),
  ),
})
const wellFormed = fc.record(
  { matcher: fc.constantFrom('', 'Bash', '*'), hooks: fc.array(foreignCommand, { maxLength: 3 }) },
  { requiredKeys: ['hooks'] },
)
const foreignGroup = fc.oneof({ weight: 3, arbitrary: wellFormed }, anyValue)
/** A hook of ours. Its timeout tells it from foreign ones. */
const oldCommand = fc
  .oneof(anyOurs, fc.constantFrom('/old/postflight-hook', '"/my old/postflight-hook" SessionStart', 'postflight hook'))
  .map((command) => ({ type: 'command', command, timeout: 61 }))
/** A group with foreign hooks and perhaps older ones of ours. */
const mixedGroup = fc
  .array(fc.oneof(foreignCommand, oldCommand), { minLength: 1, maxLength: 4 })
  .map((hooks) => ({ hooks }))

const anyEvent = fc.oneof(fc.constantFrom(...EVENTS), anyKey)
const keyBefore = anyKey.filter((key) => key !== 'hooks')
const keyAfter = anyKey.map((key) => `z${key}`)
const settingsWith = (group: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      anyObject(anyValue, keyBefore),
      maybe(anyObject(fc.array(group, { minLength: 1, maxLength: 3 }), anyEvent)),
      anyObject(anyValue, keyAfter),
    )
    .map(([before, hooks, after]) =>
      fromPairs([
        ...Object.entries(before),
        // An empty `hooks` would be removed with our entries: see the unit tests.
        ...(hooks === undefined || Object.keys(hooks).length === 0 ? [] : [['hooks', hooks] as const]),
        ...Object.entries(after),
      ]),
    )

/** Any layout that JSON allows, with blanks at every possible place. */
function layOutOddly(value: Json, blanks: readonly string[]): string {
  let at = 0
  const gap = (): string => blanks[at++ % blanks.length] ?? ''
  const write = (part: Json): string => {
    if (Array.isArray(part)) return `[${gap()}${part.map((item) => write(item) + gap()).join(`,${gap()}`)}]`
    if (typeof part === 'object' && part !== null) {
      const members = Object.entries(part).map(
        ([key, item]) => `${JSON.stringify(key)}${gap()}:${gap()}${write(item)}${gap()}`,
      )
      return `{${gap()}${members.join(`,${gap()}`)}}`
    }
    return JSON.stringify(part)
  }
  return gap() + write(value) + gap()
}

const layout: fc.Arbitrary<(value: Record<string, unknown>) => string> = fc.oneof(
  fc
    .record({
      indent: fc.constantFrom('', ' ', '  ', '    ', '\t'),
      eol: fc.constantFrom('\n', '\r\n'),
      end: fc.constantFrom('', '\n', '\n\n'),
      mark: fc.constantFrom('', '', '\ufeff'),
    })
    .map(
      ({ indent, eol, end, mark }) =>
        (value: Record<string, unknown>) =>
          mark + (JSON.stringify(value, null, indent) + end).replaceAll('\n', eol),
    ),
  fc
    .array(fc.constantFrom('', '', ' ', '\n', '\t', '\r\n', '\n    ', '  \n\n'), { minLength: 1, maxLength: 17 })
    .map((blanks) => (value: Record<string, unknown>) => layOutOddly(value as Json, blanks)),
)

const textOf = (group: fc.Arbitrary<unknown>): fc.Arbitrary<{ value: Record<string, unknown>; text: string }> =>
  fc.tuple(settingsWith(group), layout).map(([value, write]) => ({ value, text: write(value) }))

const read = (text: string): Record<string, unknown> => JSON.parse(text.replace(/^\ufeff/, ''))
/** Deep equality that also compares the order of keys, with "__proto__" as an ordinary key. */
const same = (one: unknown, other: unknown): void => expect(JSON.stringify(one)).toBe(JSON.stringify(other))
const hooksOf = (value: Record<string, unknown>): Record<string, unknown[]> =>
  (Object.hasOwn(value, 'hooks') ? value.hooks : {}) as Record<string, unknown[]>

const add = (text: string): string => addEntries(text, ENTRIES, FILE, isOurHook)
const remove = (text: string): string => removeEntries(text, FILE, isOurHook)
const hasAll = (text: string): boolean => isInstalled(text, ENTRIES, FILE, isOurHook)
const oursIn = (text: string) => findCommands(text, FILE, isOurHook)
const anyGroup = fc.oneof(foreignGroup, mixedGroup)

describe('adding to any settings', () => {
  it('adds each entry once, and keeps every other value and its place', () => {
    holds()(textOf(foreignGroup), ({ value, text }) => {
      const after = read(add(text))
      const { hooks: had, ...others } = value
      const { hooks, ...kept } = after
      same(kept, others)
      const present = hooksOf(value)
      for (const event of new Set([...Object.keys(present), ...EVENTS])) {
        const ours = ENTRIES.filter((entry) => entry.event === event).map(({ group }) => group)
        const expected = [...(Object.hasOwn(present, event) ? (present[event] ?? []) : []), ...ours]
        same(Object.getOwnPropertyDescriptor(hooks, event)?.value, expected)
      }
    })
  })

  it('is idempotent, to the byte', () => {
    holds()(textOf(anyGroup), ({ text }) => {
      const once = add(text)
      expect(add(once)).toBe(once)
      expect(hasAll(once)).toBe(true)
      expect(oursIn(once)).toHaveLength(ENTRIES.length)
    })
  })

  it('only inserts: without our entries the text is the same', () => {
    holds()(textOf(foreignGroup), ({ text }) => {
      fc.pre(Object.keys(read(text)).length > 0)
      const after = add(text)
      let at = 0
      for (const character of after) if (text.startsWith(character, at)) at += character.length
      expect(at).toBe(text.length)
      expect(after.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'))
      // A file of one line stays one line; a file with CRLF gets no bare LF.
      if (!text.trim().includes('\n') && text.trim() !== '{}') expect(after.trim()).not.toContain('\n')
      if (!/(?:^|[^\r])\n/.test(text) && text.includes('\n')) expect(after).not.toMatch(/(?:^|[^\r])\n/)
    })
  })

  it('replaces ours of an old path, and keeps foreign hooks of the same group', () => {
    holds()(textOf(anyGroup), ({ value, text }) => {
      const foreignOf = (groups: Record<string, unknown[]>): string[] =>
        Object.entries(groups).flatMap(([event, list]) =>
          list.flatMap((group) => {
            const hooks = (group as { hooks?: unknown } | null)?.hooks
            const commands = Array.isArray(hooks) ? hooks : []
            return commands
              .filter((hook) => hook?.timeout !== 61 && !String(hook?.command).startsWith(COMMAND))
              .map((hook) => `${event} ${JSON.stringify(hook)}`)
          }),
        )
      const after = add(text)
      expect(foreignOf(hooksOf(read(after)))).toEqual(foreignOf(hooksOf(value)))
      expect(oursIn(after).every(({ command }) => command.startsWith(COMMAND))).toBe(true)
    })
  })
})

describe('removing from any settings', () => {
  it('restores the settings from before adding', () => {
    holds()(textOf(foreignGroup), ({ value, text }) => {
      same(read(remove(add(text))), value)
    })
  })

  it('removes all of ours, and is idempotent', () => {
    holds()(textOf(anyGroup), ({ text }) => {
      const removed = remove(text)
      expect(oursIn(removed)).toEqual([])
      expect(remove(removed)).toBe(removed)
    })
  })

  it('changes nothing if there is nothing of ours', () => {
    holds()(textOf(foreignGroup), ({ text }) => {
      expect(remove(text)).toBe(text)
    })
  })
})

describe('any text at all', () => {
  const attempt = (text: string): string | PostflightError => {
    try {
      return add(text)
    } catch (error) {
      if (!(error instanceof PostflightError)) throw error
      return error
    }
  }

  const PUT = ['', ',', '"', '}', ']', '//', '\u0001', '0', '\\', 'x', ' ']

  it('is refused exactly if it is not JSON, with a place inside it', () => {
    const damaged = fc
      .tuple(textOf(foreignGroup), fc.nat(), fc.nat(3), fc.constantFrom(...PUT))
      .map(([{ text }, at, length, put]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + put + text.slice(place + length)
      })
    holds(500)(fc.oneof(damaged, anyUnits, hostileText, fc.json()), (text) => {
      const body = text.replace(/^\ufeff/, '')
      const isJson = body.trim() === '' || parses(body)
      const result = attempt(text)
      if (result instanceof PostflightError && result.code === 'settings-not-json') {
        expect(isJson).toBe(false)
        const { line, column } = result.args as { line: number; column: number }
        expect(line).toBeLessThanOrEqual(body.split('\n').length)
        expect(column).toBeLessThanOrEqual((body.split('\n')[line - 1] ?? '').length + 1)
      } else {
        expect(isJson).toBe(true)
        if (result instanceof PostflightError) expect(result.code).toBe('settings-wrong-shape')
        else expect(hasAll(result)).toBe(true)
      }
    })
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
