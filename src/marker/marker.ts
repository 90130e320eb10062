import { PostflightError } from '../kernel/errors.ts'
import { fromIso } from '../kernel/time.ts'
import { attempt, isJsonObject, known, MAX_CHECKS, parseJson } from '../kernel/values.ts'
import { isCount, parseWait } from './marker-wait.ts'

/** Reading a marker never fails: invalid content is one of its problems (docs/design.md, "Markers"). */

export const DEFAULT_REASON = 'Postflight operations pending'
/** Messages omit these defaults. */
export const DEFAULT_SKILL = 'manual'
export const DEFAULT_OPERATION = 'work'

export function namedWork({ operation, skill }: Partial<Record<'operation' | 'skill', string | null | undefined>>) {
  return {
    operation: operation === DEFAULT_OPERATION ? undefined : (operation ?? undefined),
    skill: skill === DEFAULT_SKILL ? undefined : (skill ?? undefined),
  }
}

type Viewed<State> = Readonly<{ state: State; outcome: string | null; wait: object | null }>

export function shownState<State>({ state, outcome, wait }: Viewed<State>): State | 'waiting' | 'unchecked' {
  if (outcome === UNCHECKED) return UNCHECKED
  return state === 'pending' && wait !== null ? 'waiting' : state
}

export const MARKER_BYTES = 65_536
export const MAX_CHECKLIST_STEPS = 100

export type MarkerStep = Readonly<{ name: string; done: boolean }>

export type FieldKind = 'text' | 'flag' | 'number' | 'time' | 'list' | 'steps' | 'checks' | 'wait' | 'count'

/** With a `field` problem, the rest stays usable. */
export type MarkerProblem =
  | { readonly code: 'empty' | 'too-large' | 'not-object' }
  | { readonly code: 'not-json'; readonly detail: string }
  | { readonly code: 'unfilled'; readonly variable: string }
  | { readonly code: 'field'; readonly field: string; readonly expected: FieldKind }

export type Marker = Readonly<ReturnType<typeof readFields>>

/** `create` read them from its environment, perhaps an outer host's. */
export const OWNER_FROM_ENVIRONMENT = 'environment'

/** Never throws. */
export function parseMarker(text: string): Marker {
  if (text.trim() === '') return unparsed({ code: 'empty' })
  if (text.length > MARKER_BYTES) return unparsed({ code: 'too-large' })
  const json = parseJson(text)
  if ('fault' in json) {
    const variable = VARIABLE.exec(text)?.[0]
    return unparsed(variable === undefined ? { code: 'not-json', detail: json.fault } : { code: 'unfilled', variable })
  }
  return isJsonObject(json.value) ? readFields(json.value, []) : unparsed({ code: 'not-object' })
}

/** Shells leave these as they are if the heredoc's delimiter is quoted. */
const VARIABLE = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}?|\()/
/** A reason may mention variables. */
const FILLED = ['session_id', 'cc_session_id', 'agent_id', 'agent_type', 'created', 'skill', 'operation']

function unfilledVariable(own: (field: string) => unknown): string | undefined {
  const texts = FILLED.map(own).filter((value) => typeof value === 'string')
  return texts.flatMap((text) => VARIABLE.exec(text)?.[0] ?? [])[0]
}

export function unparsed(problem: MarkerProblem): Marker {
  return readFields(undefined, [problem])
}

