import path from 'node:path'
import { counted } from '../../../core/messages/phrases.ts'
import { definitionSize } from '../../../core/messages/runs.ts'
import { inLine } from '../../../core/text.ts'
import { promptBound } from '../../../core/workflow/bound.ts'
import type { Definition } from '../../../core/workflow/definition.ts'
import { MAX_PHASE_STEPS } from '../../../core/workflow/definition-limits.ts'
import { loadDefinition, type PlacedFinding } from '../../../io/workflow/load-definition.ts'
import { type CommandContext, type CommandResult, displayPath } from '../../context.ts'
import type { ValidateDocument } from '../../documents/workflow/validate.ts'
import type { Painter } from '../../report.ts'

/** `postflight workflow validate`: every fault and warning of a definition. */

/** Every fault and warning of a definition. Exit code 1 when it has faults. */
export function validate(context: CommandContext, paint: Painter, file: string): CommandResult<ValidateDocument> {
  const target = path.resolve(context.cwd, file)
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
      definition === undefined
        ? counted(faults.length, 'fault')
        : `${paint.green('✓')} ${inLine(definition.name)}: ${definitionSize(definition.phases.length, promptBound(definition))}${boundNote(definition)}`,
    ],
  }
}

/** Why a bound is as high as it is. */
function boundNote({ phases }: Definition): string {
  return phases.some(({ steps }) => steps?.kind === 'from') ? ` (steps not known yet count as ${MAX_PHASE_STEPS})` : ''
}
