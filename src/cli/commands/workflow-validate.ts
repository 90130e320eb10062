import { counted, inLine } from '../../kernel/text.ts'
import type { PlacedFinding } from '../../kernel/yaml-text.ts'
import { displayPath } from '../../project/command-context.ts'
import { definitionSize, promptBound } from '../../run/definition/bound.ts'
import { findDefinition } from '../../run/store/find-definition.ts'
import { loadDefinition } from '../../run/store/load-definition.ts'
import * as field from '../../views/documents.ts'
import { DEFINITION, type Declaration, type Run } from '../command.ts'

export const declaration = {
  free: true,
  description: 'check a definition: print faults and warnings, with line and column',
  examples: ['workflow validate flow.yaml', 'workflow validate spec-kit --json'],
  declare: (command) => command.argument('<definition>', DEFINITION),
} satisfies Declaration

export const document = () => {
  const finding = field.object({
    line: field.count('From 1.'),
    column: field.count('From 1.'),
    where: field.text('The place in the definition, such as "phases.0.next"; empty for the whole file.'),
    detail: field.text('The fault or the warning.'),
  })
  return field.object({
    file: field.text("The definition's absolute path."),
    valid: field.flag('True if it has no faults.'),
    faults: field.list(finding),
    warnings: field.list(finding),
    partial: field.flag('True if the rest is checked only once the faults are fixed.'),
    phases: field.optionalCount('The number of phases; null if it has faults.'),
    prompt_bound: field.optionalCount('The maximum number of prompts of a run; null if it has faults.'),
  })
}

export const run: Run<typeof declaration, typeof document> = (context, [file]) => {
  const target = findDefinition(context, file)
  const { faults, warnings, definition, isPartial } = loadDefinition(target)
  const shown = displayPath(context, target)
  const bound = definition === undefined ? undefined : promptBound(definition)
  const line = (finding: PlacedFinding, sign: string): string =>
    `${sign} ${shown}:${finding.line}:${finding.column}  ${finding.where === '' ? '' : `${finding.where}: `}${finding.detail}`
  return {
    exitCode: faults.length > 0 ? 1 : 0,
    data: {
      file: target,
      valid: faults.length === 0,
      faults,
      warnings,
      partial: isPartial,
      phases: definition?.phases.length ?? null,
      prompt_bound: bound ?? null,
    },
    lines: [
      ...faults.map((finding) => line(finding, context.paint.red('✗'))),
      ...warnings.map((finding) => line(finding, context.paint.yellow('!'))),
      definition === undefined || bound === undefined
        ? `${counted(faults.length, 'fault')}${isPartial ? `; the rest is checked once ${faults.length === 1 ? 'it is' : 'they are'} fixed` : ''}`
        : `${context.paint.green('✓')} ${inLine(definition.name)}: ${definitionSize(definition, bound)}`,
    ],
  }
}
