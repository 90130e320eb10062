import { isJsonObject } from '../json-object.ts'
import { schemaFaults } from './artifact-schema.ts'

/**
 * A workflow's definition as the machine sees it (DESIGN section 8): every default filled in, every prompt as text.
 * On disk it is the snapshot in the state file, snake_case. That was validated when the run was started, so here only
 * its shape is checked, by hand: the hook carries no schema library.
 */

/** What a `next` may say besides a phase's id. */
export const END = 'end'

/** More phases than this are refused. */
export const MAX_PHASES = 2000

/** More steps than this in one phase are refused. */
export const MAX_PHASE_STEPS = 1000

/** What makes an artifact valid, besides being a file. */
export interface Check {
  readonly minBytes?: number
  readonly json?: boolean
  /** A JSON Schema; `artifact-schema.ts` says which keywords. */
  readonly jsonSchema?: unknown
}

/** Where a phase leads. A plain target is one without a verdict. */
export interface Next {
  readonly pass: string
  readonly fail: string
  /** JSON pointer into the artifact; undefined where pass and fail are the same. */
  readonly verdict: string | undefined
}

/** The steps of a phase: given with the definition, or taken from an earlier artifact. */
export type StepSource =
  | { readonly kind: 'list'; readonly steps: readonly string[] }
  | { readonly kind: 'from'; readonly artifact: string; readonly pointer: string }

/** A phase with every default filled in. */
export interface Phase {
  readonly id: string
  readonly prompt: string | undefined
  /** Path in the task folder, with `/`. */
  readonly artifact: string | undefined
  readonly check: Check
  readonly gate: 'strict' | 'advisory'
  readonly maxAttempts: number
  readonly next: Next
  readonly maxVisits: number
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly steps: StepSource | undefined
  readonly stepPrompt: string | undefined
  readonly maxStepAttempts: number
  readonly onExhausted: 'skip' | 'stop'
}

/** A definition, ready to run. */
export interface Definition {
  readonly name: string
  readonly phases: readonly [Phase, ...Phase[]]
}

/** The phase of an id, or undefined. */
export function findPhase(definition: Definition, id: string): Phase | undefined {
  return definition.phases.find((phase) => phase.id === id)
}

/** Reads a snapshot; undefined when it has not the shape that `start` wrote. */
export function readDefinition(value: unknown): Definition | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string' || !Array.isArray(value.phases)) return undefined
  if (value.phases.length > MAX_PHASES) return undefined
  const phases: Phase[] = []
  for (const one of value.phases) {
    const phase = isJsonObject(one) ? readPhase(one) : undefined
    if (phase === undefined) return undefined
    phases.push(phase)
  }
  const [first, ...others] = phases
  if (first === undefined) return undefined
  const ids = new Set(phases.map((phase) => phase.id))
  const known = (target: string): boolean => target === END || ids.has(target)
  if (ids.size !== phases.length || !phases.every(({ next }) => known(next.pass) && known(next.fail))) return undefined
  return { name: value.name, phases: [first, ...others] }
}

function readPhase(fields: Record<string, unknown>): Phase | undefined {
  const { id, gate, next, on_exhausted: onExhausted } = fields
  if (!isPhaseId(id) || !isJsonObject(next)) return undefined
  if (gate !== 'strict' && gate !== 'advisory') return undefined
  if (onExhausted !== 'skip' && onExhausted !== 'stop') return undefined
  const steps = readSteps(fields.steps)
  if (steps === 'wrong') return undefined
  // That both are targets is seen when all phases are known.
  const { pass, fail, verdict } = next as { pass: string; fail: string; verdict: unknown }
  const optional = [fields.prompt, fields.artifact, fields.agent, fields.model, fields.step_prompt, verdict]
  if (!optional.every((one) => one === undefined || typeof one === 'string')) return undefined
  const limits = [fields.max_attempts, fields.max_visits, fields.max_step_attempts]
  if (!limits.every(isLimit)) return undefined
  const artifact = fields.artifact as string | undefined
  if (artifact !== undefined && !isArtifactPath(artifact)) return undefined
  if (artifact === undefined && steps === undefined) return undefined
  const check = readCheck(fields.check)
  // One that nobody checked could make the checking of an artifact fail, or last.
  if (check.jsonSchema !== undefined && schemaFaults(check.jsonSchema).length > 0) return undefined
  return {
    id,
    artifact,
    gate,
    onExhausted,
    steps,
    prompt: fields.prompt as string | undefined,
    check,
    maxAttempts: fields.max_attempts as number,
    next: { pass, fail, verdict: verdict as string | undefined },
    maxVisits: fields.max_visits as number,
    agent: fields.agent as string | undefined,
    model: fields.model as string | undefined,
    stepPrompt: fields.step_prompt as string | undefined,
    maxStepAttempts: fields.max_step_attempts as number,
  }
}

function readSteps(value: unknown): StepSource | undefined | 'wrong' {
  if (value === undefined) return undefined
  if (Array.isArray(value)) {
    if (value.length > MAX_PHASE_STEPS || !value.every((step) => typeof step === 'string')) return 'wrong'
    return { kind: 'list', steps: value }
  }
  if (!isJsonObject(value) || typeof value.from !== 'string' || typeof value.pointer !== 'string') return 'wrong'
  return isArtifactPath(value.from) ? { kind: 'from', artifact: value.from, pointer: value.pointer } : 'wrong'
}

function readCheck(value: unknown): Check {
  if (!isJsonObject(value)) return {}
  return {
    ...(typeof value.min_bytes === 'number' && { minBytes: value.min_bytes }),
    ...(value.json === true && { json: true }),
    jsonSchema: value.json_schema,
  }
}

function isLimit(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1000
}

/** Phases name folders and stand in diagrams: a plain word. */
export const PHASE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/

/** True for what a phase may be called. */
export function isPhaseId(value: unknown): value is string {
  return typeof value === 'string' && PHASE_ID.test(value) && value.toLowerCase() !== END
}

/** Names in the task folder that are the machine's or the guard's own. */
const RESERVED =
  /^(?:workflow|workflow-runs|artifacts|step-results|step-result\.json|\.postflight[^/]*|\.return-meta\.json)(?:\/|$)/i

/** File systems take names of 255 bytes; the archive puts a few more characters to them. */
const MAX_NAME_BYTES = 200

/**
 * True for a path that can only lie inside its folder, on any system: relative, no `.` or `..`, no backslash, no colon
 * (drives, streams), no control characters, no name that is too long.
 */
export function isInsidePath(value: string): boolean {
  if (value.length > 200 || /[\\:*?"<>|\u0000-\u001f\u007f-\u009f]/.test(value)) return false
  // No part ends in a dot: neither `.` nor `..`, nor what Windows takes for the name without it.
  return value.split('/').every((part) => part !== '' && !/[. ]$|^ /.test(part) && isShortName(part))
}

function isShortName(name: string): boolean {
  return new TextEncoder().encode(name).length <= MAX_NAME_BYTES
}

/** True for a path that can only lie inside the task folder, and bears none of our own names. */
export function isArtifactPath(value: string): boolean {
  return isInsidePath(value) && !RESERVED.test(value)
}
