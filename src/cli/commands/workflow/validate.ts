import { inLine } from '../../../kernel/text.ts'
import type { PlacedFinding } from '../../../kernel/yaml-text.ts'
import { type CommandContext, type CommandResult, displayPath } from '../../../project/command-context.ts'
import { promptBound, stepCount } from '../../../run/definition/bound.ts'
import type { Definition } from '../../../run/definition/definition.ts'
import { definitionSize } from '../../../run/run-messages.ts'
import { findDefinition } from '../../../run/store/find-definition.ts'
import { loadDefinition } from '../../../run/store/load-definition.ts'
import type { ValidateDocument } from '../../../views/documents/workflow/validate.ts'
import type { Painter } from '../../../views/print.ts'
import { VALIDATE_TEXT } from '../../../views/run-view-messages.ts'

/** `postflight workflow validate`: prints every fault and warning of a definition. Exit code 1 if it has faults. */
export function validate(context: CommandContext, paint: Painter, file: string): CommandResult<ValidateDocument> {
  const target = findDefinition(context, file)
  const { faults, warnings, definition } = loadDefinition(target)
  const shown = displayPath(context, target)
  const line = (finding: PlacedFinding, sign: string): string =>
    `${sign} ${shown}:${finding.line}:${finding.column}  ${finding.where === '' ? '' : `${finding.where}: `}${finding.detail}`
  return {
    exitCode: faults.length > 0 ? 1 : 0,
    data: {
      file: target,
      valid: faults.length === 0,
      faults,
      warnings,
      phases: definition?.phases.length ?? null,
      prompt_bound: definition === undefined ? null : promptBound(definition),
    },
    lines: [
      ...faults.map((finding) => line(finding, paint.red('✗'))),
      ...warnings.map((finding) => line(finding, paint.yellow('!'))),
      definition === undefined ? VALIDATE_TEXT.faults(faults.length) : `${paint.green('✓')} ${validLine(definition)}`,
    ],
  }
}

function validLine(definition: Definition): string {
  const size = definitionSize(definition.phases.length, stepCount(definition), promptBound(definition))
  return VALIDATE_TEXT.valid(inLine(definition.name), size)
}