/** One literal: the hook may read a hundred markers before this code is optimised. */
function readFields(fields: Readonly<Record<string, unknown>> | undefined, problems: MarkerProblem[]) {
  const wrong = (field: string, expected: FieldKind): undefined => {
    problems.push({ code: 'field', field, expected })
    return undefined
  }
  // Objects inherit `constructor` and others.
  const own = (field: string): unknown =>
    fields !== undefined && Object.hasOwn(fields, field) ? (fields[field] ?? undefined) : undefined
  const read = <T>(field: string, expected: FieldKind, parse: (value: unknown) => T | undefined): T | undefined => {
    const value = own(field)
    return value === undefined ? undefined : (parse(value) ?? wrong(field, expected))
  }
  const text = (field: string): string | undefined => (own(field) === '' ? undefined : read(field, 'text', asText))
  const list = (field: string, expected: FieldKind): unknown[] => read(field, expected, asList) ?? []
  const variable = unfilledVariable(own)
  if (variable !== undefined) problems.push({ code: 'unfilled', variable })
  const created = text('created')
  return {
    fields,
    problems: problems as readonly MarkerProblem[],
    createdMs: created === undefined ? undefined : (fromIso(created) ?? wrong('created', 'time')),
    taskNumber: read('task_number', 'number', asNumber),
    bypassed: read('stop_hook_active', 'flag', asFlag) === true,
    steps: readSteps(list('steps', 'list'), wrong) as readonly MarkerStep[],
    checks: readChecks(list('checks', 'checks'), wrong) as readonly MarkerCheck[],
    id: text('id'),
    sessionId: text('session_id'),
    skill: text('skill'),
    operation: text('operation'),
    reason: text('reason'),
    /** Without it the marker is unowned. */
    hostSession: text('cc_session_id'),
    /** `main` or a sub-agent's id. */
    agent: text('agent_id'),
    agentType: text('agent_type'),
    wait: read('wait', 'wait', parseWait),
    waits: read('waits', 'count', asCount),
    ownerFrom: text('owner_from'),
    /** Set if another session wrote the checks. */
    checksSession: text('checks_session'),
    outcome: text('outcome'),
  }
}

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
const asNumber = (value: unknown) => (typeof value === 'number' ? value : undefined)
const asFlag = (value: unknown) => (typeof value === 'boolean' ? value : undefined)
const asList = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined)
const asCount = (value: unknown) => (isCount(value) ? value : undefined)

function readSteps(items: unknown[], wrong: (field: string, expected: FieldKind) => undefined): MarkerStep[] {
  const steps: MarkerStep[] = []
  for (const item of items.slice(0, MAX_CHECKLIST_STEPS)) {
    const name: unknown = typeof item === 'string' ? item : (item as { name?: unknown } | null)?.name
    if (typeof name === 'string') steps.push({ name, done: (item as { done?: unknown }).done === true })
    else wrong('steps', 'steps')
  }
  return steps
}

function readChecks(items: unknown[], wrong: (field: string, expected: FieldKind) => undefined): MarkerCheck[] {
  const checks = items.slice(0, MAX_CHECKS).map(parseCheck)
  if (items.length > MAX_CHECKS || checks.includes(undefined)) wrong('checks', 'checks')
  return checks.filter((check) => check !== undefined)
}

/** Nothing can prove such a marker. */
export function hasUnreadableChecks({ problems }: Marker): boolean {
  return problems.some((problem) => problem.code === 'field' && problem.field === 'checks')
}

export function mayHaveChecks(marker: Marker): boolean {
  return marker.checks.length > 0 || hasUnreadableChecks(marker)
}

export function remainingSteps(marker: Marker): MarkerStep[] {
  return marker.steps.filter((step) => !step.done)
}

export const NO_SESSION = 'none'

/** Only this session may run them. */
export function checksSessionOf({ checksSession, hostSession }: Marker): string | undefined {
  return checksSession === undefined ? hostSession : checksSession === NO_SESSION ? undefined : checksSession
}

export const UNCHECKED = 'unchecked'

/** Only commands in the agent's own shell run checks. */

/** In characters, from the end. */
const KEPT_OUTPUT = 1_000

export type CheckFailure =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly limitMs: number }

export interface CheckResult {
  readonly run: string
  readonly failure: CheckFailure | undefined
  readonly durationMs: number
  readonly output: string
}

export type LastFailure = Pick<CheckResult, 'output'> & { readonly failure: CheckFailure }
export type MarkerCheck = Readonly<{ run: string; step?: string; failed?: LastFailure }>

export function parseCheck(value: unknown): MarkerCheck | undefined {
  if (!isJsonObject(value) || typeof value.run !== 'string' || value.run.trim() === '') return undefined
  const { run, step } = value
  const failed = parseFailure(value.failed)
  return known({ run, step: (typeof step === 'string' && step) || undefined, failed })
}

