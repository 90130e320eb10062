import { describe, expect, it } from 'vitest'
import { expandPatterns, MAX_ALTERNATIVES } from '../../../src/kernel/file-pattern.ts'

describe('the patterns of files', () => {
  it.each<[string, string[]]>([
    ['src/**/*.ts', ['src/**/*.ts']],
    ['{a,b}.ts', ['a.ts', 'b.ts']],
    ['{a,{b,c}}/{d,e}', ['a/d', 'a/e', 'b/d', 'b/e', 'c/d', 'c/e']],
    ['{a}', ['\\{a\\}']],
    ['{{a},b}', ['\\{a\\}', 'b']],
    ['a{,b}', ['a', 'ab']],
    ['{,/,a,/b/}', ['a']],
    ['a/', ['a/**']],
    ['././a./b', ['a./b']],
    [`{${'a,'.repeat(299)}}`, ['a']],
    ['{b,bb}'.repeat(20), Array.from({ length: 21 }, (_, at) => 'b'.repeat(20 + at))],
    ['a{b', ['a{b']],
    ['a}b,c', ['a}b,c']],
    ['**/__tests__/**/*.test.*', ['**/__tests__/**/*.test.*']],
    ['packages/*/*/src/**/*_*_*.py', ['packages/*/*/src/**/*_*_*.py']],
    ['app/(auth)/*.tsx', ['app/\\(auth\\)/*.tsx']],
    ['a+(b|c)', ['a\\+\\(b\\|c\\)']],
  ])('%s is written out', (pattern, expected) => {
    const before = process.cpuUsage()
    expect(expandPatterns([pattern])?.sort()).toEqual(expected)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(500)
  })

  it.each<[string, string[]]>([
    ['nested braces', [`${'{a,'.repeat(49)}b${'}'.repeat(49)}`.repeat(3).slice(0, 200), '{a,b}'.repeat(12)]],
    ['a million alternatives', [`{${','.repeat(1_000_000)}}`]],
    ['a range', ['{1..3}']],
    ['alternatives of several patterns', Array.from({ length: 100 }, (_, at) => `${at}{a,b,c,d}`)],
    ['four stars in a name', ['src/*a*b*c*']],
    ['two dots from alternatives', ['{.,a}{.,b}/c']],
    ['four globstars', ['**/a/**/b/**/c/**/d']],
    ['two globstars and two further stars', ['**/*a*/**/*b*']],
    ['three stars in a row', ['a***b*']],
  ])('%s is refused', (_, patterns) => {
    const before = process.cpuUsage()
    expect(expandPatterns(patterns)).toBeUndefined()
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(500)
  })

  it('may have three hundred alternatives in all', () => {
    const patterns = Array.from({ length: 100 }, (_, at) => `${at}{a,b,c}`)
    expect(expandPatterns(patterns)).toHaveLength(MAX_ALTERNATIVES)
    expect(expandPatterns([...patterns, 'd'])).toBeUndefined()
  })
})
