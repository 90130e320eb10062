import { describe, expect, it } from 'vitest'
import { addIgnored, IGNORED, removeIgnored } from '../../../src/setup/ignored-files.ts'

const BLOCK = ['# postflight-guard', ...IGNORED].join('\n')

describe('our lines in .gitignore', () => {
  it.each(['', 'node_modules/\n', 'node_modules/', 'a\r\nb\r\n', 'a\r\nb', 'a\n\n', '\n', '\n\n', '# a\n!b'])(
    'are added to %j once, and taking them out restores it',
    (text) => {
      const added = addIgnored(text)
      expect(added.startsWith(text)).toBe(true)
      expect(added.replaceAll('\r', '')).toContain(BLOCK)
      expect(addIgnored(added)).toBe(added)
      expect(removeIgnored(added)).toBe(text)
      expect(added.endsWith('\n')).toBe(text === '' || text.endsWith('\n'))
      if (text.includes('\r')) expect(added.replaceAll('\r\n', '')).not.toContain('\n')
    },
  )

  it('are not added if people have them already, and those of people stay', () => {
    const text = `x\n${IGNORED.join('\n')}\ny\n`
    expect(addIgnored(text)).toBe(text)
    expect(removeIgnored(text)).toBe(text)
  })

  it('are completed if some are missing', () => {
    const text = `${IGNORED[1]}\n`
    expect(addIgnored(text)).toBe(`${text}\n# postflight-guard\n${IGNORED[0]}\n${IGNORED.slice(2).join('\n')}\n`)
    expect(removeIgnored(addIgnored(text))).toBe(text)
  })

  it.each([
    ['', `${BLOCK}\n`],
    ['a\n', `a\n\n${BLOCK}\n`],
    ['a', `a\n\n${BLOCK}`],
    ['a\r\n', `a\r\n\r\n${BLOCK.replaceAll('\n', '\r\n')}\r\n`],
    [`  ${IGNORED[0]}  \na\n`, `  ${IGNORED[0]}  \na\n\n# postflight-guard\n${IGNORED.slice(1).join('\n')}\n`],
  ])('follow an empty line at the end of %j', (text, added) => expect(addIgnored(text)).toBe(added))

  it('keep markers, the journal, the backups of settings and the record of a person’s own rules out of git', () => {
    expect(IGNORED).toEqual([
      ...['specs/**/.postflight-*', 'specs/.postflight/', '*.postflight-backup*'],
      '.claude/settings.local.json.postflight-rules',
    ])
  })

  it.each([
    [`a\n${BLOCK}\nb\n`, 'a\nb\n'],
    [`a\n \t\n  ${BLOCK}\nb`, 'a\nb'],
    [`${BLOCK}\n\nb\n`, '\nb\n'],
    [`\n${BLOCK}`, ''],
    [`a\n# postflight-guard\nb\n${IGNORED[0]}\n`, `a\nb\n${IGNORED[0]}\n`],
    ['# postflight-guard\n'.repeat(20_000), ''],
    [`a\n\n# postflight-guard\n${IGNORED[0]}\n\n${BLOCK}\nb\n`, 'a\nb\n'],
    [`# postflight-guard\n.claude/settings.local.json\n${IGNORED.join('\n')}\n`, ''],
    [`${BLOCK}\n.claude/settings.local.json\n`, '.claude/settings.local.json\n'],
  ])('are taken out by their title (row %#)', (text, rest) => expect(removeIgnored(text)).toBe(rest))
})
