import type { HostConfig, Part, PluginTool } from '../../hosts/opencode/api.ts'
import { WORKFLOW_COMMAND } from '../../hosts/opencode/api.ts'
import { ownText } from '../../hosts/opencode/conversation.ts'
import { WORKFLOW_TOOL_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import type { GivenInput } from '../../run/definition/snapshot.ts'
import type { RunRequest, WorkflowDriver } from './driver.ts'

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

/** A model may send anything. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}

export function addWorkflowCommand(config: HostConfig): boolean {
  const template = WORKFLOW_TOOL_TEXT.commandTemplate
  config.command ??= {}
  config.command[WORKFLOW_COMMAND] ??= { template, description: WORKFLOW_TOOL_TEXT.commandDescription }
  return config.command[WORKFLOW_COMMAND].template === template
}

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

/** `<task> [definition] [--set NAME=VALUE]…` */
function commandRequest(line: string): RunRequest {
  const [task = '', ...rest] = commandWords(line)
  const end = rest.indexOf('--set')
  const definition = (end === -1 ? rest : rest.slice(0, end)).join(' ')
  const values = end === -1 ? [] : rest.slice(end).filter((word) => word !== '--set')
  return { task, definition, inputs: values.map(inputOf) }
}

function inputOf(text: string): GivenInput {
  const [name = '', ...value] = text.split('=')
  return [name.trim(), value.join('=')]
}

/** `opencode run --command NAME "a b"` passes the quotes too and escapes inner ones (1.18.34). */
export function commandWords(line: string): string[] {
  const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double?.replaceAll('\\"', '"') ?? single ?? plain ?? '',
  )
  const [only = ''] = words
  return words.length === 1 && /\s/.test(only) ? commandWords(only) : words
}
