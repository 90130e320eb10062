import type { DefinitionFile } from './definition-schema.ts'
import { followers, phasesOnLoops, targetsOf } from './graph.ts'

/** From a definition as it was written to the snapshot that a run keeps: every default filled in, prompts as text. */

const DEFAULT_ATTEMPTS = { strict: 3, advisory: 1 } as const
const DEFAULT_STEP_ATTEMPTS = 3
const DEFAULT_LOOP_VISITS = 3

/**
 * The snapshot of a definition that has no faults. `promptText` gives the text of a `prompt_file`.
 * What is undefined is left out of the state file.
 */
export function snapshotOf(file: DefinitionFile, promptText: (name: string) => string | undefined): object {
  const looping = phasesOnLoops(followers(file))
  const textOf = (text: string | undefined, name: string | undefined): string | undefined =>
    name === undefined ? text : promptText(name)
  return {
    name: file.name,
    phases: file.phases.map((phase, index) => {
      const gate = phase.gate ?? 'strict'
      const verdict = typeof phase.next === 'object' ? phase.next.verdict : undefined
      return {
        id: phase.id,
        prompt: textOf(phase.prompt, phase.prompt_file),
        artifact: phase.artifact,
        check: phase.check,
        gate,
        max_attempts: phase.max_attempts ?? DEFAULT_ATTEMPTS[gate],
        next: { ...targetsOf(phase, file.phases[index + 1]), verdict },
        max_visits: phase.max_visits ?? (looping.has(index) ? DEFAULT_LOOP_VISITS : 1),
        agent: phase.agent,
        model: phase.model,
        steps: Array.isArray(phase.steps) ? phase.steps.map(stepAsText) : phase.steps,
        step_prompt: textOf(phase.step_prompt, phase.step_prompt_file),
        max_step_attempts: phase.max_step_attempts ?? DEFAULT_STEP_ATTEMPTS,
        on_exhausted: phase.on_exhausted ?? 'skip',
      }
    }),
  }
}

/** A step as a prompt shows it: its text, or what it holds as JSON. */
export function stepAsText(step: unknown): string {
  return typeof step === 'string' ? step : JSON.stringify(step)
}
