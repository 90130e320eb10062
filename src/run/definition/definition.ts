import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { MAX_INPUT_LENGTH } from '../../kernel/values.ts'
import { END, MAX_INPUTS, MAX_PHASES } from './definition-limits.ts'
import type { DefinitionFile, PhaseFile } from './definition-schema.ts'
import { count, flag, inOrder, listOf, objectOf, optional, recordOf, text, type Values, WRONG } from './fields.ts'
import { type Next, PHASE_FIELDS, type Phase, readNext, readPhase, targetsOf } from './phase-fields.ts'

/** docs/design.md, "Workflows". On disk it is the snapshot in the state file, in snake_case. */

const readList = listOf(readPhase, MAX_PHASES)

const phases = (value: unknown): readonly [Phase, ...Phase[]] | typeof WRONG => {
  const read = readList(value)
  if (read === WRONG) return WRONG
  const [first, ...others] = read
  const ids = new Set(read.map(({ id }) => id))
  const isTarget = (target: string): boolean => target === END || ids.has(target)
  const isSound = ids.size === read.length && read.every(({ next }) => targetsOf(next).every(isTarget))
  return first !== undefined && isSound ? [first, ...others] : WRONG
}

const asInputs = recordOf(objectOf({ description: optional(text), default: optional(text), required: optional(flag) }))

const inputs = (held: unknown) => {
  const read = asInputs(held ?? {})
  return read === WRONG || Object.keys(read).length > MAX_INPUTS ? WRONG : new Map(Object.entries(read))
}

function inputsOf({ inputs }: DefinitionFile): object | undefined {
  if (inputs === undefined) return undefined
  const entries = Object.entries(inputs).map(([name, { default: value, ...rest }]) => [
    name,
    { ...rest, ...(value !== undefined && { default: String(value) }) },
  ])
  return Object.fromEntries(entries)
}

export const DEFINITION_FIELDS = {
  name: text,
  inputs,
  maxPrompts: { key: 'max_prompts', read: optional(count) },
  maxMinutes: { key: 'max_minutes', read: optional(count) },
  phases,
}

const readFields = objectOf(DEFINITION_FIELDS)
export type Definition = Values<typeof DEFINITION_FIELDS> & { readonly snapshot: object }

export function readDefinition(snapshot: unknown): Definition | undefined {
  const read = readFields(snapshot)
  return read === WRONG ? undefined : { ...read, snapshot: snapshot as object }
}

export function findPhase(definition: Definition, id: string): Phase | undefined {
  return definition.phases.find((one) => one.id === id)
}

const DEFAULT_ATTEMPTS = { strict: 3, advisory: 1 } as const

/** Fills in every prompt as text, and the defaults except those of PHASE_FIELDS. */
export function snapshotOf(file: DefinitionFile, promptText: (name: string) => string | undefined): object {
  const ways = waysIn(file)
  const phases = file.phases.map((written, index) => {
    const { prompt_file: prompt, step_prompt_file: stepPrompt, gate = 'strict' } = written
    return inOrder(PHASE_FIELDS, {
      gate,
      max_attempts: DEFAULT_ATTEMPTS[gate],
      max_visits: reachedFrom(written.id, ways, written.id).has(written.id) ? 3 : 1,
      max_step_attempts: 3,
      on_exhausted: 'skip',
      ...written,
      next: nextOf(written, file.phases[index + 1]),
      ...(prompt !== undefined && { prompt: promptText(prompt) }),
      ...(stepPrompt !== undefined && { step_prompt: promptText(stepPrompt) }),
    })
  })
  return inOrder(DEFINITION_FIELDS, { ...file, inputs: inputsOf(file), phases })
}

export type GivenInput = readonly [name: string, value: string]

const INPUT_FORM = 'takes NAME=VALUE, with the name of an input of the workflow'

export function givenInputs(values: readonly string[] = []): GivenInput[] {
  return values.map((value) => {
    const at = value.indexOf('=')
    if (at < 1) throw new PostflightError('value-invalid', { option: '--set', value, expected: INPUT_FORM })
    return [value.slice(0, at).trim(), value.slice(at + 1)]
  })
}

export function inputValues({ inputs }: Definition, given: readonly GivenInput[]): Readonly<Record<string, string>> {
  const refused = (problem: ErrorArguments['workflow-input']['problem'], name: string): PostflightError =>
    new PostflightError('workflow-input', { problem, name, known: [...inputs.keys()].join(', ') })
  for (const [name, value] of given) {
    if (!inputs.has(name)) throw refused('unknown', name)
    if (value.length > MAX_INPUT_LENGTH) throw refused('too-long', name)
  }
  const values = new Map(given)
  for (const [name, { default: standard, required }] of inputs) {
    if (values.has(name)) continue
    if (required === true) throw refused('missing', name)
    values.set(name, standard ?? '')
  }
  return Object.fromEntries(values)
}

export function nextOf({ next }: PhaseFile, following: PhaseFile | undefined): object {
  if (typeof next !== 'object') {
    const target = next ?? following?.id ?? END
    return { pass: target, fail: target }
  }
  const { verdict, reason } = next
  if ('pass' in next) return { pass: next.pass, fail: next.fail, verdict, reason }
  // These need a verdict: without one, the only way is the default.
  const target = next.default ?? END
  return { pass: target, fail: target, verdict, reason, cases: next.cases, default: next.default }
}

/** The phases that each phase may lead to, and END, by their ids. */
export type Ways = ReadonlyMap<string, readonly string[]>

export function waysIn({ phases }: DefinitionFile): Ways {
  const targets = (phase: PhaseFile, index: number) => targetsOf(readNext(nextOf(phase, phases[index + 1])) as Next)
  return new Map(phases.map((phase, index) => [phase.id, targets(phase, index)]))
}

export function reversed(ways: Ways): Ways {
  const leading = new Map([...ways.keys(), END].map((id): [string, string[]] => [id, []]))
  for (const [id, targets] of ways) for (const target of targets) leading.get(target)?.push(id)
  return leading
}

/** Each place with the one before it, up to the place `until`. `start` itself only if a way leads back to it. */
export function reachedFrom(start: string, ways: Pick<Ways, 'get'>, until?: string): ReadonlyMap<string, string> {
  const reached = new Map<string, string>()
  const open = [start]
  for (const place of open) {
    for (const next of ways.get(place) ?? []) {
      if (reached.has(next)) continue
      reached.set(next, place)
      if (next === until) return reached
      open.push(next)
    }
  }
  return reached
}

/** The first phase of each part that no way leads out of, to END. */
export function endless(ways: Ways, start: string): string[] {
  const ending = reachedFrom(END, reversed(ways))
  const reached = reachedFrom(start, ways)
  const found: string[] = []
  const known = new Set<string>()
  for (const id of ways.keys()) {
    if (ending.has(id) || known.has(id) || !(id === start || reached.has(id))) continue
    found.push(id)
    for (const following of reachedFrom(id, ways).keys()) known.add(following)
  }
  return found
}
