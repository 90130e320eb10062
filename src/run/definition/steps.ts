import { isJsonObject } from '../../kernel/json-object.ts'
import { type Reader, WRONG } from './fields.ts'

/** A step of a phase: a text, or an object whose fields a prompt may name. */

/** A step, as the definition or an artifact lists it. */
export type Step = string | Readonly<Record<string, unknown>>

/** The maximum length of a step in a prompt, in characters. */
export const MAX_STEP_LENGTH = 5000

/** Reads a step. */
export const readStep: Reader<Step> = (held) => (typeof held === 'string' || isJsonObject(held) ? held : WRONG)

/** A step as a prompt shows it: a text as it is, the text of a checklist's item, anything else as JSON. */
export function stepAsText(step: unknown): string {
  if (typeof step === 'string') return step
  return isChecklistItem(step) ? step.text : JSON.stringify(step)
}

/** A field of a step as a prompt shows it; empty for one that the step does not have. */
export function stepField(step: Step, name: string): string {
  if (typeof step === 'string' || !Object.hasOwn(step, name)) return ''
  const value = step[name]
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The agent or the model that a step names; undefined for most. */
export function namedByStep(step: Step, name: 'agent' | 'model'): string | undefined {
  const value = stepField(step, name)
  return value === '' ? undefined : value.slice(0, 200)
}

/** An item of a Markdown task list. `item`: its number among all items of the file, ticked ones too, from 0. */
export interface ChecklistItem {
  readonly text: string
  readonly item: number
}

/** True for a step that was taken from a checklist. */
export function isChecklistItem(step: unknown): step is ChecklistItem & Step {
  return isJsonObject(step) && typeof step.text === 'string' && typeof step.item === 'number'
}

/** A valid pointer: empty, or beginning with `/`, with `~` only as `~0` and `~1`. */
export const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/

/** The value at a pointer; undefined if there is none. Only own properties count. */
export function resolvePointer(value: unknown, pointer: string): unknown {
  let current = value
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof current !== 'object' || current === null) return undefined
    if (!Object.hasOwn(current, key) || (Array.isArray(current) && key === 'length')) return undefined
    current = (current as Record<string, unknown>)[key]
  }
  return current
}
