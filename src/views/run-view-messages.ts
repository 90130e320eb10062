import { approval, counted, listed, quote } from '../kernel/phrases.ts'
import { inLine } from '../kernel/text.ts'

/** What the commands about workflows print. */

/** A transition, as `history` prints it. */
export const HISTORY_TEXT = {
  visit: (visit: number): string => `visit ${visit}`,
  step: (step: number): string => `step ${step}`,
  attempt: (attempt: number): string => `attempt ${attempt}`,
  verdict: (verdict: string): string => `verdict ${verdict}`,
  duration: (phase: string, time: string): string => `worked on ${phase}: ${time}`,
} as const

/** What `next` prints before the prompt, or in its place. */
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

/** What `simulate` prints. */
export const SIMULATE_TEXT = {
  path: (name: string, phases: readonly string[], outcome: string | undefined, why: string | undefined): string =>
    `${name}: ${[...phases, outcome ?? '…'].join(' → ')}${why === undefined ? '' : ` (${quote(why, 500)})`}`,
} as const

/** What `resume --trust` prints for each command. */
export function trustedLine(run: string): string {
  return `  trusted from now on: ${inLine(run)}`
}

/** What `start` prints. */
export function startedLine(name: string, folder: string, size: string): string {
  return `started "${name}" in ${folder}: ${size}`
}

/** What `start` prints when an earlier run left files. */
export function setAsideLine(folder: string): string {
  return `  files of an earlier run are now in ${folder}: they do not count for this one`
}

/** What `validate` prints below its findings. */
export const VALIDATE_TEXT = {
  faults: (count: number): string => counted(count, 'fault'),
  valid: (name: string, size: string): string => `${name}: ${size}`,
} as const
