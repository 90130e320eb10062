import * as z from 'zod/mini'
import { PostflightError } from '../../kernel/errors.ts'
import { CHECK_TEXT, failureWords, since } from '../../marker/check-messages.ts'
import { type CommandResult, recordInJournal } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { currentPhase } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { PHASE_CHECK_TEXT } from '../../run/run-messages.ts'
import { refuseMoved } from '../../run/shared/share-record.ts'
import { checkStatus, runPhaseCheck } from '../../run/store/phase-check.ts'
import { requireTrust } from '../../run/store/run-trust.ts'
import { requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { failedCheckData } from '../clear/clear-view.ts'
import { type BareCommand, type Declaration, example, type Run, TASK, timeoutOption } from '../command.ts'
import { publishChange, requireRunFolder, trusterOf } from '../runs.ts'

export const declaration = {
  free: true,
  declare: (command: BareCommand) =>
    command
      .description('run the check of the current phase (check.run)')
      .argument(...TASK)
      .addOption(timeoutOption('the time that it may take'))
      .addHelpText('after', example('workflow check 259', 'workflow check 259 --timeout 1800')),
} satisfies Declaration

export const document = () =>
  z.strictObject({
    task: field.task,
    phase: field.text('The current phase.'),
    result: z.enum(['passed', 'failed', 'running', 'too-early']).register(z.globalRegistry, {
      description: '"running": another process runs it. "too-early": the artifact is not valid yet.',
    }),
    message: field.text('The result in words.'),
    receipt: field.optionalText('The receipt, as a path in the task folder; null if the check was not run.'),
    not_bound: z.array(field.text('A path from the root, or a pattern.')).register(z.globalRegistry, {
      description: 'What check.files names and the result is not bound to: links, and files in node_modules.',
    }),
    failed: z.nullable(field.failedCheck).register(z.globalRegistry, { description: 'The check, if it failed.' }),
  })

type PhaseCheckDocument = field.DocumentOf<typeof document>

export const run: Run<typeof declaration, PhaseCheckDocument> = async (context, [task], options) => {
  const folder = requireRunFolder(context, task)
  const state = requireState(folder)
  refuseMoved(folder, state)
  const { run } = currentPhase(state).check
  const status = checkStatus(folder, state)
  if (status.kind === 'none' || run === undefined) {
    throw new PostflightError('check-none', { task: taskWord(folder), phase: state.phase })
  }
  if (status.kind === 'passed') return resultOf(folder, state, 'passed', 0, PHASE_CHECK_TEXT.alreadyPassed(run))
  if (status.kind === 'too-early') {
    return resultOf(folder, state, 'too-early', 1, PHASE_CHECK_TEXT.tooEarly(run, status.why))
  }
  requireTrust(folder, state, trusterOf(context))
  const done = await runPhaseCheck(folder, state, { limitMs: options.timeout, obeysSignals: true })
  if (done.kind === 'none') throw new PostflightError('check-none', { task: taskWord(folder), phase: state.phase })
  if (done.kind === 'busy') {
    return resultOf(folder, state, 'running', 1, PHASE_CHECK_TEXT.running(run, since(done.sinceMs, context.nowMs)))
  }
  const { failure, durationMs, output } = done.check
  const words = failure === undefined ? undefined : failureWords(failure)
  const line =
    words === undefined ? PHASE_CHECK_TEXT.passed(run, durationMs) : PHASE_CHECK_TEXT.failed(run, words, durationMs)
  recordInJournal(context, folder.root, [done.entry])
  await publishChange(context, folder)
  const outcome = resultOf(
    folder,
    state,
    failure === undefined ? 'passed' : 'failed',
    failure === undefined ? 0 : 1,
    line,
  )
  const notBound = done.notBound.length === 0 ? [] : [PHASE_CHECK_TEXT.notBound(done.notBound)]
  const result = {
    ...outcome,
    data: { ...outcome.data, not_bound: done.notBound.map((one) => one.path) },
    lines: [line, ...notBound],
  }
  if (failure === undefined) return { ...result, data: { ...result.data, receipt: done.receipt } }
  const lines = [line, ...CHECK_TEXT.output(output), ...notBound]
  return {
    ...result,
    data: { ...result.data, receipt: done.receipt, failed: failedCheckData({ ...done.check, failure }) },
    lines,
    essential: lines,
  }
}

function resultOf(
  folder: TaskFolder,
  state: WorkflowState,
  result: PhaseCheckDocument['result'],
  exitCode: 0 | 1,
  line: string,
): CommandResult<PhaseCheckDocument> {
  return {
    exitCode,
    data: { task: folder.task, phase: state.phase, result, message: line, receipt: null, failed: null, not_bound: [] },
    lines: [line],
    essential: exitCode === 0 ? [] : [line],
  }
}
