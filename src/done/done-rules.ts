import { expandPatterns, isInsidePattern, MAX_ALTERNATIVES, PATTERNS_TOO_WIDE } from '../kernel/file-pattern.ts'
import { closestName, counted, oneLine, QUOTE_LIMIT, quote, unknownField } from '../kernel/text.ts'
import { isJsonObject, MAX_CHECKS } from '../kernel/values.ts'
import type { FaultPath, Finding } from '../kernel/yaml-text.ts'

export const DONE_REASON = {
  intro: 'This repository says when work is done (specs/done.yaml). Files changed since these rules were last proven:',
  rule: (name: string, files: readonly string[], isFull: boolean): string =>
    `  - ${oneLine(name, 80)}: ${files.length === 0 ? 'files were added or removed' : files.map((file) => oneLine(file, 120)).join(', ')}${isFull ? ' (at most five are named)' : ''}`,
  more: (count: number): string => `  and ${counted(count, 'more rule')}`,
  notYours: (command: string): string =>
    `You or somebody else changed them during this session. If the changes are not yours: ${command} "<whose>"`,
} as const

export const DONE_STATUS_TEXTS = {
  trusted: 'specs/done.yaml is trusted on this machine',
  untrusted: 'specs/done.yaml says when work is done here, but it is not trusted on this machine, so it has no effect',
  changed: 'specs/done.yaml is not the text that was trusted on this machine; the trusted rules stay in force',
  unreadable: 'specs/done.yaml cannot be read; the rules that were trusted on this machine stay in force',
  missing: 'specs/done.yaml is gone, so its rules, which are trusted on this machine, have no effect',
} as const

export function repairDoneFile(trust: string): string {
  return `repair the file, then run ${trust}`
}

export const NO_FILE = 'it names no file now; "FOLDER/**" names all files of a folder'

export type DoneStatus = keyof typeof DONE_STATUS_TEXTS

export function doneAtStart(status: DoneStatus, trust: string): string {
  return `postflight-guard: ${DONE_STATUS_TEXTS[status]}. Read it, then run \`${trust}\` in your own terminal.`
}

export function searchEnded(rule: string, entries: number, seconds: number): string {
  return `postflight-guard: the rule "${oneLine(rule, 80)}" in specs/done.yaml names too many files (the search ends after ${entries} entries or ${seconds} s), so the stop was allowed. Narrow its \`when\`.`
}

export function askedOften(most: number): string {
  return `postflight-guard: files of specs/done.yaml changed again, but ${most} stops were blocked since your last message, so this one was allowed.`
}

export function doneNotJudged(path: string, detail: string, isStop: boolean): string {
  return `postflight-guard: specs/done.yaml in ${oneLine(path, QUOTE_LIMIT)} could not be judged (${oneLine(detail, QUOTE_LIMIT)})${isStop ? ', so new changes did not count' : ''}.`
}

/** docs/design.md, "Definition of done". The same reader serves the file and the trusted copy of it. */

export interface DoneRule {
  readonly name: string | undefined
  readonly when: readonly string[]
  readonly unless: readonly string[]
  readonly checks: readonly string[]
  readonly timeoutMs: number | undefined
}

const TOP_FIELDS = ['done']
const RULE_FIELDS = ['when', 'unless', 'check', 'timeout', 'name']

const MAX_NAME = 80
const MAX_COMMAND = 2000
const MAX_PATTERN = 200
const MAX_TIMEOUT_MS = 86_400_000
const MAX_FAULTS = 100

const NOT_OBJECT = 'must be an object'
const TEXT = /^(?=\s*\S)[^\u0000-\u001f\u007f-\u009f]+$/
const TIMEOUT = /^(\d{1,6})\s*([smh])?$/

