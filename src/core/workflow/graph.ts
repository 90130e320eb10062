import { END } from './definition.ts'
import type { DefinitionFile, PhaseFile } from './schema.ts'

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
  return closure(edges, [0])
}

/** True when a way leads from one phase to another (or back to itself), of one step at least. */
export function leadsTo(edges: Edges, from: number, to: number): boolean {
  return closure(edges, edges[from] ?? []).has(to)
}

function closure(edges: Edges, starts: readonly number[]): Set<number> {
  const reached = new Set<number>(starts)
  for (const index of reached) {
    for (const next of edges[index] ?? []) reached.add(next)
  }
  return reached
}

/** The phases that lie on a loop: those from which they can be reached again (Tarjan's components, without recursion). */
export function phasesOnLoops(edges: Edges): Set<number> {
  const order = new Array<number>(edges.length).fill(-1)
  const low = new Array<number>(edges.length).fill(0)
  const open: number[] = []
  const isOpen = new Set<number>()
  const looping = new Set<number>()
  let count = 0
  const visit = (index: number): { index: number; at: number } => {
    order[index] = count
    low[index] = count
    count += 1
    open.push(index)
    isOpen.add(index)
    return { index, at: 0 }
  }
  for (let root = 0; root < edges.length; root++) {
    if (order[root] !== -1) continue
    const stack = [visit(root)]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = edges[top.index]?.[top.at]
      if (next !== undefined) {
        top.at += 1
        if (order[next] === -1) stack.push(visit(next))
        else if (isOpen.has(next)) low[top.index] = Math.min(low[top.index] ?? 0, order[next] ?? 0)
        continue
      }
      stack.pop()
      const parent = stack.at(-1)
      if (parent !== undefined) low[parent.index] = Math.min(low[parent.index] ?? 0, low[top.index] ?? 0)
      if (low[top.index] === order[top.index]) close(top.index)
    }
  }
  return looping

  function close(index: number): void {
    const members = open.splice(open.indexOf(index))
    for (const member of members) {
      isOpen.delete(member)
      if (members.length > 1 || edges[member]?.includes(member)) looping.add(member)
    }
  }
}
