import * as z from 'zod/mini'
import { STANDING_WORDS } from '../report/report-messages.ts'
import type { DocumentOf } from './document.ts'
import { count, optionalText, task, text } from './parts.ts'

const standing = z.enum(Object.keys(STANDING_WORDS) as (keyof typeof STANDING_WORDS)[])
const events = z.array(z.strictObject({ time: text('ISO 8601.'), words: text('What happened.') }))
const span = {
  standing,
  started_at: text('ISO 8601.'),
  ended_at: text('ISO 8601. The time of the report if it has not ended.'),
}

const promise = z.strictObject({
  id: optionalText("The marker's id."),
  ...span,
  blocks: count('The number of stops that it blocked.'),
  waits: count('The number of times that its agent waited.'),
  events,
})

const run = z.strictObject({
  name: text('Name of the workflow.'),
  ...span,
  prompts: count('The number of prompts sent.'),
  phases: z.array(
    z.strictObject({
      id: text("The phase's id."),
      standing: z.enum(['done', 'running', 'failed', 'skipped', 'waiting']),
      visits: count('The number of times it was entered.'),
      prompts: count('The number of prompts sent in it.'),
      duration_ms: count('The time that the run worked on it, in ms: not while it is stopped or waits for approval.'),
      steps: count('The number of steps of its last visit.'),
    }),
  ),
  events,
})

/** `postflight report --json`. */
export const REPORT_DOCUMENT = z.strictObject({
  root: text('The folder that holds specs/.'),
  file: optionalText('The page that was written.'),
  tasks: z.array(z.strictObject({ task, promises: z.array(promise), runs: z.array(run) })),
})

export type ReportDocument = DocumentOf<typeof REPORT_DOCUMENT>
