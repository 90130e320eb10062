import { END } from './definition-limits.ts'
import type { DefinitionFile, PhaseFile } from './definition-schema.ts'
import { type Next, readNext, targetsOf } from './phase-fields.ts'

export type Edges = readonly (readonly number[])[]

export function nextOf({ next }: PhaseFile, following: PhaseFile | undefined): object {
  if (typeof next !== 'object') {
    const target = next ?? following?.id ?? END
    return { pass: target, fail: target }
  }
  const { verdict, reason } = next
  if ('pass' in next) return { pass: next.pass, fail: next.fail, verdict, reason }
  // No verdict leads on by these: the only way without one is the default.
  const target = next.default ?? END
  return { pass: target, fail: target, verdict, reason, cases: next.cases, default: next.default }
}

function targetsIn({ phases }: DefinitionFile): string[][] {
  return phases.map((phase, index) => targetsOf(readNext(nextOf(phase, phases[index + 1])) as Next))
}

export function followers(file: DefinitionFile): Edges {
  const indexes = new Map(file.phases.map((phase, index) => [phase.id, index]))
  return targetsIn(file).map((targets) => targets.flatMap((id) => indexes.get(id) ?? []))
}

export function reachable(edges: Edges): Set<number> {
  return reachedFrom(edges, 0).add(0)
}

export function leadsTo(edges: Edges, from: number, to: number): boolean {
  return reachedFrom(edges, from).has(to)
}

export function phasesOnLoops(edges: Edges): Set<number> {
  return new Set([...edges.keys()].filter((index) => leadsTo(edges, index, index)))
}

export function reachedFrom(edges: Edges, start: number): Set<number> {
  const reached = new Set<number>()
  const open = [start]
  for (const index of open) {
    for (const next of edges[index] ?? []) {
      if (!reached.has(next)) open.push(next)
      reached.add(next)
    }
  }
  return reached
}

export function endless(file: DefinitionFile, edges: Edges): number[] {
  const leading: number[][] = file.phases.map(() => [])
  for (const [index, targets] of edges.entries()) for (const target of targets) leading[target]?.push(index)
  const open = targetsIn(file).flatMap((targets, index) => (targets.includes(END) ? [index] : []))
  const ending = new Set(open)
  for (const index of open) {
    for (const before of leading[index] ?? []) {
      if (!ending.has(before)) open.push(before)
      ending.add(before)
    }
  }
  const found: number[] = []
  const known = new Set<number>()
  for (const index of [...reachable(edges)].sort((one, other) => one - other)) {
    if (ending.has(index) || known.has(index)) continue
    found.push(index)
    for (const following of reachedFrom(edges, index)) known.add(following)
  }
  return found
}
