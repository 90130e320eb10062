import { GRAPH_TEXT } from '../messages/runs.ts'
import type { Definition } from './definition.ts'
import { END } from './definition-limits.ts'
import { visitsOf, type WorkflowState } from './state.ts'

/** A workflow as a Mermaid flowchart. Ids are plain words, and other names are escaped. */

/** The standing of a phase in a run. */
export type PhaseStanding = 'done' | 'running' | 'failed' | 'waiting'

/** The standing of each phase, in the order of the definition. */
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

/** The lines of the diagram. With a state, the phases have the colours of their standing. */
export function mermaidLines(definition: Definition, state?: WorkflowState): string[] {
  const { phases } = definition
  // Two hyphens would begin an arrow, so such a phase is named by its number. No id begins with a digit.
  const node = (id: string): string =>
    id === END ? 'finish' : `p_${id.includes('--') ? phases.findIndex((phase) => phase.id === id) + 1 : id}`
  const lines = ['flowchart TD', `  start(( )) --> ${node(definition.phases[0].id)}`]
  for (const { id, artifact, steps, next } of definition.phases) {
    const details = [
      ...(artifact === undefined ? [] : [artifact]),
      ...(steps === undefined
        ? []
        : [steps.kind === 'list' ? GRAPH_TEXT.steps(steps.steps.length) : GRAPH_TEXT.stepsFrom(steps.artifact)]),
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

/** The text with Mermaid's escapes, so that it cannot end a label. */
function asLabel(text: string): string {
  return text.replace(/[^\w ./-]/gu, (character) => `#${Number(character.codePointAt(0))};`)
}
