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

export type Answer = 'nothing' | { readonly verdict: string }

export function answering(script: Script): (phase: Phase, work: Pick<DueWork, 'step'>) => Answer {
  const asked = new Map<string, number>()
  return (phase, { step }) => {
    const name = step === undefined ? phase.id : `${phase.id}/${step}`
    const count = asked.get(name) ?? 0
    asked.set(name, count + 1)
    const fails = count < (script.failures.get(name) ?? 0)
    const { verdict, cases } = phase.next
    const passesOrFails = step !== undefined || (verdict !== undefined && cases === undefined)
    if (passesOrFails) return { verdict: fails ? 'fail' : 'pass' }
    return fails ? 'nothing' : { verdict: script.cases.get(phase.id) ?? Object.keys(cases ?? {})[0] ?? 'pass' }
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
  const history: HistoryEntry[] = [...state.history]
  const world = new SimulatedFolder(definition, script, location.task)
  const answer = answering(script)
  const record = ({ history: last, sequence }: WorkflowState): void => {
    const known = history.at(-1)?.n ?? 0
    if (sequence > known) history.push(...last.filter(({ n }) => n > known))
  }
  while (prompts.length < most) {
    const { state: next, command } = reconcile(state, {
      observe: (seen) => world.observe(seen),
      apply: (effect) => (effect.kind === 'tick' ? world.tick(effect) : world.archive(effect)),
      record,
      write: record,
      isOutOfTime: () => false,
    })
    state = next
    if (command === 'prompt') {
      const due = duePrompt(state, location)
      prompts.push(due)
      const phase = currentPhase(state)
      for (const work of due.batch ?? [due]) world.leave(work.artifact, answer(phase, work))
    } else if (needsApproval(state)) state = approveState(state, undefined, NOW_MS)
    else break
  }
  record(state)
  return { state, prompts, history }
}

class SimulatedFolder {
  readonly #files = new Map<string, string>()
  readonly #script: Script
  readonly #task: string
  readonly #ticked = new Map<string, Set<number>>()
  /** Steps can be read only after these were made. */
  readonly #made: ReadonlySet<string>
  #previous: string | undefined

  constructor({ phases }: Definition, script: Script, task: string) {
    this.#task = task
    this.#script = script
    this.#made = new Set(phases.flatMap(({ artifact }) => artifact ?? []))
  }

  leave(file: string, answer: Answer): void {
    if (answer === 'nothing') return
    this.#files.set(file, answer.verdict)
    // A rewritten checklist has new tasks.
    this.#ticked.delete(file)
  }

  tick({ artifact, item }: Extract<Effect, { readonly kind: 'tick' }>): void {
    const ticked = this.#ticked.get(artifact) ?? new Set()
    this.#ticked.set(artifact, ticked.add(item.item))
  }

  archive({ file, folder, name }: Exclude<Effect, { readonly kind: 'tick' }>): void {
    if (this.#files.delete(file)) this.#previous = `${folder}/${name}`
  }

  observe(state: WorkflowState): Observation {
    const phase = currentPhase(state)
    const verdict = phase.artifact === undefined ? undefined : this.#files.get(phase.artifact)
    return {
      nowMs: NOW_MS,
      task: this.#task,
      returned: true,
      mayPrompt: true,
      artifact:
        verdict === undefined
          ? { kind: 'absent' }
          : { kind: 'valid', verdict: phase.next.verdict === undefined ? undefined : verdict },
      stepResults: withBatch(state, phase).inWork.map(({ step }) => {
        const left = this.#files.get(stepResultFile(phase, step))
        return left === undefined ? { kind: 'absent' } : { kind: 'result', success: left === 'pass', archived: false }
      }),
      steps: this.#steps(phase),
      previousArtifact: this.#previousOf(phase),
    }
  }

  #steps(phase: Phase): StepsSeen | undefined {
    if (phase.steps === undefined || phase.steps.kind === 'list') return undefined
    const { artifact } = phase.steps
    if (this.#made.has(artifact) && !this.#files.has(artifact)) return noStepsFile(artifact)
    const ticked = this.#ticked.get(artifact)
    const steps = simulatedSteps(this.#script, phase)
    return { kind: 'list', steps: steps.filter((_step, item) => ticked?.has(item) !== true) }
  }

  #previousOf({ id }: Phase): string | undefined {
    return this.#previous?.startsWith(`artifacts/${id}/`) === true ? this.#previous : undefined
  }
}
