import { counted } from '../../kernel/text.ts'
import type { Definition } from '../definition/definition.ts'
import { END } from '../definition/definition-limits.ts'
import type { Next, Phase } from '../definition/phase-fields.ts'
import { needOf } from './position.ts'
import { visitsOf, type WorkflowState } from './state.ts'
import type { RunOutcome } from './state-fields.ts'
import { aheadOf } from './steering.ts'

export type RunStatus = RunOutcome | 'running' | 'waiting' | 'skipped'

/** `skipped`: completed with skips. */
export function shownStatus(state: WorkflowState): RunStatus {
  const { active, outcome, skips } = state
  if (active) return ['approval', 'wait'].includes(needOf(state).kind) ? 'waiting' : 'running'
  return outcome === 'completed' && skips > 0 ? 'skipped' : (outcome ?? 'stopped')
}

export type PhaseStatus = 'done' | 'running' | 'failed' | 'skipped' | 'waiting'

export function phaseStatuses(state: WorkflowState): PhaseStatus[] {
  const isAhead = aheadOf(state)
  return state.definition.phases.map((phase) => {
    if (phase.id === state.phase) {
      if (state.active) return 'running'
      if (state.outcome === 'completed') return 'done'
      return state.outcome === 'stopped' || state.outcome === 'moved' ? 'waiting' : 'failed'
    }
    const left = Object.hasOwn(state.unfinished, phase.id) ? state.unfinished[phase.id] : undefined
    if (left !== undefined) return left === 'skipped' ? 'skipped' : 'waiting'
    return visitsOf(state, phase.id) > 0 && !isAhead(phase.id) ? 'done' : 'waiting'
  })
}

export function phaseDetails({ artifact, steps, parallel, approve }: Phase): string[] {
  const work = steps?.kind === 'list' ? counted(steps.steps.length, 'step') : steps && `steps from ${steps.artifact}`
  const details = [artifact, work, parallel > 1 && `${parallel} at once`, approve && 'needs approval']
  return details.filter((detail) => typeof detail === 'string')
}

export function waysOf({ verdict, pass, fail, cases, otherwise }: Next): [string | undefined, string][] {
  if (verdict === undefined) return [[undefined, pass]]
  const ways = Object.entries(cases ?? { pass, fail })
  return otherwise === undefined ? ways : [...ways, ['any other', otherwise]]
}

const COLOURS: Readonly<Record<PhaseStatus, string>> = {
  done: 'fill:#d3f9d8,stroke:#2b8a3e',
  running: 'fill:#fff3bf,stroke:#e67700',
  failed: 'fill:#ffe3e3,stroke:#c92a2a',
  skipped: 'fill:#ffffff,stroke:#e67700,stroke-dasharray:4',
  waiting: 'fill:#f1f3f5,stroke:#868e96',
}

export function mermaidLines(definition: Definition, state?: WorkflowState): string[] {
  const { phases } = definition
  // Two hyphens would begin an arrow, so the phase is named by its number. No id begins with a digit.
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
  const statuses = phaseStatuses(state)
  for (const [name, style] of Object.entries(COLOURS)) lines.push(`  classDef ${name} ${style}`)
  for (const [index, phase] of definition.phases.entries()) lines.push(`  class ${node(phase.id)} ${statuses[index]}`)
  return lines
}

/** Escapes text, so that it cannot end a label. */
function asLabel(text: string): string {
  return text.replace(/[^\w ./-]/gu, (character) => `#${Number(character.codePointAt(0))};`)
}

/** Two plain words need no quotes. Mermaid (11.17.2) cannot parse an empty label. */
function arrowLabel(label: string): string {
  return label === 'pass' || label === 'fail' ? label : `"${asLabel(label) || ' '}"`
}
