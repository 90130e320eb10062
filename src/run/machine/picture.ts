import type { Next } from '../definition/next.ts'
import type { Phase, StepSource } from '../definition/phase-fields.ts'
import { GRAPH_TEXT } from '../run-messages.ts'
import { visitsOf, type WorkflowState } from './state.ts'

/** The parts of every picture of a workflow: a Mermaid diagram, the report's drawing, the lines of `workflow status`. */

/** The standing of a phase in a run. */
export type PhaseStanding = 'done' | 'running' | 'failed' | 'skipped' | 'waiting'

/** The standing of each phase, in the order of the definition. */
export function phaseStandings(state: WorkflowState): PhaseStanding[] {
  return state.definition.phases.map((phase) => {
    if (phase.id === state.phase) {
      if (state.active) return 'running'
      return state.outcome === 'completed' ? 'done' : state.outcome === 'stopped' ? 'waiting' : 'failed'
    }
    const left = Object.hasOwn(state.unfinished, phase.id) ? state.unfinished[phase.id] : undefined
    if (left !== undefined) return left === 'skipped' ? 'skipped' : 'waiting'
    return visitsOf(state, phase.id) > 0 ? 'done' : 'waiting'
  })
}

/** What a drawing says about a phase, beside its name. */
export function phaseDetails({ artifact, steps, parallel, approve }: Phase): string[] {
  return [
    ...(artifact === undefined ? [] : [artifact]),
    ...(steps === undefined ? [] : [stepsLabel(steps)]),
    ...(parallel === 1 ? [] : [GRAPH_TEXT.atOnce(parallel)]),
    ...(approve ? [GRAPH_TEXT.approval] : []),
  ]
}

function stepsLabel(steps: StepSource): string {
  return steps.kind === 'list' ? GRAPH_TEXT.steps(steps.steps.length) : GRAPH_TEXT.stepsFrom(steps.artifact)
}

/** The ways out of a phase: a label where there are several, and the target. */
export function waysOf({ verdict, pass, fail, cases, otherwise }: Next): [string | undefined, string][] {
  if (verdict === undefined) return [[undefined, pass]]
  if (cases === undefined)
    return [
      ['pass', pass],
      ['fail', fail],
    ]
  const ways = Object.entries(cases).map(([name, target]): [string, string] => [name, target])
  return otherwise === undefined ? ways : [...ways, [GRAPH_TEXT.otherwise, otherwise]]
}
