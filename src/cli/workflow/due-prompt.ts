import * as z from 'zod/mini'
import { approval, listed, quote } from '../../kernel/text.ts'
import type { DuePrompt, DueWork } from '../../run/machine/prompt.ts'
import * as field from '../../views/documents.ts'

const workFields = () => ({
  step: field.optionalCount('Its step, from 1.'),
  attempt: field.optionalCount('Its attempt, from 1.'),
  prompt: field.optionalText('The text for the agent.'),
  agent: field.optionalText('The type of the agent to run it.'),
  model: field.optionalText('The model to run it.'),
  artifact: field.optionalText('The file that the agent must write, as a path in the task folder.'),
})

export const dueFields = () => ({
  phase: field.optionalText('The phase of the prompt.'),
  ...workFields(),
  batch: z.nullable(z.array(z.strictObject(workFields()))).register(z.globalRegistry, {
    description:
      'The prompts of several steps at once: each for an agent of its own. Then `prompt` contains all of them.',
  }),
})

type NextWork = field.DocumentOf<() => z.ZodMiniObject<ReturnType<typeof workFields>, z.core.$strict>>
type DueData = field.DocumentOf<() => z.ZodMiniObject<ReturnType<typeof dueFields>, z.core.$strict>>

const NO_WORK: NextWork = { step: null, attempt: null, prompt: null, agent: null, model: null, artifact: null }

export function dueData(due: DuePrompt): DueData {
  const { phase, batch, prompt } = due
  return batch === undefined
    ? { phase, ...workData(due), batch: null }
    : { phase, ...NO_WORK, prompt, batch: batch.map(workData) }
}

function workData({ step, attempt, prompt, agent, model, artifact }: DueWork): NextWork {
  return { step: step ?? null, attempt, prompt, agent: agent ?? null, model: model ?? null, artifact }
}

export const NEXT_TEXT = {
  prompt: (phase: string, step: number | undefined, attempt: number): string =>
    `prompt: phase ${phase}${step === undefined ? '' : `, step ${step}`}, attempt ${attempt}`,
  batch: (phase: string, steps: readonly number[]): string =>
    `prompt: phase ${phase}, steps ${listed(steps)} at the same time`,
  agent: (agent: string): string => `agent: ${quote(agent, 200)}`,
  model: (model: string): string => `model: ${quote(model, 200)}`,
  wait: (why: string): string => `wait: ${why}`,
  nothingToDo: 'nothing to do now',
  awaitsApproval: (phase: string, file: string, approve: string, reject: string): string =>
    `a person must approve the result of phase ${phase}: ${approval(file, approve, reject)}`,
  finish: (outcome: string, why: string | undefined): string =>
    `finish: ${outcome}${why === undefined ? '' : ` (${quote(why, 500)})`}`,
} as const
