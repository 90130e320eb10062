import { oneLine } from '../kernel/text.ts'
import type { DelegationFailure } from './delegate-task-retry/patterns.ts'
import type { JsonFault } from './json-error-recovery/patterns.ts'

/** The texts of the hook factories for agents. Each begins with the product's name, so that a reader knows its author. */

const TAG = '[postflight-guard]'

/** The place of a run for a reminder. */
export interface RunPlace {
  readonly workflow: string
  readonly task: string
  readonly phase: string
  /** The numbers of the steps in progress, from 1; none for the phase itself. */
  readonly steps: readonly number[]
  readonly totalSteps: number
  /** The paths of the files that are due. */
  readonly due: readonly string[]
  /** What to do; undefined for the usual advice. */
  readonly advice: string | undefined
}

export const HOOK_TEXT = {
  phaseReminder: ({ workflow, task, phase, steps, totalSteps, due, advice }: RunPlace): string => {
    const numbers = `step${steps.length === 1 ? '' : 's'} ${steps.join(', ')} of ${totalSteps}`
    const place = `phase "${oneLine(phase, 80)}"${steps.length === 0 ? '' : `, ${numbers}`}`
    const files = due.length === 0 ? '' : ` It must produce ${due.map((file) => oneLine(file, 500)).join(', ')}.`
    return `${TAG} The workflow "${oneLine(workflow, 100)}" of task ${oneLine(task, 80)} is in ${place}.${files} ${advice ?? 'Do not work ahead of this phase, and do not skip it.'}`
  },
  postReadNudge: `${TAG} You have read several files in the main conversation. If further reading or the change itself can be described in a few sentences, hand it to a sub-agent with the task tool: then its reading stays out of this context.`,
  /** `wanted`: the tool of a call that no tool got; undefined where a tool itself gave the error. */
  brokenJson: (fault: JsonFault, wanted: string | undefined): string =>
    [
      wanted === undefined
        ? `${TAG} If this error is about the arguments of your call, they were not valid JSON.`
        : `${TAG} The call of "${oneLine(wanted, 80)}" did not reach the tool, because its arguments were not valid JSON.`,
      `- What to look for: ${JSON_FAULTS[fault]}.`,
      '- Send the whole call again as one JSON object: keys and strings in double quotes, no comma before a closing bracket, no comments, no text around it.',
      '- If the arguments are long, write them in several smaller calls.',
    ].join('\n'),
  /** `agents`: those that work can be handed to. */
  delegationFix: ({ kind, name, offered }: DelegationFailure, agents: readonly string[]): string =>
    `${TAG} ${DELEGATION_FIXES[kind](oneLine(name, 80), oneLine(offered ?? '', 500), agents.join(', '))}`,
} as const

const JSON_FAULTS: Readonly<Record<JsonFault, string>> = {
  unterminated:
    'a string without its closing quote, a quote inside a string without its backslash, or a line break that is not written as \\n',
  'cut-off': 'the end is missing, so the arguments were probably too long',
  'single-quotes': 'strings in single quotes',
  key: 'a key without double quotes, or a comma before a closing brace',
  colon: 'a key without its colon',
  'object-end': 'a missing comma or closing brace, or a key without double quotes',
  'array-end': 'a missing comma or closing bracket in a list',
  escape: 'a backslash that is not doubled: Windows paths and regular expressions need \\\\',
  'control-character': 'a line break or tab inside a string that is not written as \\n or \\t',
  'trailing-text': 'text before or after the object',
  word: 'a word that JSON does not have, such as undefined, None or True, or text around the object',
  other: 'quotes, commas and brackets',
}

const AGAIN = 'Call the task tool again'
const ARGUMENTS = 'description (three to five words), prompt (the whole task) and subagent_type'

/** The fix of each failure; `offered` and `agents` may be empty. */
const DELEGATION_FIXES: Readonly<
  Record<DelegationFailure['kind'], (name: string, offered: string, agents: string) => string>
> = {
  'missing-argument': (name, _offered, agents) =>
    `${AGAIN} with the argument "${name}". The task tool needs ${ARGUMENTS}.${agentsThere(agents)}`,
  'wrong-argument': (name, _offered, agents) =>
    `${AGAIN} with ${name === '' ? 'other arguments' : `another value of "${name}"`}. The task tool needs ${ARGUMENTS}, each a string.${agentsThere(agents)}`,
  'unknown-agent': (name, _offered, agents) =>
    `Unknown agent${named(name)}.${agentsThere(agents)} ${AGAIN} with one of them as subagent_type.`,
  'primary-agent': (name, _offered, agents) =>
    `${name === '' ? 'This agent' : `"${name}"`} runs conversations of its own and cannot be a sub-agent.${agentsThere(agents)} ${AGAIN} with one of them as subagent_type.`,
  'unknown-category': (name, offered) =>
    `Unknown category${named(name)}.${namesThere('Categories', offered)} Use one of those, or name an agent as subagent_type instead.`,
  'unknown-skill': (name, offered) =>
    `Unknown skill${named(name)}.${namesThere('Skills', offered)} Repeat the call with one of those, or without a skill.`,
  'unknown-task': (name) =>
    `Unknown task${named(name)}, so it cannot be continued. ${AGAIN} without its id, and put what the sub-agent must know into the prompt.`,
  'both-given': () => 'Give either category or subagent_type, not both, and repeat the call.',
  background: () => `${AGAIN} without the argument "background", and wait for the result.`,
  depth: () =>
    'A sub-agent may not start another one here. Do this part of the work yourself, or name it in your report.',
  refused: (_name, _offered, agents) =>
    `The user does not allow this delegation: do not repeat it as it is.${agentsThere(agents)} Use another agent, or do the work yourself.`,
  model: (_name, _offered, agents) =>
    `The model of this agent is not available here.${agentsThere(agents)} ${AGAIN} with another agent, or do the work yourself.`,
}

function named(name: string): string {
  return name === '' ? '' : ` "${name}"`
}

function agentsThere(agents: string): string {
  return agents === '' ? '' : ` Agents: ${agents}.`
}

function namesThere(what: string, offered: string): string {
  return offered === '' ? '' : ` ${what}: ${offered}${offered.endsWith('.') ? '' : '.'}`
}
