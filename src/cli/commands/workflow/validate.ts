import { VALIDATE_TEXT } from '../../../core/messages/workflow-commands.ts'
import { inLine } from '../../../core/text.ts'
import { promptBound } from '../../../core/workflow/bound.ts'
import type { Definition } from '../../../core/workflow/definition.ts'
import { MAX_PHASE_STEPS } from '../../../core/workflow/definition-limits.ts'
import { findDefinition } from '../../../io/workflow/find-definition.ts'
import { loadDefinition, type PlacedFinding } from '../../../io/workflow/load-definition.ts'
import { type CommandContext, type CommandResult, displayPath } from '../../context.ts'
import type { ValidateDocument } from '../../documents/workflow/validate.ts'
import type { Painter } from '../../painter.ts'

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
  const { name, phases } = definition
  const hasUnknownSteps = phases.some(({ steps }) => steps !== undefined && steps.kind !== 'list')
  const assumedSteps = hasUnknownSteps ? MAX_PHASE_STEPS : undefined
  return VALIDATE_TEXT.valid(inLine(name), phases.length, promptBound(definition), assumedSteps)
}
