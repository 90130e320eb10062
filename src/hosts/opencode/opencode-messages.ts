import { oneLine } from '../../kernel/text.ts'

const quote = (text: string, limit = 300): string => oneLine(text, limit)

export const PRODUCT = 'postflight-guard'

export const OPENCODE_TEXT = {
  refused: (call: string, detail: string): string => `OpenCode refused ${call} (${quote(detail)})`,
  noReply: 'no answer',
  unknownError: 'unknown error',
  fault: (where: string, detail: string): string =>
    `${PRODUCT}: internal error (${where}: ${quote(detail, 600)}). Please report it.`,
  unreadable: (detail: string): string =>
    `${PRODUCT}: OpenCode cannot read the messages of this conversation, so its stops are not blocked (${quote(detail)}).`,
  notAnswered: 'the session became idle without an answer',
  notBlocked: (task: string): string =>
    `${PRODUCT}: task ${quote(task, 80)} stopped without its postflight and could not be blocked. The marker is still pending: \`postflight inspect\` shows it.`,
  allowedAfterAll: 'This stop is not blocked after all. Repeat your last message, then end your turn.',
  toast: (text: string): { readonly title: string; readonly message: string; readonly variant: 'warning' } => ({
    title: PRODUCT,
    message: text.startsWith(`${PRODUCT}: `) ? text.slice(PRODUCT.length + 2) : text,
    variant: 'warning',
  }),
  interrupted: 'it was interrupted in OpenCode',
  deleted: (session: string): string => `the session ${quote(session, 80)} was deleted in OpenCode`,
  conversationDeleted: 'the conversation was deleted in OpenCode',
  phaseDeleted: (phase: string): string => `the session of phase "${quote(phase, 80)}" was deleted in OpenCode`,
  turnFailed: (detail: string): string => `the turn in OpenCode failed: ${quote(detail)}`,
  takenOver: (task: string): string => `The workflow of task ${quote(task, 80)} now belongs to another session.`,
} as const

export const WORKFLOW_TOOL_TEXT = {
  description:
    'Runs the postflight workflow of a task to its end: phases gated by artifacts, each in a sub-agent of its own, one after another. Returns when the workflow is completed, stopped or stuck. Call it once and wait.',
  task: 'The task: its number, or the name of its folder in specs/. A new run makes the folder if it is missing: then give its name, such as 259_my_slug',
  definition:
    'Path of the definition (JSON or YAML) to start a new run with, or the name of a shipped example; an empty string to continue the existing run',
  inputs:
    'The inputs of a new run, one NAME=VALUE on each line; an empty string for none. Ask the user for values that you do not know',
  commandDescription: 'Run or continue a postflight workflow: <task> [definition] [--set NAME=VALUE]',
  commandTemplate: 'The workflow of task $ARGUMENTS was run.',
  usage: 'Usage: /postflight-workflow <task> [definition file] [--set NAME=VALUE]…',
  title: (phase: string, visit: number, step: number): string =>
    `Workflow: ${phase}${step === 0 ? '' : `, step ${step}`}${visit > 1 ? ` (visit ${visit})` : ''}`,
  ownChild: 'A phase of a workflow cannot run a workflow: do what the prompt says, then end your turn.',
  drivenHere: (task: string): string => `The workflow of task ${quote(task, 80)} is already running: wait for it.`,
  ended: (task: string, outcome: string, why: string | undefined, isResumable: boolean): string => {
    const result = `The workflow of task ${quote(task, 80)} is ${outcome}${why === undefined ? '' : `: ${quote(why)}`}.`
    return isResumable ? `${result} Call workflow_run again, with an empty definition, to continue it.` : result
  },
  prompts: (count: number): string => `${count} ${count === 1 ? 'prompt was' : 'prompts were'} sent in this call.`,
  substitute: (what: string, name: string): string =>
    `OpenCode has no ${what} "${quote(name, 80)}": this conversation's ${what} was used instead.`,
  waits: (task: string, name: string): string =>
    `The workflow "${quote(name, 100)}" of task ${quote(task, 80)} is running and waits for you: call the tool workflow_run once, with the task "${quote(task, 80)}" and an empty definition, and wait for its result.`,
  waitsFor: (task: string, purpose: string): string =>
    `The workflow of task ${quote(task, 80)} waits for: ${quote(purpose)}. Tell the user and end your turn. When you have the answer, call workflow_run again, with an empty definition.`,
  needsApproval: (task: string, phase: string): string =>
    `The workflow of task ${quote(task, 80)} waits for a person to approve or reject the result of phase "${phase}" in a terminal: \`postflight workflow approve ${quote(task, 80)}\` or \`postflight workflow reject ${quote(task, 80)} --reason TEXT\`. Tell the user and end your turn. Do not run either yourself. When it is approved or rejected, call workflow_run again, with an empty definition.`,
  report: (outcome: string): string => `Tell the user the result in a sentence or two:\n\n${outcome}`,
} as const
