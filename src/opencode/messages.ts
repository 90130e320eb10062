import { oneLine } from '../core/text.ts'
import { isResumableOutcome } from '../core/workflow/outcome.ts'

/** The plugin's own prose: what the user, the log and the agents of OpenCode are told. */

const quote = (text: string, limit = 300): string => oneLine(text, limit)

export const OPENCODE_TEXT = {
  refused: (call: string, detail: string): string => `OpenCode refused ${call} (${quote(detail)})`,
  fault: (where: string, detail: string): string =>
    `postflight-guard stood aside: a fault in its ${where} (${quote(detail, 600)})`,
  notAnswered: 'the session became idle without an answer',
  notHeld: (task: string): string =>
    `postflight-guard: task ${quote(task, 80)} stopped without its postflight and could not be held. The promise is still pending: \`postflight inspect\` shows it.`,
  settled: 'Nothing is pending any more. Repeat your last message, then end your turn.',
  toastTitle: 'postflight-guard',
  interrupted: 'it was interrupted in OpenCode',
  turnFailed: (detail: string): string => `the turn in OpenCode failed: ${quote(detail)}`,
  takenOver: (task: string): string => `The workflow of task ${quote(task, 80)} was taken over by another session.`,
} as const

/** What the workflow's tool and command say. */
export const WORKFLOW_TOOL_TEXT = {
  description:
    'Runs a postflight workflow (phases gated by artifacts) of a task to its end: each phase in a sub-agent of its own, one after another. Returns when it is completed, stopped or stuck. Call it once and wait.',
  task: 'The task: its number, or the name of its folder in specs/',
  definition:
    'Path of the definition (JSON or YAML) to start a new run with; an empty string to go on with the run that is there',
  commandDescription: 'Run or go on with a postflight workflow: <task> [definition]',
  commandTemplate: 'The workflow of task $ARGUMENTS was run.',
  usage: 'Usage: /postflight-workflow <task> [definition file]',
  title: (phase: string, visit: number): string => `Workflow: ${phase}${visit > 1 ? ` (visit ${visit})` : ''}`,
  ownChild: 'A phase of a workflow cannot run a workflow: do what the prompt says, and end your turn.',
  drivenHere: (task: string): string => `The workflow of task ${quote(task, 80)} is being run already: wait for it.`,
  ended: (task: string, outcome: string, why: string | undefined): string =>
    `The workflow of task ${quote(task, 80)} is ${outcome}${why === undefined ? '' : `: ${quote(why)}`}${isResumableOutcome(outcome) ? '. Call workflow_run again, with an empty definition, to go on with it.' : '.'}`,
  prompts: (count: number): string => `${count} ${count === 1 ? 'prompt was' : 'prompts were'} given out in this call.`,
  substitute: (what: string, name: string): string =>
    `OpenCode knows no ${what} "${quote(name, 80)}": the one of this conversation was used.`,
  waits: (task: string, name: string): string =>
    `The workflow "${quote(name, 100)}" of task ${quote(task, 80)} is running, and waits for you: call the tool workflow_run with the task "${quote(task, 80)}" and an empty definition, once, and wait for what it says.`,
  report: (outcome: string): string => `Tell the user what came of it, in a sentence or two:\n\n${outcome}`,
} as const
