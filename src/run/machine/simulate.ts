import { ARTIFACTS_FOLDER } from '../../kernel/files.ts'
import type { Definition } from '../definition/definition.ts'
import type { Phase } from '../definition/phase-fields.ts'
import type { Step } from '../definition/steps.ts'
import { reconcile } from './machine.ts'
import { type Effect, noStepsFile, type Observation, type StepsSeen } from './observation.ts'
import { currentPhase, needsApproval, stepResultFile, withBatch } from './position.ts'
import { type DuePrompt, type DueWork, duePrompt, type TaskLocation } from './prompt.ts'
import { newState, type WorkflowState } from './state.ts'
import type { HistoryEntry } from './state-fields.ts'
import { approveState } from './steering.ts'

/** Runs a definition with scripted outcomes, without files. */

export interface Script {
  /** How many first attempts fail, by phase id or `id/3` for a step. */
  readonly failures: ReadonlyMap<string, number>
  /** Default: the first case. */
  readonly cases: ReadonlyMap<string, string>
  readonly steps: ReadonlyMap<string, number>
}

const STEPS_FROM_FILE = 3
const MAX_SIMULATED = 10_000
const NOW_MS = 0

/** The verdict that the agent leaves, if any. */
export function answering(script: Script) {
  const asked = new Map<string, number>()
  return (phase: Phase, { step }: Pick<DueWork, 'step'>): string | undefined => {
    const name = step === undefined ? phase.id : `${phase.id}/${step}`
    const count = asked.get(name) ?? 0
    asked.set(name, count + 1)
    const fails = count < (script.failures.get(name) ?? 0)
    const { verdict, cases } = phase.next
    const passesOrFails = step !== undefined || (verdict !== undefined && cases === undefined)
    if (passesOrFails) return fails ? 'fail' : 'pass'
    return fails ? undefined : (script.cases.get(phase.id) ?? Object.keys(cases ?? {})[0] ?? 'pass')
  }
}

export function simulatedStepCount(script: Pick<Script, 'steps'>, { id, steps }: Phase): number {
  if (steps?.kind === 'list') return steps.steps.length
  return steps === undefined ? 0 : (script.steps.get(id) ?? STEPS_FROM_FILE)
}

export function simulatedSteps(script: Script, phase: Phase): Step[] {
  const length = simulatedStepCount(script, phase)
  return Array.from({ length }, (_, item) =>
    phase.steps?.kind === 'checklist' ? { text: `step ${item + 1}`, item } : `step ${item + 1}`,
  )
}

export function simulate(
  definition: Definition,
  script: Script,
  location: TaskLocation,
  inputs: Readonly<Record<string, string>>,
  most = MAX_SIMULATED,
) {
  const sessions = { parentSession: undefined, hostSession: undefined }
  let state = newState(definition, { id: 'simulated', nowMs: NOW_MS, ...sessions, inputs })
  const prompts: DuePrompt[] = []
  const history: HistoryEntry[] = []
  const { leave, ...world } = simulatedFolder(definition, script, location.task)
  const answer = answering(script)
  while (prompts.length < most) {
    const { state: next, command } = reconcile(state, {
      ...world,
      write: ({ history: last }) => history.push(...last.filter(({ n }) => n > (history.at(-1)?.n ?? 0))),
    })
    state = next
    if (command === 'prompt') {
      const due = duePrompt(state, location)
      prompts.push(due)
      const phase = currentPhase(state)
      for (const work of due.batch ?? [due]) leave(work.artifact, answer(phase, work))
    } else if (needsApproval(state)) state = approveState(state, undefined, NOW_MS)
    else break
  }
  return { state, prompts, history }
}

function simulatedFolder({ phases }: Definition, script: Script, task: string) {
  const files = new Map<string, string>()
  const ticked = new Map<string, Set<number>>()
  /** Steps can be read only after these were made. */
  const made = new Set(phases.flatMap(({ artifact }) => artifact ?? []))
  let previous: string | undefined

  const seeSteps = (phase: Phase): StepsSeen | undefined => {
    if (phase.steps === undefined || phase.steps.kind === 'list') return undefined
    const { artifact } = phase.steps
    if (made.has(artifact) && !files.has(artifact)) return noStepsFile(artifact)
    const steps = simulatedSteps(script, phase)
    return { kind: 'list', steps: steps.filter((_step, item) => ticked.get(artifact)?.has(item) !== true) }
  }

  return {
    leave(file: string, verdict: string | undefined): void {
      if (verdict === undefined) return
      files.set(file, verdict)
      // A rewritten checklist has new tasks.
      ticked.delete(file)
    },
    apply(effect: Effect): void {
      if (effect.kind !== 'tick') {
        if (files.delete(effect.file)) previous = `${effect.folder}/${effect.name}`
        return
      }
      ticked.set(effect.artifact, (ticked.get(effect.artifact) ?? new Set()).add(effect.item.item))
    },
    observe(state: WorkflowState): Observation {
      const phase = currentPhase(state)
      const verdict = files.get(phase.artifact ?? '')
      return {
        nowMs: NOW_MS,
        task,
        returned: true,
        mayPrompt: true,
        artifact:
          verdict === undefined
            ? { kind: 'absent' }
            : { kind: 'valid', verdict: phase.next.verdict === undefined ? undefined : verdict },
        stepResults: withBatch(state, phase).inWork.map(({ step }) => {
          const left = files.get(stepResultFile(phase, step))
          return left === undefined ? { kind: 'absent' } : { kind: 'result', success: left === 'pass', archived: false }
        }),
        steps: seeSteps(phase),
        previousArtifact: previous?.startsWith(`${ARTIFACTS_FOLDER}/${phase.id}/`) === true ? previous : undefined,
      }
    },
  }
}
