import { cut, stripControl } from '../../kernel/text.ts'
import { isJsonObject } from '../../kernel/values.ts'
import { schemaFaults } from './artifact-schema.ts'
import { END, isArtifactPath, isPhaseId, MAX_CASE_LENGTH, MAX_PARALLEL, MAX_PHASE_STEPS } from './definition-limits.ts'
import { count, flag, listOf, objectOf, oneOf, optional, type Reader, recordOf, text, WRONG, within } from './fields.ts'
import { readStep, type Step, stepAsText } from './steps.ts'

export const readNext = objectOf({
  pass: text,
  fail: text,
  verdict: optional(text),
  reason: optional(text),
  cases: optional(recordOf(text)),
  otherwise: { key: 'default', read: optional(text) },
})

export interface Next extends Exclude<ReturnType<typeof readNext>, typeof WRONG> {}

export function targetsOf({ pass, fail, cases = { pass, fail }, otherwise }: Next): string[] {
  return [...new Set([...Object.values(cases), ...(otherwise === undefined ? [] : [otherwise])])]
}

export function targetAfter({ pass, fail, cases, otherwise }: Next, verdict: string | undefined): string {
  if (cases === undefined) return verdict === 'fail' ? fail : pass
  return (verdict !== undefined && Object.hasOwn(cases, verdict) ? cases[verdict] : otherwise) ?? END
}

export function isFailing({ cases }: Next, verdict: string | undefined): boolean {
  return cases === undefined && verdict === 'fail'
}

export function verdictOf({ cases, otherwise }: Next, value: unknown): string | undefined {
  if (cases === undefined) {
    if (value === true || value === 'pass') return 'pass'
    return value === false || value === 'fail' ? 'fail' : undefined
  }
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const name = String(value).slice(0, MAX_CASE_LENGTH)
  return Object.hasOwn(cases, name) || otherwise !== undefined ? name : undefined
}

/** A definition is checked when a run starts, so the readers check only the shape. */

const limit = within(1, 1000)
const artifactPath: Reader<string> = (value) => (typeof value === 'string' && isArtifactPath(value) ? value : WRONG)
/** A schema with faults could make the check throw, or take long. */
const schema: Reader<unknown> = (value) => (value !== undefined && schemaFaults(value).length > 0 ? WRONG : value)

const STEP_CHECK_FIELDS = { jsonSchema: { key: 'json_schema', read: schema } }
const readStepCheck = objectOf(STEP_CHECK_FIELDS)

export const CHECK_FIELDS = {
  run: (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
  files: (value: unknown) =>
    Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : undefined,
  minBytes: { key: 'min_bytes', read: (value: unknown) => (typeof value === 'number' ? value : undefined) },
  json: (value: unknown) => value === true || undefined,
  ...STEP_CHECK_FIELDS,
}

const readCheck = objectOf(CHECK_FIELDS)

export type StepSource =
  | { readonly kind: 'list'; readonly steps: readonly Step[] }
  | { readonly kind: 'from'; readonly artifact: string; readonly pointer: string }
  | { readonly kind: 'checklist'; readonly artifact: string }

const readStepList = listOf(readStep, MAX_PHASE_STEPS)
const FROM = { key: 'from', read: artifactPath }
const readStepsFrom = objectOf({ artifact: FROM, pointer: optional(text), checklist: optional(flag) })

const steps: Reader<StepSource> = (value) => {
  const list = readStepList(value)
  if (list !== WRONG) return { kind: 'list', steps: list }
  const from = readStepsFrom(value)
  if (from === WRONG) return WRONG
  const { artifact, pointer, checklist } = from
  if (checklist === true) return { kind: 'checklist', artifact }
  return pointer === undefined ? WRONG : { kind: 'from', artifact, pointer }
}

function withDefault<T>(read: Reader<T>, missing: NoInfer<T>): Reader<T> {
  return (value) => (value === undefined ? missing : read(value))
}

export const PHASE_FIELDS = {
  id: (value: unknown) => (isPhaseId(value) ? value : WRONG),
  prompt: optional(text),
  artifact: optional(artifactPath),
  check: (value: unknown) => readCheck(isJsonObject(value) ? value : {}),
  approve: withDefault(flag, false),
  gate: oneOf('strict', 'advisory'),
  maxAttempts: { key: 'max_attempts', read: limit },
  next: readNext,
  maxVisits: { key: 'max_visits', read: limit },
  agent: optional(text),
  model: optional(text),
  steps: optional(steps),
  stepPrompt: { key: 'step_prompt', read: optional(text) },
  stepCheck: { key: 'step_check', read: withDefault(readStepCheck, { jsonSchema: undefined }) },
  parallel: withDefault(within(1, MAX_PARALLEL), 1),
  maxStepAttempts: { key: 'max_step_attempts', read: limit },
  maxSkips: { key: 'max_skips', read: optional(count) },
  onExhausted: { key: 'on_exhausted', read: oneOf('skip', 'stop') },
}

const readFields = objectOf(PHASE_FIELDS)

export interface Phase extends Exclude<ReturnType<typeof readFields>, typeof WRONG> {}

/** A phase with neither an artifact nor steps would never be done. */
export const readPhase: Reader<Phase> = (value) => {
  const read = readFields(value)
  return read === WRONG || (read.artifact === undefined && read.steps === undefined) ? WRONG : read
}

export function reasonText(reason: unknown): string | undefined {
  if (reason === undefined || reason === null) return undefined
  const lines = Array.isArray(reason) ? reason.map((one) => `- ${stepAsText(one)}`) : [stepAsText(reason)]
  const text = cut(stripControl(lines.join('\n')).trim(), 2000)
  return text === '' ? undefined : text
}
