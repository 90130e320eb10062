/** Helpers for `examples/four-phases.yaml` on a real client: the place of each prompt, and the work that it asks for. */

import { readFileSync } from 'node:fs'
import { promptPlace } from './agents.ts'

export const TASK = '007_flow'
export const IN_TASK = `specs/${TASK}`

export const FOUR_PHASES = readFileSync(new URL('../../examples/four-phases.yaml', import.meta.url), 'utf8')

/** The place of a prompt in the run: `plan 1`, `execute step 2 1`; undefined for other texts. */
export function placeOf(text: string): string | undefined {
  return promptPlace(text, 'four phases')
}

export function leave(name: string, text: string): string {
  return `printf '%s' '${text}' > ${IN_TASK}/${name}`
}

/** The command that does the work of each prompt, by the prompt's place, in the order of the run. */
export const WORK: Readonly<Record<string, string>> = {
  'analyse 1': leave('analysis.json', '{}'),
  'plan 1': leave('plan.json', '{"steps": ["first", "second", "third"]}'),
  'execute step 1 1': leave('step-result.json', '{"success": true}'),
  'execute step 2 1': leave('step-result.json', '{"success": false, "summary": "no luck"}'),
  'execute step 2 2': leave('step-result.json', '{"success": true}'),
  'execute step 3 1': leave('step-result.json', '{"success": false}'),
  'execute step 3 2': leave('step-result.json', '{"success": false}'),
  'execute step 3 3': leave('step-result.json', '{"success": false}'),
  'report 1': leave('report.md', 'All was done but the third step, which failed three times.'),
}