export function parseFailure(value: unknown): LastFailure | undefined {
  if (!isJsonObject(value)) return undefined
  const output = typeof value.output === 'string' ? value.output.slice(-KEPT_OUTPUT) : ''
  if (typeof value.timed_out_ms === 'number') {
    return { failure: { kind: 'timed-out', limitMs: value.timed_out_ms }, output }
  }
  if (typeof value.signal === 'string') return { failure: { kind: 'killed', signal: value.signal }, output }
  return typeof value.exit_code === 'number'
    ? { failure: { kind: 'exited', exitCode: value.exit_code }, output }
    : undefined
}

export function failedField({ failure, output }: LastFailure): Record<string, unknown> {
  return known({
    exit_code: failure.kind === 'exited' ? failure.exitCode : undefined,
    signal: failure.kind === 'killed' ? failure.signal : undefined,
    timed_out_ms: failure.kind === 'timed-out' ? failure.limitMs : undefined,
    output: output.slice(-KEPT_OUTPUT),
  })
}

export function commandsOf(checks: readonly MarkerCheck[]): string[] {
  return [...new Set(checks.map(({ run }) => run))]
}

export function sameChecks(some: readonly MarkerCheck[], others: readonly MarkerCheck[]): boolean {
  const keys = (checks: readonly MarkerCheck[]): string => JSON.stringify(checks.map(({ run, step }) => [run, step]))
  return keys(some) === keys(others)
}

export type Caller = Readonly<{ session: string | undefined; runChecks: boolean }>

export interface CheckDecision {
  /** Why it may not be cleared. Otherwise the commands must run. */
  readonly refusal?: 'other-session' | 'unowned' | 'unreadable'
  readonly commands: readonly string[]
  readonly areForeign: boolean
}

export const NO_CHECKS: CheckDecision = { commands: [], areForeign: false }

export function isOwnChecks(marker: Marker, session: string | undefined): boolean {
  return session !== undefined && marker.hostSession !== undefined && checksSessionOf(marker) === session
}

export function decideChecks(marker: Marker, caller: Caller, checks = marker.checks): CheckDecision {
  const decided = { commands: commandsOf(checks), areForeign: !isOwnChecks(marker, caller.session) }
  if (hasUnreadableChecks(marker)) return { ...decided, refusal: 'unreadable' }
  if (checks.length === 0) return NO_CHECKS
  if (marker.hostSession === undefined) return { ...decided, refusal: 'unowned' }
  return decided.areForeign && !caller.runChecks ? { ...decided, refusal: 'other-session' } : decided
}

/** Includes the caller's abandoned markers: their checks were not run. */
export function decideFolder(pending: Marker | undefined, abandoned: readonly Marker[], caller: Caller): CheckDecision {
  const ownMarkers = abandoned.filter((marker) => isOwnChecks(marker, caller.session))
  const own = commandsOf(ownMarkers.flatMap(({ checks }) => checks))
  const decided = pending === undefined ? NO_CHECKS : decideChecks(pending, caller)
  if (decided.refusal !== undefined) return decided
  if (ownMarkers.some(hasUnreadableChecks)) return { ...decided, refusal: 'unreadable', commands: own }
  return { ...decided, commands: [...new Set([...decided.commands, ...own])] }
}

export function formatMarker(fields: Readonly<Record<string, unknown>>): string {
  const text = formatIfRoom(fields)
  if (text === undefined) throw new PostflightError('marker-too-large', { limit: MARKER_BYTES })
  return text
}

/** On one line if it would be too long indented. Undefined if it is too large, or nested too deeply for JSON. */
export function formatIfRoom(fields: Readonly<Record<string, unknown>>): string | undefined {
  const layouts = attempt(() => [2, 0].map((indent) => `${JSON.stringify(fields, null, indent)}\n`))
  return layouts?.find((text) => new TextEncoder().encode(text).length <= MARKER_BYTES)
}

export function withFields(fields: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>) {
  return known({ ...fields, ...changes })
}
