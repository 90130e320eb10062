/** A world in memory for the workflow machine: a disk on which any write can fail, and an agent whose work depends on the attempt. */

import { announcedWait, parseWait, waitsLeft } from '../../src/core/wait.ts'
import { type AgentStop, judgeAgentStop } from '../../src/core/workflow/agent-stop.ts'
import { promptAgain, resumeState } from '../../src/core/workflow/control.ts'
import type { Definition } from '../../src/core/workflow/definition.ts'
import type { Effect, Observation } from '../../src/core/workflow/observation.ts'
import { currentPhase, isInStep, stepArchiveName } from '../../src/core/workflow/position.ts'
import { reconcile } from '../../src/core/workflow/reconcile.ts'
import { newState, visitsOf, type WorkflowState } from '../../src/core/workflow/state.ts'
import { formatState, isState, parseState } from '../../src/core/workflow/state-file.ts'
import { schemaFaults } from './json-schemas.ts'

/** The result of an agent's work on a prompt. */
export type Work = 'pass' | 'fail' | 'invalid' | 'nothing'

/** An agent: the same question always gets the same answer. */
export type Agent = (question: string) => Work

/** The error of a simulated crash. */
export class Crash extends Error {}

export interface World {
  state: WorkflowState
  /** Every prompt, in order: `phase#visit step attempt`. */
  readonly prompts: string[]
  /** The artifacts in the task folder, by name. */
  readonly artifacts: Map<string, Work>
  readonly archive: Map<string, Work>
  /** The number of disk calls so far. */
  calls: number
}

const NOW = 1_700_000_000_000
const UNKNOWN_SESSION = { nowMs: NOW, parentSession: undefined, hostSession: undefined }

/** A started run of a definition. `before`: artifacts that are already there. */
export function startWorld(definition: Definition, before: Readonly<Record<string, Work>> = {}): World {
  const state = newState(definition, { id: 'wf_1', ...UNKNOWN_SESSION })
  return { state: reread(state), prompts: [], artifacts: new Map(Object.entries(before)), archive: new Map(), calls: 0 }
}

