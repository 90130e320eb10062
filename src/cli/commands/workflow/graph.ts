import path from 'node:path'
import { mermaidLines } from '../../../core/workflow/mermaid.ts'
import { kindAt } from '../../../io/fs/path-kind.ts'
import { requireDefinition } from '../../../io/workflow/load-definition.ts'
import { requireState } from '../../../io/workflow/state-store.ts'
import { type CommandContext, type CommandResult, displayPath, requireRoot, requireTaskFolder } from '../../context.ts'
import type { GraphDocument } from '../../documents/workflow/graph.ts'

/** `postflight workflow graph`: prints a Mermaid diagram of a definition, or of a run, coloured by its state. */
export function graph(context: CommandContext, target: string): CommandResult<GraphDocument> {
  const file = path.resolve(context.cwd, target)
  // A name that looks like a file's is read as one, even if the file does not exist.
  const isFile = /\.(?:ya?ml|json)$/i.test(target) || (/[./\\]/.test(target) && kindAt(file) === 'file')
  const state = isFile ? undefined : requireState(requireTaskFolder(requireRoot(context), target, 'workflow'))
  const definition = state?.definition ?? requireDefinition(file, displayPath(context, file))
  const lines = mermaidLines(definition, state)
  return { exitCode: 0, data: { mermaid: lines.join('\n') }, lines, essential: lines }
}
