import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { oneLine } from '../../kernel/text.ts'
import { checkFailed, checkList, markerProblem, outputLines, since } from '../../marker/check-messages.ts'
import { commandsOf, decideChecks, type Marker, type MarkerCheck, remainingSteps } from '../../marker/marker.ts'
import { changeMarker, readMarker, requireReadable } from '../../marker/marker-store.ts'
import { markerDisplayPath, markerKey } from '../../marker/stored-marker.ts'
import { type CommandContext, recordInJournal, requireTaskFolder } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import * as field from '../../views/documents.ts'
import { failedCheckData } from '../clear-folder.ts'
import { type Declaration, type OptionsOf, type Result, type Run, TASK, timeoutOption } from '../command.ts'

export const declaration = {
  free: true,
  description: 'tick a step of the checklist',
  examples: ['step 259 2', 'step 259 "git commit"', 'step 259 2 --undo'],
  declare: (command) =>
    command
      .argument(...TASK)
      .argument('<step>', 'its number or its name')
      .option('--undo', 'remove the tick', false)
      .option('--run-checks', "also run the step's checks if another session set them; they are printed first", false)
      .addOption(timeoutOption('the time that each check may take')),
} satisfies Declaration

export const document = () =>
  field.object({
    task: field.task,
    step: field.object({
      number: field.count('Its place in the checklist, from 1.'),
      name: field.text('The line of the checklist.'),
      done: field.flag('False after --undo, and if its check failed.'),
    }),
    remaining: field.count('The number of steps that remain.'),
    failed: field.optional(field.failedCheck, 'Its check that failed.'),
  })

export const run: Run<typeof declaration, typeof document> = async (context, [task, wanted], options) => {
  const folder = requireTaskFolder(context, task)
  const before = options.undo ? undefined : requireReadable(readMarker(folder))?.marker
  let proven: string | undefined
  if (before !== undefined) {
    const index = findStep(folder, before, wanted)
    proven = identityOf(before, index)
    const checks = isTicked(before, index) ? [] : checksOfStep(before, index)
    const failed = await proveStep(context, folder, before, checks, index, options)
    if (failed !== undefined) return failed
  }
  const { plan, marker } = changeMarker(folder, (present) => {
    const index = findStep(folder, present, wanted)
    const isSame = isTicked(present, index) === !options.undo
    if (proven !== undefined && proven !== identityOf(present, index)) throw refusal(folder, 'replaced', [])
    // Only `done` changes; unknown keys are kept.
    return { fields: { steps: withStep(present, index, !options.undo) }, index, isSame }
  })
  const name = nameOf(marker, plan.index)
  const remaining = remainingSteps(marker).length
  const done = !options.undo
  if (!plan.isSame) {
    const detail = `${done ? 'done' : 'undone'}: ${name}`
    recordInJournal(context, folder, { event: 'step', markerId: marker.id, detail })
  }
  const number = plan.index + 1
  const unchanged = plan.isSame ? `${done ? 'already done' : 'was not done'}; ` : ''
  const left = remaining === 0 ? 'all done: clear the marker' : `${remaining} to go`
  return {
    data: { task: folder.task, step: { number, name, done }, remaining, failed: null },
    lines: [`${done ? '✓' : '·'} ${number}. ${name} (${unchanged}${left})`],
  }
}

async function proveStep(
  context: CommandContext,
  folder: TaskFolder,
  marker: Marker,
  checks: readonly MarkerCheck[],
  index: number,
  options: OptionsOf<typeof declaration>,
): Promise<Result<typeof document> | undefined> {
  const decision = decideChecks(marker, { session: context.session, runChecks: options.runChecks }, checks)
  const { commands } = decision
  if (decision.refusal !== undefined) throw refusal(folder, decision.refusal, commands)
  if (commands.length === 0) return undefined
  const { prove } = await import('../../marker/prove.ts')
  const proof = await prove(context, folder, marker, decision, options.timeout)
  if (proof.kind === 'busy') throw refusal(folder, 'running', commands, since(proof.sinceMs, context.nowMs))
  if (proof.failed === undefined) return undefined
  const name = nameOf(marker, index)
  const why = `its ${checkFailed(proof.failed)}. The end of its output:`
  const lines = [`the step "${oneLine(name, 60)}" was not ticked: ${why}`, ...outputLines(proof.failed.output)]
  const remaining = remainingSteps(marker).length
  const data = { task: folder.task, step: { number: index + 1, name, done: false }, remaining }
  return { exitCode: 1, data: { ...data, failed: failedCheckData(proof.failed) }, lines, essential: lines }
}

type Refusal = ErrorArguments['checks-refused']['refusal']

function refusal(folder: TaskFolder, refusal: Refusal, commands: readonly string[], since?: string) {
  const path = markerDisplayPath(folder)
  return new PostflightError('checks-refused', { path, refusal, commands: checkList(commands), since })
}

function isTicked(marker: Marker, index: number): boolean {
  return marker.steps[index]?.done === true
}

function checksOfStep(marker: Marker, index: number): MarkerCheck[] {
  return marker.checks.filter(({ step }) => step !== undefined && step === marker.steps[index]?.name)
}

/** Differs if another step has the number now. */
function identityOf(marker: Marker, index: number): string {
  return JSON.stringify([markerKey(marker), marker.steps[index]?.name, commandsOf(checksOfStep(marker, index))])
}

function nameOf(marker: Marker, index: number): string {
  return oneLine(marker.steps[index]?.name ?? '', 200)
}

function findStep(folder: TaskFolder, marker: Marker, wanted: string): number {
  const path = markerDisplayPath(folder)
  const [problem] = marker.problems
  if (marker.fields === undefined && problem !== undefined) {
    throw new PostflightError('marker-unparsed', { path, detail: markerProblem(problem) })
  }
  if (marker.steps.length === 0) throw new PostflightError('steps-none', { path })
  const names = marker.steps.map((one) => one.name)
  // The number comes first, because a block's reason names the numbers.
  const number = Number(wanted)
  if (/^\d+$/.test(wanted) && number >= 1 && number <= names.length) return number - 1
  const printed = (name: string): string => oneLine(name, Number.POSITIVE_INFINITY)
  const exact = names.indexOf(wanted)
  // Another program may have written other spaces.
  const named = exact === -1 ? names.map(printed).indexOf(printed(wanted)) : exact
  if (named !== -1) return named
  const steps = names.map((name, at) => `${at + 1} "${oneLine(name, 60)}"`).join(', ')
  throw new PostflightError('step-unknown', { step: wanted, path, steps })
}

function withStep(marker: Marker, index: number, done: boolean): unknown[] {
  const items: unknown = marker.fields?.steps
  let at = -1
  return (Array.isArray(items) ? items : []).map((item: unknown) => {
    if (isStep(item)) at += 1
    if (!isStep(item) || at !== index) return item
    return typeof item === 'string' ? { name: item, done } : { ...(item as object), done }
  })
}

function isStep(item: unknown): boolean {
  return typeof (typeof item === 'string' ? item : (item as { name?: unknown } | null)?.name) === 'string'
}
