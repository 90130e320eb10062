/** A world in memory for the workflow machine: a disk on which any write can fail, and an agent whose work depends on the attempt. */

import type { Definition } from '../../src/run/definition/definition.ts'
import { reconcile } from '../../src/run/machine/machine.ts'
import { type Effect, type Observation, type StepResultSeen, stepFolder } from '../../src/run/machine/observation.ts'
import {
  currentPhase,
  isInStep,
  needsApproval,
  stepArchiveName,
  stepResultFile,
  stepsOut,
  withBatch,
} from '../../src/run/machine/position.ts'
import { newState, visitsOf, type WorkflowState } from '../../src/run/machine/state.ts'
import { formatState, isState, parseState } from '../../src/run/machine/state-file.ts'
import { approveState, promptAgain, resumeState } from '../../src/run/machine/steering.ts'
import { schemaFaults } from './json-schemas.ts'

export type Work = 'pass' | 'fail' | 'invalid' | 'nothing'

/** An agent: the same question always gets the same answer. */
export type Agent = (question: string) => Work

export class Crash extends Error {}

export interface World {
  state: WorkflowState
  /** Every prompt, in order: `phase#visit step attempt`. */
  readonly prompts: string[]
  /** The artifacts in the task folder, by name. */
  readonly artifacts: Map<string, Work>
  /** The step results in the task folder, by name. */
  readonly results: Map<string, Work>
  readonly archive: Map<string, Work>
  /** The result that another run left under every name in the archive. */
  readonly foreign?: Work
  /** The number of disk calls so far. */
  calls: number
}

const NOW = 1_700_000_000_000
const UNKNOWN_SESSION = { nowMs: NOW, parentSession: undefined, hostSession: undefined }

/** A started run of a definition. `before`: artifacts that are already there. */
export function startWorld(definition: Definition, before: Readonly<Record<string, Work>> = {}): World {
  const state = newState(definition, { id: 'wf_1', ...UNKNOWN_SESSION })
  const artifacts = new Map(Object.entries(before))
  return { state: reread(state), prompts: [], artifacts, results: new Map(), archive: new Map(), calls: 0 }
}

/** The texts that were read, newest last. Runs that crash at one place after another write the same texts again and again. */
const readTexts = new Map<string, WorkflowState>()

/** The state after it was written to disk and read back. */
export function reread(state: WorkflowState): WorkflowState {
  const text = formatState(state)
  const known = readTexts.get(text)
  if (known !== undefined) return known
  const faults = schemaFaults('state.schema.json', JSON.parse(text))
  if (faults.length > 0) throw new Error(`the state is not as its schema says: ${faults.join('; ')}`)
  const read = parseState(text)
  if (!isState(read)) throw new Error(`the state cannot be read back: ${JSON.stringify(read)}`)
  if (formatState(read) !== text) throw new Error('the state is read back as another one')
  if (readTexts.size === 2_000) readTexts.clear()
  readTexts.set(text, read)
  return read
}

/** Runs to the end. `crashAt`: disk calls (counted from 0) before or after which the process crashes. */
export function runWorld(
  world: World,
  agent: Agent,
  takenSteps: readonly string[] | undefined,
  crashAt: ReadonlyMap<number, 'before' | 'after'> = new Map(),
  maxTurns = 100_000,
): World {
  let returned = false
  const disk = (action: () => void): void => {
    const fault = crashAt.get(world.calls)
    world.calls += 1
    if (fault === 'before') throw new Crash()
    action()
    if (fault === 'after') throw new Crash()
  }
  const observe = (state: WorkflowState, mayPrompt: boolean): Observation => ({
    ...{ nowMs: NOW, task: '7', returned, mayPrompt },
    ...worksSeen(world, state, takenSteps),
  })
  const apply = (effect: Effect): void => disk(() => applyTo(world, effect))
  const write = (state: WorkflowState): void =>
    disk(() => {
      world.state = reread(state)
    })
  const turn = (mayPrompt: boolean): boolean => {
    const { command } = reconcile(world.state, { observe: (seen) => observe(seen, mayPrompt), apply, write })
    if (command !== 'prompt') return false
    answer(world, agent)
    return true
  }
  for (let count = 0; world.state.active; count++) {
    if (count > maxTurns) throw new Error('the run does not end')
    try {
      if (needsApproval(world.state)) world.state = approved(world.state)
      turn(true)
      returned = true
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      returned = false
      recover(world, turn, write)
    }
  }
  return world
}

