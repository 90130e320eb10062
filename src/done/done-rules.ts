import { MAX_CHECKS } from '../kernel/errors.ts'
import { expandPatterns, isInsidePattern, MAX_ALTERNATIVES, MAX_STARS } from '../kernel/file-pattern.ts'
import { closestName } from '../kernel/text.ts'
import { isJsonObject } from '../kernel/values.ts'
import type { FaultPath } from '../kernel/yaml-text.ts'
import { RULES_TEXT } from './done-messages.ts'

/** docs/design.md, "Definition of done". The same reader serves the file and the trusted copy of it. */

export interface DoneRule {
  readonly name: string | undefined
  readonly when: readonly string[]
  readonly unless: readonly string[]
  readonly checks: readonly string[]
  readonly timeoutMs: number | undefined
}

export interface RuleFault {
  readonly path: FaultPath
  readonly detail: string
}

const TOP_FIELDS = ['done']
const RULE_FIELDS = ['when', 'unless', 'check', 'timeout', 'name']

export const MAX_NAME = 80
export const MAX_COMMAND = 2000
export const MAX_PATTERN = 200

export const MAX_TIMEOUT_MS = 86_400_000

export const TEXT = /^(?=\s*\S)[^\u0000-\u001f\u007f-\u009f]+$/

export const TIMEOUT = /^(\d{1,6})\s*([smh])?$/

const MAX_FAULTS = 100

/** Never throws. */
export function readRules(value: unknown): { readonly rules: readonly DoneRule[] } | { readonly faults: RuleFault[] } {
  const faults: RuleFault[] = []
  const fault = (path: FaultPath, detail: string): void => {
    faults.push({ path, detail })
  }
  if (!isJsonObject(value)) return { faults: [{ path: [], detail: RULES_TEXT.notObject }] }
  for (const name of Object.keys(value)) {
    if (!TOP_FIELDS.includes(name)) fault([name], RULES_TEXT.unknownField(name, TOP_FIELDS))
  }
  const rules: DoneRule[] = []
  if (!Array.isArray(value.done)) fault(['done'], RULES_TEXT.notList)
  else if (value.done.length > MAX_CHECKS) fault(['done'], RULES_TEXT.tooManyRules(MAX_CHECKS))
  else for (const [index, one] of value.done.entries()) rules.push(readRule(one, ['done', index], fault))
  if (rules.flatMap(({ checks }) => checks).length > MAX_CHECKS) fault(['done'], RULES_TEXT.tooManyChecks(MAX_CHECKS))
  const patterns = rules.flatMap(({ when, unless }) => [...when, ...unless])
  if (patterns.every(isInsidePattern) && expandPatterns(patterns) === undefined) {
    fault(['done'], RULES_TEXT.patternsTooWide(MAX_ALTERNATIVES, MAX_STARS))
  }
  return faults.length === 0 ? { rules } : { faults: faults.slice(0, MAX_FAULTS) }
}

type Fault = (path: FaultPath, detail: string) => void

function readRule(value: unknown, at: FaultPath, fault: Fault): DoneRule {
  const fields = isJsonObject(value) ? value : {}
  if (!isJsonObject(value)) fault(at, RULES_TEXT.notObject)
  const unknown = Object.keys(fields).filter((name) => !RULE_FIELDS.includes(name))
  for (const name of unknown) fault([...at, name], RULES_TEXT.unknownField(name, RULE_FIELDS))
  const texts = (name: string, longest: number): string[] => {
    const held = fields[name]
    const list = Array.isArray(held) ? held : [held]
    const isGiven = held !== undefined && list.length > 0
    if (!isGiven || list.length > MAX_ALTERNATIVES || !list.every(isText)) {
      // A mistyped name is one fault, which names this field.
      const isMistyped = held === undefined && unknown.some((one) => closestName(one, RULE_FIELDS) === name)
      if (!isMistyped) fault([...at, name], RULES_TEXT.texts(held === undefined))
      return []
    }
    if (list.some((text) => text.length > longest)) fault([...at, name], RULES_TEXT.tooLong(longest))
    return list
  }
  const patterns = (name: string): string[] => {
    const found = texts(name, MAX_PATTERN)
    for (const pattern of found) if (!isInsidePattern(pattern)) fault([...at, name], RULES_TEXT.pattern(pattern))
    return found
  }
  const { name, timeout } = fields
  if (name !== undefined && (!isText(name) || name.length > MAX_NAME)) {
    fault([...at, 'name'], RULES_TEXT.name(MAX_NAME))
  }
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
  if (timeout !== undefined && timeoutMs === undefined) fault([...at, 'timeout'], RULES_TEXT.timeout)
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
