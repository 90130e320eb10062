import type { HostConfig, Part, PluginTool } from '../../hosts/opencode/api.ts'
import { WORKFLOW_COMMAND } from '../../hosts/opencode/catalogue.ts'
import { ownText } from '../../hosts/opencode/conversation.ts'
import { WORKFLOW_TOOL_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import type { GivenInput } from '../../run/definition/snapshot.ts'
import type { RunRequest, WorkflowDriver } from './driver.ts'

/** The two ways to run a workflow on OpenCode: a tool for agents, and a command for people. */

/** The tool. `findDriver` returns the driver of the active instance. */
export function workflowTool(findDriver: () => WorkflowDriver): PluginTool {
  return {
    description: WORKFLOW_TOOL_TEXT.description,
    args: {
      task: { type: 'string', description: WORKFLOW_TOOL_TEXT.task },
      definition: { type: 'string', description: WORKFLOW_TOOL_TEXT.definition },
      inputs: { type: 'string', description: WORKFLOW_TOOL_TEXT.inputs },
    },
    execute: ({ task, definition, inputs }, { sessionID, abort }) => {
      const given = textOf(inputs)
        .split('\n')
        .filter((line) => line.trim() !== '')
      const request = { task: textOf(task), definition: textOf(definition), inputs: given.map(inputOf) }
      return findDriver().run(sessionID, request, abort)
    },
  }
}

/** An argument as text: a model may send anything. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}

/** Adds the command to OpenCode's configuration if its name is free; true when the command of that name is ours. */
export function addWorkflowCommand(config: HostConfig): boolean {
  const template = WORKFLOW_TOOL_TEXT.commandTemplate
  config.command ??= {}
  config.command[WORKFLOW_COMMAND] ??= { template, description: WORKFLOW_TOOL_TEXT.commandDescription }
  return config.command[WORKFLOW_COMMAND].template === template
}

/** Runs the workflow before the command's own turn, which then only reports the result. */
export async function runWorkflowCommand(
  driver: WorkflowDriver,
  session: string,
  words: string,
  parts: Part[],
): Promise<void> {
  const request = commandRequest(words)
  const outcome = request.task === '' ? WORKFLOW_TOOL_TEXT.usage : await driver.run(session, request, undefined)
  parts.splice(0, parts.length, ownText(WORKFLOW_TOOL_TEXT.report(outcome)))
}

/** The request in the words of the command: `<task> [definition] [--set NAME=VALUE]…`. */
function commandRequest(line: string): RunRequest {
  const [task = '', ...rest] = commandWords(line)
  const end = rest.indexOf('--set')
  const definition = (end === -1 ? rest : rest.slice(0, end)).join(' ')
  const values = end === -1 ? [] : rest.slice(end).filter((word) => word !== '--set')
  return { task, definition, inputs: values.map(inputOf) }
}

/** The input in `NAME=VALUE`. Without a value it is refused as unknown, or empty. */
function inputOf(text: string): GivenInput {
  const [name = '', ...value] = text.split('=')
  return [name.trim(), value.join('=')]
}

/**
 * The words of a command line, without their quotes. `opencode run --command NAME "a b"` hands over `"a b"`, with the quotes
 * and with any quotes inside escaped (1.18.34): then the words are those of the text inside.
 */
export function commandWords(line: string): string[] {
  const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double?.replaceAll('\\"', '"') ?? single ?? plain ?? '',
  )
  const [only = ''] = words
  return words.length === 1 && /\s/.test(only) ? commandWords(only) : words
}