/** Never throws. */
export function readRules(value: unknown): Readonly<{ rules: readonly DoneRule[] } | { faults: Finding[] }> {
  const faults: Finding[] = []
  const fault = (path: FaultPath, detail: string): void => {
    faults.push({ path, detail })
  }
  if (!isJsonObject(value)) return { faults: [{ path: [], detail: NOT_OBJECT }] }
  for (const name of Object.keys(value)) {
    if (!TOP_FIELDS.includes(name)) fault([name], unknownField(name, TOP_FIELDS))
  }
  const rules: DoneRule[] = []
  if (!Array.isArray(value.done)) fault(['done'], 'must be a list of rules')
  else if (value.done.length > MAX_CHECKS) fault(['done'], `at most ${MAX_CHECKS} rules are allowed`)
  else for (const [index, one] of value.done.entries()) rules.push(readRule(one, ['done', index], fault))
  if (rules.flatMap(({ checks }) => checks).length > MAX_CHECKS) {
    fault(['done'], `at most ${MAX_CHECKS} commands are allowed in all rules together`)
  }
  const patterns = rules.flatMap(({ when, unless }) => [...when, ...unless])
  // Expanding a long one takes quadratic time.
  const areReadable = patterns.every((one) => one.length <= MAX_PATTERN && isInsidePattern(one))
  if (areReadable && expandPatterns(patterns) === undefined) fault(['done'], PATTERNS_TOO_WIDE)
  return faults.length === 0 ? { rules } : { faults: faults.slice(0, MAX_FAULTS) }
}

function readRule(value: unknown, at: FaultPath, fault: (path: FaultPath, detail: string) => void): DoneRule {
  const fields = isJsonObject(value) ? value : {}
  if (!isJsonObject(value)) fault(at, NOT_OBJECT)
  const unknown = Object.keys(fields).filter((name) => !RULE_FIELDS.includes(name))
  for (const name of unknown) fault([...at, name], unknownField(name, RULE_FIELDS))
  const texts = (name: string, longest: number): string[] => {
    const held = fields[name]
    const list = Array.isArray(held) ? held : [held]
    if (list.length === 0 || !list.every(isText)) {
      // A mistyped name is one fault, which names this field.
      const isMistyped = held === undefined && unknown.some((one) => closestName(one, RULE_FIELDS) === name)
      const missing = held === undefined ? 'is missing, and ' : ''
      if (!isMistyped) {
        fault([...at, name], `${missing}must be a string or a list of strings, each on one line and not empty`)
      }
      return []
    }
    if (list.some((text) => text.length > longest)) fault([...at, name], `must be at most ${longest} characters long`)
    return list
  }
  const patterns = (name: string): string[] => {
    const found = texts(name, MAX_PATTERN)
    if (found.length > MAX_ALTERNATIVES) {
      fault([...at, name], `at most ${MAX_ALTERNATIVES} are allowed in a list`)
      return []
    }
    for (const pattern of found.filter((one) => !isInsidePattern(one))) {
      const allowed = 'it must be relative to the root, with "/", without "..", and without "!" (use unless)'
      fault([...at, name], `invalid pattern "${quote(pattern, 80)}": ${allowed}`)
    }
    return found
  }
  const { name, timeout } = fields
  if (name !== undefined && (!isText(name) || name.length > MAX_NAME)) {
    fault([...at, 'name'], `must be a string of 1 to ${MAX_NAME} characters, on one line`)
  }
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
  if (timeout !== undefined && timeoutMs === undefined) {
    fault([...at, 'timeout'], 'must be a time such as 90s, 5m or 1h, at most 24h')
  }
  return {
    name: isText(name) ? name : undefined,
    when: patterns('when'),
    unless: fields.unless === undefined ? [] : patterns('unless'),
    checks: texts('check', MAX_COMMAND),
    timeoutMs,
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && TEXT.test(value)
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }

function durationMs(value: unknown): number | undefined {
  const [, digits, unit = 's'] = TIMEOUT.exec(String(value)) ?? []
  const ms = Number(digits) * (UNITS_MS[unit] ?? 0)
  return ms > 0 && ms <= MAX_TIMEOUT_MS ? ms : undefined
}

export function rulesFile(rules: readonly DoneRule[]): { readonly done: readonly object[] } {
  return {
    done: rules.map(({ name, when, unless, checks, timeoutMs }) => ({
      ...(name !== undefined && { name }),
      when,
      ...(unless.length > 0 && { unless }),
      check: checks,
      ...(timeoutMs !== undefined && { timeout: `${timeoutMs / 1000}s` }),
    })),
  }
}

export function ruleText({ when, unless, checks }: DoneRule): string {
  return JSON.stringify({ when, unless, check: checks })
}

export function ruleName({ name, when }: DoneRule): string {
  return name ?? when.join(', ')
}
