import path from 'node:path'
import { mermaidLines } from '../../../core/workflow/mermaid.ts'
import { kindAt } from '../../../io/fs/path-kind.ts'
import { requireDefinition } from '../../../io/workflow/load-definition.ts'
import { requireState } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, displayPath, requireRoot, requireTaskFolder } from '../../context.ts'
import type { GraphDocument } from '../../documents/workflow/graph.ts'

/** `postflight workflow graph`: a definition or a run as a diagram. */

/** A definition, or a task's run in the colours of its state, as a Mermaid diagram. */
export function graph(context: CommandContext, target: string): CommandResult<GraphDocument> {
  const file = path.resolve(context.cwd, target)
  // A file that is not there is missed as a file, not as a task.
  const isFile = /\.(?:ya?ml|json)$/i.test(target) || (/[./\\]/.test(target) && kindAt(file) === 'file')
  const state = isFile ? undefined : requireState(requireTaskFolder(requireRoot(context), target, 'workflow'))
  const definition = state?.definition ?? requireDefinition(file, displayPath(context, file))
  const lines = mermaidLines(definition, state)
  return { exitCode: 0, data: { mermaid: lines.join('\n') }, lines, essential: lines }
}
