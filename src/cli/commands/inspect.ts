import path from 'node:path'
import * as z from 'zod/mini'
import { unsearchable } from '../../kernel/error-messages.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { inLine } from '../../kernel/text.ts'
import { describeAge } from '../../kernel/time.ts'
import { namedWork } from '../../marker/marker.ts'
import { type MarkerView, viewMarkers } from '../../marker/marker-view.ts'
import { type CommandContext, findCommandRoot, requireTaskFolder } from '../../project/command-context.ts'
import * as field from '../../views/documents.ts'
import { markerFixFor } from '../../views/status/status-items.ts'
import { type Declaration, type Run, WATCH } from '../command.ts'

export const declaration = {
  free: true,
  description: 'list every marker: state, owner, age, count, checklist and problems',
  examples: ['inspect', 'inspect --watch', 'inspect 259 --json', 'inspect --exit-code --quiet'],
  declare: (command) =>
    command
      .argument('[task]', 'only this task')
      .option('--exit-code', 'exit with 1 if any marker is pending or abandoned', false)
      .option(...WATCH),
} satisfies Declaration

export const document = () => {
  const marker = field.object({
    state: field.oneOf(['pending', 'bypassed', 'expired', 'abandoned', 'unreadable']),
    outcome: field.optional(field.oneOf(['capped', 'expired', 'unchecked'])),
    task: field.task,
    path: field.text("The marker's absolute path."),
    relative_path: field.text('The same, relative to the root.'),
    id: field.optionalText("The marker's id."),
    skill: field.optionalText('The skill that made the marker.'),
    operation: field.optionalText('The operation, such as "research".'),
    reason: field.optionalText('The message to the agent.'),
    owner: z.extend(field.owner, { agent_type: field.optionalText('Only sub-agents of this type.') }),
    promised_at: field.optionalText('When the marker was made (ISO 8601).'),
    age_ms: field.optional(z.int()),
    continuations: field.object({
      spent: field.optionalCount('The number of stops that were blocked; null if that cannot be read.'),
      limit: field.count('The number of stops that may be blocked.'),
    }),
    steps: field.objects({ name: field.text('A line of the checklist.'), done: z.boolean() }),
    checks: field.objects({
      run: field.text('A shell command that must succeed before `clear`.'),
      step: field.optionalText('The step that it belongs to.'),
      failed: field.optionalText('How it failed the last time.'),
    }),
    wait: field.wait(),
    problems: field.texts('What is wrong with the marker.'),
  })
  return field.object({
    root: field.optionalText('The folder that holds specs/; null if there is none.'),
    pending: field.count('The number of markers that are pending or cannot be read.'),
    abandoned: field.count('The number of markers that are abandoned.'),
    markers: field.list(marker),
    problems: field.list(field.searchProblem),
  })
}

export const run: Run<typeof declaration, typeof document> = (context, [task], options) => {
  const root = findCommandRoot(context)
  if (root === undefined) {
    const data = { root: null, pending: 0, abandoned: 0, markers: [], problems: [] }
    return { data, lines: ['no specs/ folder here'] }
  }
  const only = task === undefined ? undefined : requireTaskFolder(context, task)
  const { markers, problems } = viewMarkers(root, context.nowMs, only)
  const pending = markers.filter((view) => view.state === 'pending' || view.state === 'unreadable').length
  const abandoned = markers.filter((view) => view.state === 'abandoned').length
  return {
    exitCode: options.exitCode && pending + abandoned > 0 ? 1 : 0,
    data: { root, pending, abandoned, markers, problems },
    lines: [
      ...(markers.length === 0 ? [inLine(`no markers in ${only?.path ?? path.join(root, SPECS_FOLDER)}`)] : []),
      ...markers.flatMap((view) => describeMarker(view, context, root)),
      ...problems.map((one) => `${context.paint.yellow('!')} ${inLine(unsearchable(one.path, one.detail))}`),
    ],
  }
}

function describeMarker(view: MarkerView, { paint, rootOption }: CommandContext, root: string): string[] {
  const { spent, limit } = view.continuations
  const { operation, skill } = namedWork(view)
  const colours: Partial<Record<string, (text: string) => string>> = { pending: paint.yellow, abandoned: paint.red }
  const facts = [
    colours[view.state]?.(view.state) ?? view.state,
    view.age_ms === null ? undefined : describeAge(view.age_ms),
    view.outcome === 'unchecked' ? 'ended without its checks' : undefined,
    spent === null ? undefined : `${spent} of ${limit} stops blocked`,
    operation === undefined ? skill : `${operation}${skill === undefined ? '' : ` (${skill})`}`,
  ]
  const { host_session: session, agent, agent_type: type } = view.owner
  const checks = view.checks.map(({ run, failed }) =>
    failed === null ? run : `${run} (failed the last time: ${failed})`,
  )
  const ofType = type === null ? '' : `, type ${type}`
  return [
    `${paint.bold(view.relative_path)}  ${facts.filter((fact) => fact !== undefined).join(' · ')}`,
    ...(session === null ? [] : [`  owner: session ${session}, agent ${agent ?? 'not known yet'}${ofType}`]),
    ...(view.reason === null ? [] : [`  reason: ${view.reason}`]),
    ...(view.wait === null ? [] : [`  waits for: ${view.wait.for}`]),
    ...view.steps.map((step, index) => `  ${step.done ? paint.green('✓') : '·'} ${index + 1}. ${step.name}`),
    ...checks.map((check) => `  check: ${check}`),
    ...view.problems.map((problem) => `  ${paint.yellow('!')} ${problem}`),
    ...(view.state === 'abandoned' ? [`  → ${markerFixFor(view, 'abandoned', { root, rootOption })}`] : []),
  ]
}
