import { END } from './definition-limits.ts'
import type { DefinitionFile, PhaseFile } from './definition-schema.ts'

/** The phases as a graph, by their index; the end is left out. */

/** Where each phase may lead. */
export type Edges = readonly (readonly number[])[]

/** The targets of a phase's `next`, ids or `end`, with its default filled in. */
export function targetsOf(phase: PhaseFile, following: PhaseFile | undefined): { pass: string; fail: string } {
  if (typeof phase.next === 'object') return { pass: phase.next.pass, fail: phase.next.fail }
  const target = phase.next ?? following?.id ?? END
  return { pass: target, fail: target }
}

/** The edges of a definition; targets that nobody knows lead nowhere. */
export function followers(file: DefinitionFile): Edges {
  const indexes = new Map(file.phases.map((phase, index) => [phase.id, index]))
  return file.phases.map((phase, index) => {
    const { pass, fail } = targetsOf(phase, file.phases[index + 1])
    return [...new Set([pass, fail])].flatMap((id) => indexes.get(id) ?? [])
  })
}

/** The phases that can be reached from the first. */
export function reachable(edges: Edges): Set<number> {
  return waysFrom(edges, 0).add(0)
}

/** True when a way leads from one phase to another (or back to itself), of one step at least. */
export function leadsTo(edges: Edges, from: number, to: number): boolean {
  return waysFrom(edges, from).has(to)
}

/** The phases that lie on a loop: those from which they can be reached again. */
export function phasesOnLoops(edges: Edges): Set<number> {
  return new Set([...edges.keys()].filter((index) => leadsTo(edges, index, index)))
}

/** Every phase to which a way of one step at least leads. */
function waysFrom(edges: Edges, start: number): Set<number> {
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
