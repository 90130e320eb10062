import type { Definition } from '../definition/definition.ts'
import { END } from '../definition/definition-limits.ts'
import { type PhaseStanding, phaseDetails, phaseStandings, waysOf } from './picture.ts'
import type { WorkflowState } from './state.ts'

/** A workflow as a Mermaid flowchart. Ids are plain words, and other names are escaped. */

const COLOURS: Readonly<Record<PhaseStanding, string>> = {
  done: 'fill:#d3f9d8,stroke:#2b8a3e',
  running: 'fill:#fff3bf,stroke:#e67700',
  failed: 'fill:#ffe3e3,stroke:#c92a2a',
  skipped: 'fill:#ffffff,stroke:#e67700,stroke-dasharray:4',
  waiting: 'fill:#f1f3f5,stroke:#868e96',
}

/** The lines of the diagram. With a state, the phases have the colours of their standing. */
export function mermaidLines(definition: Definition, state?: WorkflowState): string[] {
  const { phases } = definition
  // Two hyphens would begin an arrow, so such a phase is named by its number. No id begins with a digit.
  const node = (id: string): string =>
    id === END ? 'finish' : `p_${id.includes('--') ? phases.findIndex((phase) => phase.id === id) + 1 : id}`
  const lines = ['flowchart TD', `  start(( )) --> ${node(definition.phases[0].id)}`]
  for (const phase of definition.phases) {
    const { id } = phase
    lines.push(`  ${node(id)}["${[id, ...phaseDetails(phase)].map(asLabel).join('<br/>')}"]`)
    for (const [label, target] of waysOf(phase.next)) {
      lines.push(`  ${node(id)} ${label === undefined ? '-->' : `-- ${arrowLabel(label)} -->`} ${node(target)}`)
    }
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

/** The label of an arrow. Two plain words need no quotes. */
function arrowLabel(label: string): string {
  return label === 'pass' || label === 'fail' ? label : `"${asLabel(label)}"`
}
