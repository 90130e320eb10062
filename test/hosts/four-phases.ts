/** `examples/four-phases.yaml` on a real client: where each prompt is, and the work that it asks for. */

import { readFileSync } from 'node:fs'

export const TASK = '007_flow'
export const IN_TASK = `specs/${TASK}`

export const FOUR_PHASES = readFileSync(new URL('../../examples/four-phases.yaml', import.meta.url), 'utf8')

/** Where a prompt is: `plan 1`, `execute step 2 1`; undefined for what is no prompt of a workflow. */
export function placeOf(text: string): string | undefined {
  const found = /^Workflow "four phases".*phase "(\w+)"(?:, step (\d+) of \d+)?, attempt (\d+) of/.exec(text)
  if (found === null) return undefined
  const [, phase, step, attempt] = found
  return `${phase}${step === undefined ? '' : ` step ${step}`} ${attempt}`
}

/** The command that puts a file into the task folder. */
export function leave(name: string, text: string): string {
  return `printf '%s' '${text}' > ${IN_TASK}/${name}`
}

/** The command that does what each prompt asks for, by its place, in the order of the run. */
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