/** The state after it was written to disk and read back. */
function reread(state: WorkflowState): WorkflowState {
  const text = formatState(state)
  const faults = schemaFaults('state.schema.json', JSON.parse(text))
  if (faults.length > 0) throw new Error(`the state is not as its schema says: ${faults.join('; ')}`)
  const read = parseState(text)
  if (!isState(read)) throw new Error(`the state cannot be read back: ${JSON.stringify(read)}`)
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
  let stepResult: Work | undefined
  let returned = false
  const disk = (action: () => void): void => {
    const fault = crashAt.get(world.calls)
    world.calls += 1
    if (fault === 'before') throw new Crash()
    action()
    if (fault === 'after') throw new Crash()
  }
  const observe = (state: WorkflowState, mayPrompt: boolean): Observation => {
    const phase = currentPhase(state)
    const made = phase.artifact === undefined ? undefined : world.artifacts.get(phase.artifact)
    const archived = world.archive.get(archivePath(state, stepArchiveName(firstStep(state))))
    const result = archived ?? stepResult
    return {
      nowMs: NOW,
      returned,
      mayPrompt,
      artifact:
        made === undefined || made === 'nothing'
          ? { kind: 'absent' }
          : made === 'invalid'
            ? { kind: 'invalid', why: 'it is invalid' }
            : { kind: 'valid', verdict: phase.next.verdict === undefined ? undefined : made },
      stepResults: [
        result === undefined || result === 'nothing'
          ? { kind: 'absent' }
          : result === 'invalid'
            ? { kind: 'invalid', why: 'no JSON', archived: archived !== undefined }
            : { kind: 'result', success: result === 'pass', archived: archived !== undefined },
      ],
      steps: takenSteps === undefined ? { kind: 'none', why: 'no list there' } : { kind: 'list', steps: takenSteps },
    }
  }
  const apply = (effect: Effect): void =>
    disk(() => {
      if (effect.kind === 'archive-step') {
        if (stepResult !== undefined) world.archive.set(`${effect.phase}#${effect.visit}/${effect.name}`, stepResult)
        stepResult = undefined
        return
      }
      if (effect.kind === 'tick') return
      const made = world.artifacts.get(effect.artifact)
      if (made !== undefined) world.archive.set(`${effect.phase}/${effect.visit}-${effect.artifact}`, made)
      world.artifacts.delete(effect.artifact)
    })
  const write = (state: WorkflowState): void =>
    disk(() => {
      world.state = reread(state)
    })
  const record = (): void => disk(() => {})
  const turn = (mayPrompt: boolean): boolean => {
    const { state, command } = reconcile(world.state, {
      observe: (seen) => observe(seen, mayPrompt),
      apply,
      record,
      isOutOfTime: () => false,
      write,
    })
    if (command !== 'prompt') return false
    const question = questionOf(state)
    world.prompts.push(question)
    const work = agent(question)
    if (isInStep(state)) stepResult = work === 'nothing' ? undefined : work
    else if (work !== 'nothing') world.artifacts.set(currentPhase(state).artifact ?? '', work)
    return true
  }
  for (let count = 0; world.state.active; count++) {
    if (count > maxTurns) throw new Error('the run does not end')
    try {
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

/** Another session resumes the run: first it observes what is there, then the last prompt goes out again. */
function recover(world: World, turn: (mayPrompt: boolean) => boolean, write: (state: WorkflowState) => void): void {
  for (let tries = 0; tries < 50; tries++) {
    try {
      if (!world.state.active) return
      write(
        resumeState(
          world.state,
          { parentSession: undefined, hostSession: 'another' },
          { nowMs: NOW, artifact: { kind: 'absent' } },
        ),
      )
      turn(false)
      if (world.state.active) write(promptAgain(world.state))
      return
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
  }
  throw new Error('every attempt to resume failed')
}

/** What happens between two turns of the main conversation. */
export type Incident = 'nothing' | 'interrupted' | 'shells' | 'wait' | 'helper stops' | 'held'

/** Runs to the end with stops as a host with hooks has them. Before the turn N (from 0) the incident N happens. */
export function runWithIncidents(
  world: World,
  agent: Agent,
  takenSteps: readonly string[] | undefined,
  incidents: readonly Incident[],
): World {
  let stepResult: Work | undefined
  let chain = 0
  for (let count = 0; world.state.active; count++) {
    if (count > 100_000) throw new Error('the run does not end')
    const incident = incidents[count] ?? 'nothing'
    const stop: AgentStop = {
      isMain: incident !== 'helper stops',
      isNext: incident !== 'helper stops' && incident !== 'held',
      promptId: `p${chain}`,
      followsBlock: true,
      shells: incident === 'shells' ? [`build ${count}`] : [],
      startMs: NOW,
    }
    if (incident === 'wait' && waitsLeft(world.state.wait, world.state.waits) !== 'no') {
      const { wait } = announcedWait('an answer', world.state.wait, world.state.waits)
      world.state = reread({ ...world.state, wait: parseWait(wait) })
    }
    if (incident === 'interrupted' || world.state.wait !== undefined) chain += 1
    const isNew = { ...stop, promptId: `p${chain}`, followsBlock: incident !== 'interrupted' }
    const { state: noted, looking, asks } = judgeAgentStop(world.state, incident === 'wait' ? stop : isNew, NOW)
    const { state, command } = reconcile(reread(noted), {
      observe: (seen) => ({ nowMs: NOW, ...looking, ...worksSeen(world, seen, stepResult, takenSteps) }),
      apply: (effect) => {
        if (effect.kind === 'archive-step') stepResult = undefined
        else world.artifacts.delete(effect.artifact)
      },
      record: () => {},
      write: () => {},
      isOutOfTime: () => false,
    })
    world.state = reread(asks && command === 'wait' ? { ...state, askedToWait: true } : state)
    if (command !== 'prompt') continue
    const question = questionOf(state)
    world.prompts.push(question)
    // An agent that is interrupted leaves nothing.
    if (incidents[count + 1] === 'interrupted') continue
    const work = agent(question)
    if (isInStep(state)) stepResult = work === 'nothing' ? undefined : work
    else if (work !== 'nothing') world.artifacts.set(currentPhase(state).artifact ?? '', work)
  }
  return world
}

function worksSeen(
  world: World,
  state: WorkflowState,
  result: Work | undefined,
  takenSteps: readonly string[] | undefined,
): Pick<Observation, 'artifact' | 'stepResults' | 'steps'> {
  const phase = currentPhase(state)
  const made = phase.artifact === undefined ? undefined : world.artifacts.get(phase.artifact)
  return {
    artifact:
      made === undefined || made === 'nothing'
        ? { kind: 'absent' }
        : made === 'invalid'
          ? { kind: 'invalid', why: 'it is invalid' }
          : { kind: 'valid', verdict: phase.next.verdict === undefined ? undefined : made },
    stepResults: [
      result === undefined || result === 'nothing'
        ? { kind: 'absent' }
        : result === 'invalid'
          ? { kind: 'invalid', why: 'no JSON', archived: false }
          : { kind: 'result', success: result === 'pass', archived: false },
    ],
    steps: takenSteps === undefined ? { kind: 'none', why: 'no list there' } : { kind: 'list', steps: takenSteps },
  }
}

/** The part of a prompt on which the agent's work depends. */
export function questionOf(state: WorkflowState): string {
  const phase = `${state.phase}#${visitsOf(state, state.phase)}`
  return isInStep(state)
    ? `${phase} step ${state.currentStep + 1} attempt ${state.stepAttempts + 1}`
    : `${phase} attempt ${state.phaseAttempts + 1}`
}

function archivePath(state: WorkflowState, name: string): string {
  return `${state.phase}#${visitsOf(state, state.phase)}/${name}`
}

/** The step whose result is looked for. */
function firstStep({ currentStep, stepAttempts }: WorkflowState): { step: number; attempts: number } {
  return { step: currentStep, attempts: stepAttempts }
}
