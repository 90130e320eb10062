import { PostflightError } from '../kernel/errors.ts'
import { fromIso } from '../kernel/time.ts'
import { attempt, isJsonObject, known, MAX_CHECKS, parseJson, type Writable } from '../kernel/values.ts'
import { isCount, parseWait, type Wait } from './marker-wait.ts'

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

/** In bytes. */
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

export interface Marker {
  readonly fields: Readonly<Record<string, unknown>> | undefined
  readonly problems: readonly MarkerProblem[]
  readonly id?: string
  readonly sessionId?: string
  readonly skill?: string
  readonly taskNumber?: number
  readonly operation?: string
  readonly reason?: string
  readonly createdMs?: number
  readonly bypassed: boolean
  /** Without it the marker is unowned. */
  readonly hostSession?: string
  /** `main` or a sub-agent's id. */
  readonly agent?: string
  readonly agentType?: string
  readonly steps: readonly MarkerStep[]
  readonly checks: readonly MarkerCheck[]
  /** Set if another session wrote the checks. */
  readonly checksSession?: string
  readonly outcome?: string
  readonly wait?: Wait
  readonly waits?: number
  readonly ownerFrom?: string
}

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
  return isJsonObject(json.value) ? fromFields(json.value) : unparsed({ code: 'not-object' })
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
  return { fields: undefined, problems: [problem], bypassed: false, steps: [], checks: [] }
}

function fromFields(fields: Record<string, unknown>): Marker {
  const problems: MarkerProblem[] = []
  const wrong = (field: string, expected: FieldKind): undefined => {
    problems.push({ code: 'field', field, expected })
    return undefined
  }
  // Objects inherit `constructor` and others.
  const own = (field: string): unknown => (Object.hasOwn(fields, field) ? (fields[field] ?? undefined) : undefined)
  const string = (field: string): string | undefined => {
    const value = own(field)
    if (value === undefined || value === '') return undefined
    return typeof value === 'string' ? value : wrong(field, 'text')
  }
  const list = (field: string, expected: FieldKind): unknown[] => {
    const value = own(field) ?? []
    return Array.isArray(value) ? value : (wrong(field, expected) ?? [])
  }
  const created = string('created')
  const createdMs = created === undefined ? undefined : (fromIso(created) ?? wrong('created', 'time'))
  const number = own('task_number')
  const taskNumber =
    number === undefined ? undefined : typeof number === 'number' ? number : wrong('task_number', 'number')
  const bypassed = own('stop_hook_active')
  if (bypassed !== undefined && typeof bypassed !== 'boolean') wrong('stop_hook_active', 'flag')

  const marker: Writable<Marker> = {
    fields,
    problems,
    bypassed: bypassed === true,
    steps: readSteps(list('steps', 'list'), wrong),
    checks: readChecks(list('checks', 'checks'), wrong),
  }
  // The hook may read a hundred markers before this code is optimised.
  const text = (name: TextField, field: string): void => {
    const value = string(field)
    if (value !== undefined) marker[name] = value
  }
  text('id', 'id')
  text('sessionId', 'session_id')
  const variable = unfilledVariable(own)
  if (variable !== undefined) problems.unshift({ code: 'unfilled', variable })
  text('skill', 'skill')
  if (taskNumber !== undefined) marker.taskNumber = taskNumber
  text('operation', 'operation')
  text('reason', 'reason')
  if (createdMs !== undefined) marker.createdMs = createdMs
  text('hostSession', 'cc_session_id')
  text('agent', 'agent_id')
  text('agentType', 'agent_type')
  const wait = own('wait') === undefined ? undefined : (parseWait(own('wait')) ?? wrong('wait', 'wait'))
  if (wait !== undefined) marker.wait = wait
  const used = own('waits')
  const waits = used === undefined || isCount(used) ? used : wrong('waits', 'count')
  if (waits !== undefined) marker.waits = waits
  text('ownerFrom', 'owner_from')
  text('checksSession', 'checks_session')
  text('outcome', 'outcome')
  return marker
}

/** The fields of a marker that may hold any text. */
type TextField = { [K in keyof Marker]-?: Marker[K] extends string | undefined ? K : never }[keyof Marker]

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

/** Whether its checks cannot be read, so that nothing can prove it. */
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

/** Shell commands that must succeed before a marker may be cleared. Only commands in the agent's own shell run them. */

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

type Caller = Readonly<{ session: string | undefined; runChecks: boolean }>

export interface CheckDecision {
  /** Why it may not be cleared. Otherwise the commands, if there are any, must run. */
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