/** Another session resumes the run: first it observes the files, then the last prompt goes out again. */
function recover(world: World, turn: (mayPrompt: boolean) => boolean, write: (state: WorkflowState) => void): void {
  for (let tries = 0; tries < 50; tries++) {
    try {
      if (!world.state.active) return
      const session = { parentSession: undefined, hostSession: 'another' }
      write(resumeState(world.state, session, { nowMs: NOW, artifact: { kind: 'absent' } }))
      turn(false)
      if (world.state.active) write(promptAgain(world.state))
      return
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
  }
  throw new Error('every attempt to resume failed')
}

/** The state after a person approved the artifact. */
export const approved = (state: WorkflowState): WorkflowState => approveState(state, undefined, NOW)

/** Notes the prompt of the world's state, and stores the agent's result for it. */
export function answer(world: World, agent: Agent): void {
  const { state } = world
  for (const { question, file } of questionsOf(state)) {
    world.prompts.push(question)
    const work = agent(question)
    if (work !== 'nothing') (isInStep(state) ? world.results : world.artifacts).set(file, work)
  }
}

export function applyTo(world: World, effect: Effect): void {
  if (effect.kind === 'tick') return
  const files = effect.kind === 'archive-step' ? world.results : world.artifacts
  const work = files.get(effect.file)
  if (work !== undefined) world.archive.set(`${effect.folder}/${effect.name}`, work)
  files.delete(effect.file)
}

export function worksSeen(
  world: World,
  state: WorkflowState,
  takenSteps: readonly string[] | undefined,
): Pick<Observation, 'artifact' | 'stepResults' | 'strayResults' | 'steps'> {
  const phase = currentPhase(state)
  const made = (phase.artifact !== undefined && world.artifacts.get(phase.artifact)) || 'nothing'
  const inWork = isInStep(state) ? withBatch(state, phase).inWork : []
  const wanted = inWork.map(({ step }) => stepResultFile(phase, step))
  return {
    artifact: artifactSeen(state, made),
    stepResults: inWork.map((step): StepResultSeen => {
      const name = stepArchiveName(step)
      const left = world.results.get(stepResultFile(phase, step.step))
      const moved = world.archive.get(`${stepFolder(state)}/${name}`) ?? world.foreign
      const archived = left === undefined && state.archiving.includes(name) ? moved : undefined
      const result = archived ?? left
      if (result === undefined || result === 'nothing') return { kind: 'absent' }
      if (result === 'invalid') return { kind: 'invalid', why: 'no JSON', archived: archived !== undefined }
      return { kind: 'result', success: result === 'pass', archived: archived !== undefined }
    }),
    strayResults: phase.parallel === 1 ? [] : [...world.results.keys()].filter((file) => !wanted.includes(file)).sort(),
    steps: takenSteps === undefined ? { kind: 'none', fix: 'no list there' } : { kind: 'list', steps: takenSteps },
  }
}

function artifactSeen(state: WorkflowState, made: Work): Observation['artifact'] {
  if (made === 'nothing') return { kind: 'absent' }
  if (made === 'invalid') return { kind: 'invalid', why: 'it is invalid' }
  return { kind: 'valid', verdict: verdictIn(state, made) }
}

function verdictIn(state: WorkflowState, made: Work): string | undefined {
  const { next } = currentPhase(state)
  if (next.verdict === undefined) return undefined
  return next.cases === undefined
    ? made
    : (Object.keys(next.cases)[made === 'pass' ? 0 : 1] ?? Object.keys(next.cases)[0])
}

/** The parts of a prompt on which the agent's work depends, and the file that it leaves for each. */
function questionsOf(state: WorkflowState): { question: string; file: string }[] {
  const phase = currentPhase(state)
  const name = `${state.phase}#${visitsOf(state, state.phase)}`
  if (!isInStep(state)) {
    return [{ question: `${name} attempt ${state.phaseAttempts + 1}`, file: phase.artifact ?? '' }]
  }
  return stepsOut(state).map(({ step, attempts }) => ({
    question: `${name} step ${step + 1} attempt ${attempts + 1}`,
    file: stepResultFile(phase, step),
  }))
}
