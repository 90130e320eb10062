import type { Definition } from './definition.ts'
import { END } from './definition-limits.ts'
import { visitsOf, type WorkflowState } from './state.ts'

/** A workflow as a Mermaid flowchart. Ids are plain words by then; names are put in as text that Mermaid cannot read as syntax. */

/** How a phase stands in a run. */
export type PhaseStanding = 'done' | 'running' | 'failed' | 'waiting'

/** How each phase stands, in the definition's order. */
export function phaseStandings(state: WorkflowState): PhaseStanding[] {
  return state.definition.phases.map((phase) => {
    if (phase.id === state.phase) {
      if (state.active) return 'running'
      return state.outcome === 'completed' ? 'done' : state.outcome === 'stopped' ? 'waiting' : 'failed'
    }
    return visitsOf(state, phase.id) > 0 ? 'done' : 'waiting'
  })
}

const COLOURS: Readonly<Record<PhaseStanding, string>> = {
  done: 'fill:#d3f9d8,stroke:#2b8a3e',
  running: 'fill:#fff3bf,stroke:#e67700',
  failed: 'fill:#ffe3e3,stroke:#c92a2a',
  waiting: 'fill:#f1f3f5,stroke:#868e96',
}

/** The lines of the diagram; with a state, in its colours. */
export function mermaidLines(definition: Definition, state?: WorkflowState): string[] {
  const { phases } = definition
  // Two hyphens would begin an arrow: such a phase is called by its number, which no id begins with.
  const node = (id: string): string =>
    id === END ? 'finish' : `p_${id.includes('--') ? phases.findIndex((phase) => phase.id === id) + 1 : id}`
  const lines = ['flowchart TD', `  start(( )) --> ${node(definition.phases[0].id)}`]
  for (const { id, artifact, steps, next } of definition.phases) {
    const details = [
      ...(artifact === undefined ? [] : [artifact]),
      ...(steps === undefined
        ? []
        : [steps.kind === 'list' ? stepCount(steps.steps.length) : `steps from ${steps.artifact}`]),
    ]
    lines.push(`  ${node(id)}["${[id, ...details].map(asLabel).join('<br/>')}"]`)
    if (next.verdict === undefined) lines.push(`  ${node(id)} --> ${node(next.pass)}`)
    else lines.push(`  ${node(id)} -- pass --> ${node(next.pass)}`, `  ${node(id)} -- fail --> ${node(next.fail)}`)
  }
  lines.push(`  finish(("${state?.outcome ?? END}"))`)
  if (state === undefined) return lines
  const standings = phaseStandings(state)
  for (const [name, style] of Object.entries(COLOURS)) lines.push(`  classDef ${name} ${style}`)
  for (const [index, phase] of definition.phases.entries()) lines.push(`  class ${node(phase.id)} ${standings[index]}`)
  return lines
}

function stepCount(count: number): string {
  return count === 1 ? '1 step' : `${count} steps`
}

/** Mermaid's own escapes, so that no name ends a label. */
function asLabel(text: string): string {
  return text.replace(/[^\w ./-]/gu, (character) => `#${Number(character.codePointAt(0))};`)
}
