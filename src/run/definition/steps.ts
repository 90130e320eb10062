import { isJsonObject } from '../../kernel/values.ts'
import { type Reader, WRONG } from './fields.ts'

export type Step = string | Readonly<Record<string, unknown>>

export const MAX_STEP_LENGTH = 5000

export const readStep: Reader<Step> = (value) => (typeof value === 'string' || isJsonObject(value) ? value : WRONG)

export function stepAsText(step: unknown): string {
  if (typeof step === 'string') return step
  return isChecklistItem(step) ? step.text : JSON.stringify(step)
}

export function stepField(step: Step, name: string): string {
  if (typeof step === 'string' || !Object.hasOwn(step, name)) return ''
  const value = step[name]
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function namedByStep(step: Step, name: 'agent' | 'model'): string | undefined {
  const value = stepField(step, name)
  return value === '' ? undefined : value.slice(0, 200)
}

export type ChecklistItem = Readonly<{ text: string; item: number }>

export function isChecklistItem(step: unknown): step is ChecklistItem & Step {
  return isJsonObject(step) && typeof step.text === 'string' && typeof step.item === 'number'
}

export const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/

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
