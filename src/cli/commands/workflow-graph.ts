import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { type CommandContext, displayPath, findCommandRoot } from '../../project/command-context.ts'
import { findTaskFolder } from '../../project/task-folders.ts'
import { mermaidLines } from '../../run/machine/picture.ts'
import { findDefinition, listExamples } from '../../run/store/find-definition.ts'
import { requireDefinition } from '../../run/store/load-definition.ts'
import { readState, requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import type { Declaration, Run } from '../command.ts'
import { requireRunFolder } from '../runs.ts'

export const declaration = {
  free: true,
  description: 'print a Mermaid diagram of a definition, or of a run, colored by its state',
  examples: ['workflow graph flow.yaml', 'workflow graph spec-kit', 'workflow graph 259 > run.mmd'],
  declare: (command) =>
    command.argument(
      '<definition-or-task>',
      'a task number or folder name, a definition file, or the name of a shipped example',
    ),
} satisfies Declaration

export const document = () => field.object({ mermaid: field.text('The diagram, as Mermaid reads it.') })

export const run: Run<typeof declaration, typeof document> = (context, [target]) => {
  let lines: readonly string[]
  if (isFile(context, target) || isExample(context, target)) {
    const file = findDefinition(context, target)
    lines = mermaidLines(requireDefinition(file, displayPath(context, file)))
  } else {
    const state = requireState(requireRunFolder(context, target))
    lines = mermaidLines(state.definition, state)
  }
  return { data: { mermaid: lines.join('\n') }, lines, essential: lines }
}

/** A name that looks like a file's is read as one, even if the file does not exist. */
function isFile({ cwd }: CommandContext, target: string): boolean {
  if (/\.(?:ya?ml|json)$/i.test(target)) return true
  return /[./\\]/.test(target) && kindAt(path.resolve(cwd, target)) === 'file'
}

function isExample(context: CommandContext, target: string): boolean {
  if (!listExamples(context.packageFolder).some(({ name }) => name === target)) return false
  const root = findCommandRoot(context)
  const folder = root === undefined ? undefined : findTaskFolder(root, target)
  return folder === undefined || readState(folder) === undefined
}
