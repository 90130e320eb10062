import path from 'node:path'
import { commandLine } from '../../kernel/command-line.ts'
import { unsearchable } from '../../kernel/file-messages.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { abandonedFix } from '../../kernel/phrases.ts'
import { inLine } from '../../kernel/text.ts'
import { formatAge } from '../../kernel/time.ts'
import { INSPECT_TEXT } from '../../marker/check-messages.ts'
import { type MarkerView, viewMarkers } from '../../marker/marker-view.ts'
import {
  type CommandContext,
  type CommandResult,
  findCommandRoot,
  requireTaskFolder,
} from '../../project/command-context.ts'
import type { InspectDocument } from '../../views/documents/inspect.ts'
import type { Painter } from '../../views/print.ts'

/** `postflight inspect`: lists every marker with its owner, its state and its problems. */

export interface InspectOptions {
  readonly exitCode: boolean
}

export function inspect(
  context: CommandContext,
  paint: Painter,
  task: string | undefined,
  options: InspectOptions,
): CommandResult<InspectDocument> {
  const root = findCommandRoot(context)
  const only = root === undefined || task === undefined ? undefined : requireTaskFolder(root, task)
  const { markers, problems } =
    root === undefined ? { markers: [], problems: [] } : viewMarkers(root, context.nowMs, only)
  const pending = markers.filter((view) => view.state === 'pending' || view.state === 'unreadable').length
  const abandoned = markers.filter((view) => view.state === 'abandoned').length
  return {
    exitCode: options.exitCode && pending + abandoned > 0 ? 1 : 0,
    data: { root: root ?? null, pending, abandoned, markers, problems },
    lines: [
      ...(markers.length === 0
        ? [
            root === undefined
              ? INSPECT_TEXT.noSpecs
              : INSPECT_TEXT.noMarkers(only?.path ?? path.join(root, SPECS_FOLDER)),
          ]
        : markers.flatMap((view) => describeMarker(view, paint, context.rootOption))),
      ...problems.map((problem) => `${paint.yellow('!')} ${inLine(unsearchable(problem.path, problem.detail))}`),
    ],
  }
}

/** The lines that describe a marker. */
function describeMarker(view: MarkerView, paint: Painter, rootOption: string | undefined): string[] {
  const { spent, limit } = view.continuations
  const state =
    view.state === 'pending'
      ? paint.yellow(view.state)
      : view.state === 'abandoned'
        ? paint.red(view.state)
        : view.state
  const facts = [
    state,
    view.age_ms === null ? undefined : INSPECT_TEXT.age(formatAge(view.age_ms)),
    view.outcome === 'unchecked' ? INSPECT_TEXT.unchecked : undefined,
    spent === null ? undefined : INSPECT_TEXT.spent(spent, limit),
    view.operation === null ? undefined : `${view.operation}${view.skill === null ? '' : ` (${view.skill})`}`,
  ]
  const command = (word: string): string => commandLine([word, view.task], rootOption)
  const { host_session: session, agent, agent_type: type } = view.owner
  return [
    `${paint.bold(view.relative_path)}  ${facts.filter((fact) => fact !== undefined).join(' · ')}`,
    ...(session === null ? [] : [`  ${INSPECT_TEXT.owner(session, agent, type)}`]),
    ...(view.reason === null ? [] : [`  ${INSPECT_TEXT.reason(view.reason)}`]),
    ...(view.wait === null ? [] : [`  ${INSPECT_TEXT.waits(view.wait.for)}`]),
    ...view.steps.map((step, index) => `  ${step.done ? paint.green('✓') : '·'} ${index + 1}. ${step.name}`),
    ...view.checks.map(({ run, failed }) => `  ${INSPECT_TEXT.check(run, failed)}`),
    ...view.problems.map((problem) => `  ${paint.yellow('!')} ${problem}`),
    ...(view.state === 'abandoned' ? [`  → ${abandonedFix(command('adopt'), command('clear'))}`] : []),
  ]
}
