import { isJsonObject } from '../json-object.ts'
import { END } from './definition.ts'
import { checkShape, type DefinitionFile, type FaultPath, type ShapeFault } from './definition-schema.ts'

/**
 * A definition with faults in its shape still has rules to keep, and whoever mends it wants to hear of all at once. So
 * what is wrong is taken out, or something harmless put in its place, until the rest has the right shape.
 */

/** More often than this it is not tried: what is taken out may leave something missing, and that is all. */
const MAX_ROUNDS = 4

/** What is put where something must be. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  ...{ name: '?', id: '?', pass: END, fail: END, verdict: '', from: '?', pointer: '' },
}

/** What is left of a definition without its faults; undefined when that is nothing. */
export function salvage(value: unknown, faults: readonly ShapeFault[]): DefinitionFile | undefined {
  const rest: unknown = structuredClone(value)
  let left = faults
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (const { path } of left) takeOut(rest, path)
    const shape = checkShape(rest)
    if ('file' in shape) return shape.file
    left = shape.faults
  }
  return undefined
}

function takeOut(value: unknown, path: FaultPath): void {
  const last = path.at(-1) as string | number
  const holder = path.slice(0, -1).reduce<unknown>(child, value)
  // A phase, or a step: without it all that follow would have another place.
  if (Array.isArray(holder)) holder[last as number] = path.length === 2 ? {} : '?'
  else if (isJsonObject(holder)) {
    if (Object.hasOwn(holder, last)) delete holder[last]
    else if (Object.hasOwn(STAND_INS, last)) holder[last] = STAND_INS[last]
  }
}

function child(value: unknown, part: string | number): unknown {
  return (value as Record<string | number, unknown> | null | undefined)?.[part]
}
