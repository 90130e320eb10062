import { counted, oneLine, QUOTE_LIMIT, quote, suggestion } from '../kernel/text.ts'

export const RULES_TEXT = {
  notObject: 'must be an object',
  notList: 'must be a list of rules',
  unknownField: (name: string, known: readonly string[]): string =>
    `unknown field "${quote(name, 80)}"${suggestion(name, known)}`,
  tooManyRules: (most: number): string => `at most ${most} rules are allowed`,
  tooManyChecks: (most: number): string => `at most ${most} commands are allowed in all rules together`,
  texts: (isMissing: boolean): string =>
    `${isMissing ? 'is missing, and ' : ''}must be a string or a list of strings, each on one line and not empty`,
  tooLong: (most: number): string => `must be at most ${most} characters long`,
  pattern: (value: string): string =>
    `invalid pattern "${quote(value, 80)}": it must be relative to the root, with "/", without "..", and without "!" (use unless)`,
  patternsTooWide: (alternatives: number, stars: number): string =>
    `the patterns must have at most ${alternatives} alternatives ({a,b}) in all, no ranges ({1..9}), and at most ${stars} stars that multiply: a "**", and a "*" after the first of its name (two of these)`,
  name: (most: number): string => `must be a string of at most ${most} characters, on one line`,
  timeout: 'must be a time such as 90s, 5m or 1h, at most 24h',
} as const

export const DONE_REASON = {
  intro: 'This repository says when work is done (specs/done.yaml). Files changed since these rules were last proven:',
  rule: (name: string, files: readonly string[], hasMore: boolean): string =>
    `  - ${oneLine(name, 80)}: ${files.length === 0 ? 'files were added or removed' : files.map((file) => oneLine(file, 120)).join(', ')}${hasMore ? ', …' : ''}`,
  more: (count: number): string => `  and ${counted(count, 'more rule')}`,
  notYours: (wait: string): string =>
    `They changed during this session, by you or by somebody else. If they are not yours: ${wait} "<whose>"`,
} as const

export const DONE_RECORDS = {
  proven: 'no rule is due any more',
} as const

export const DONE_STANDING = {
  trusted: 'specs/done.yaml is trusted on this machine',
  untrusted: 'specs/done.yaml says when work is done here, but it is not trusted on this machine, so it has no effect',
  changed: 'specs/done.yaml is not the text that was trusted on this machine; the trusted rules stay in force',
  unreadable: 'specs/done.yaml cannot be read; the rules that were trusted on this machine stay in force',
  missing: 'specs/done.yaml is gone, so its rules, which are trusted on this machine, have no effect',
} as const

export type DoneStatus = keyof typeof DONE_STANDING

export function doneAtStart(status: DoneStatus, trust: string): string {
  return `postflight-guard: ${DONE_STANDING[status]}. Read it, then run \`${trust}\` in your own terminal.`
}

export function searchEnded(rule: string, entries: number, seconds: number): string {
  return `postflight-guard: the files of the rule "${oneLine(rule, 80)}" in specs/done.yaml are too many (the search ends after ${entries} entries or ${seconds} s), so the stop was allowed. Narrow its \`when\`.`
}

export function askedOften(most: number): string {
  return `postflight-guard: files of specs/done.yaml changed again, but ${most} stops were blocked since your last message, so this one was allowed.`
}

export function doneNotJudged(path: string, detail: string): string {
  return `postflight-guard: specs/done.yaml in ${oneLine(path, QUOTE_LIMIT)} could not be judged (${oneLine(detail, QUOTE_LIMIT)}), so the stop was allowed.`
}
