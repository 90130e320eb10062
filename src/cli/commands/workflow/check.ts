import { PostflightError } from '../../../kernel/errors.ts'
import { CHECK_TEXT, failureWords, since } from '../../../marker/check-messages.ts'
import {
  type CommandContext,
  type CommandResult,
  recordInJournal,
  requireRoot,
  requireTaskFolder,
} from '../../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../../project/task-folder.ts'
import { currentPhase } from '../../../run/machine/position.ts'
import type { WorkflowState } from '../../../run/machine/state.ts'
import { PHASE_CHECK_TEXT } from '../../../run/run-messages.ts'
import { checkStanding, runPhaseCheck } from '../../../run/store/phase-check.ts'
import { requireState } from '../../../run/store/state-store.ts'
import { requireTrust } from '../../../run/store/trust.ts'
import type { PhaseCheckDocument } from '../../../views/documents/workflow/check.ts'
import { failedCheckData } from '../../clear/check-view.ts'
import { trusterOf } from '../../workflow/runner.ts'

/** `postflight workflow check`: runs the check of the current phase, and leaves its receipt. */

export interface PhaseCheckOptions {
  /** The time (ms) that the check may take. */
  readonly timeout: number
}

export async function check(
  context: CommandContext,
  task: string,
  options: PhaseCheckOptions,
): Promise<CommandResult<PhaseCheckDocument>> {
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const state = requireState(folder)
  const { run } = currentPhase(state).check
  const standing = checkStanding(folder, state)
  if (standing.kind === 'none' || run === undefined) {
    throw new PostflightError('check-none', { task: taskWord(folder), phase: state.phase })
  }
  if (standing.kind === 'passed') return resultOf(folder, state, 'passed', 0, PHASE_CHECK_TEXT.alreadyPassed(run))
  if (standing.kind === 'too-early') {
    return resultOf(folder, state, 'too-early', 1, PHASE_CHECK_TEXT.tooEarly(run, standing.why))
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
