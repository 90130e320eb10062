import type { DuePrompt, DueWork } from '../../run/machine/prompt.ts'
import type { NextDocument, NextWork } from '../../views/documents/workflow/next.ts'

/** A prompt in the output of `--json`. */

const NO_WORK: NextWork = { step: null, attempt: null, prompt: null, agent: null, model: null, artifact: null }

/** A prompt that is due. Of several at once, each has its own fields, and the outer ones do not apply. */
export function dueData(due: DuePrompt): Pick<NextDocument, 'phase' | 'batch' | keyof NextWork> {
  const { phase, batch, prompt } = due
  return batch === undefined
    ? { phase, ...workData(due), batch: null }
    : { phase, ...NO_WORK, prompt, batch: batch.map(workData) }
}

/** The prompt for one agent. */
function workData({ step, attempt, prompt, agent, model, artifact }: DueWork): NextWork {
  return { step: step ?? null, attempt, prompt, agent: agent ?? null, model: model ?? null, artifact }
}
