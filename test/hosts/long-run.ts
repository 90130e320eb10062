/**
 * A long run on a real client: inputs, an approval, a checklist of twelve tasks, four of which are in progress at once,
 * and a budget. Its prompts say everything that the scripted agents need.
 */

import { expect } from 'vitest'
import { promptPlace } from './agents.ts'
import type { Inspected } from './inspected.ts'

export const TASK = '007_flow'
export const IN_TASK = `specs/${TASK}`

export const TASKS = Array.from({ length: 12 }, (_, at) => `T${String(at + 1).padStart(3, '0')} write part ${at + 1}`)

/** Fails twice and succeeds then. */
const UNLUCKY = 5
/** Fails until it is given up. */
const HOPELESS = 9

export const LONG_RUN = JSON.stringify({
  name: 'long run',
  inputs: { goal: { description: 'What to build', required: true } },
  max_prompts: 60,
  max_minutes: 60,
  phases: [
    { id: 'list', prompt: 'List the tasks for {{input.goal}}.', artifact: 'tasks.md' },
    { id: 'review', prompt: 'Review the tasks of {{input.goal}}.', artifact: 'review.md', approve: true },
    {
      id: 'work',
      steps: { from: 'tasks.md', checklist: true },
      parallel: 4,
      step_prompt: 'For {{input.goal}}: {{step}}',
      max_step_attempts: 3,
    },
    { id: 'report', prompt: 'Say what was done for {{input.goal}}.', artifact: 'report.md' },
  ],
})

const LIST = ['# Tasks', '', ...TASKS.map((task) => `- [ ] ${task}`), ''].join('\n')

/** The place of a prompt: `list 1`, `work step 5 2`; undefined for other texts, and for the prompt of several steps. */
export function placeOf(text: string): string | undefined {
  return promptPlace(text, 'long run', 'm')
}

/** The parts of a prompt for several steps at once; the prompt itself if it is for one. */
export function partsOf(prompt: string): string[] {
  if (!/^Workflow "long run".*, at the same time\.$/m.test(prompt)) return [prompt]
  return prompt.split(/^=== step \d+.* ===$/m).slice(1)
}

/** The shell command that does the work of a prompt. A step that succeeds adds a line to `done.log`, once. */
export function workOf(prompt: string): string {
  const place = placeOf(prompt) ?? ''
  const [, step, attempt] = /^work step (\d+) (\d+)$/.exec(place) ?? []
  if (step !== undefined) {
    const fails = Number(step) === HOPELESS || (Number(step) === UNLUCKY && Number(attempt) < 3)
    const result = fails ? '{"success": false, "summary": "no luck"}' : '{"success": true}'
    // The result's place as the prompt names it: each step has its own.
    const target = /write \{"success": true\} to the file (\S+)\. If/.exec(prompt)?.[1]
    const asks = prompt.includes(`For photos: ${TASKS[Number(step) - 1]}`) ? 'true' : 'false'
    // The result first: a client that is killed once the log has the step must not do it again.
    return `${asks} && printf '%s' '${result}' > '${target}'${fails ? '' : ` && echo ${step} >> done.log`}`
  }
  const target = /to the file (\S+?)\.(?:\n|$)/m.exec(prompt)?.[1]
  const text = place.startsWith('list') ? LIST : place.startsWith('review') ? `${place}: they are fine` : 'All is done.'
  return `printf '%s' '${text}' > '${target}'`
}

export function tasksDone(log: string | undefined): number[] {
  const lines = (log ?? '').split('\n').filter((line) => line !== '')
  return lines.map(Number).sort((one, other) => one - other)
}

export const DONE = TASKS.flatMap((_, at) => (at + 1 === HOPELESS ? [] : [at + 1]))

const TICKED = LIST.split('\n')
  .map((line) => (line.startsWith('- ') && !line.includes(`part ${HOPELESS}`) ? line.replace('[ ]', '[x]') : line))
  .join('\n')

/** Checks that every task was done once, but for the hopeless one. */
export function expectCompleted({ state, read, postflight, files }: Inspected): void {
  const { prompts, ...ended } = state()
  expect(ended).toMatchObject({ active: false, outcome: 'completed', skips: 1 })
  expect(ended.why).toContain('1 step or artifact was skipped')
  expect(Number(prompts)).toBeLessThan(60)
  expect(tasksDone(read('done.log'))).toEqual(DONE)
  expect(read(`${IN_TASK}/tasks.md`)).toBe(TICKED)
  expect(postflight('workflow', 'history', '7').stdout).toMatch(new RegExp(`step-skipped .*step ${HOPELESS}`))
  expect(files(TASK).filter((name) => name.startsWith('step-result-'))).toEqual([])
}
