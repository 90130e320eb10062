import { PostflightError } from '../../kernel/errors.ts'
import { counted, listed, quote } from '../../kernel/text.ts'
import { failureWords, outputLines, seconds } from '../../marker/check-messages.ts'
import { recordInJournal } from '../../project/command-context.ts'
import { taskWord } from '../../project/task-folder.ts'
import { currentPhase, needOf } from '../../run/machine/position.ts'
import { refuseMoved } from '../../run/shared/share-record.ts'
import { runDueCheck } from '../../run/store/phase-check.ts'
import { requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { failedCheckData } from '../clear-folder.ts'
import { type Declaration, type Result, type Run, TASK, timeoutOption } from '../command.ts'
import { checkIsRunning, publishChange, requireRunFolder } from '../runs.ts'

export const declaration = {
  free: true,
  description: 'run the check of the current phase (check.run)',
  examples: ['workflow check 259', 'workflow check 259 --timeout 1800'],
  declare: (command) => command.argument(...TASK).addOption(timeoutOption('the time for the check')),
} satisfies Declaration

export const document = () =>
  field.object({
    task: field.task,
    phase: field.text('The current phase.'),
    result: field.described(
      field.oneOf(['passed', 'failed', 'running', 'too-early']),
      '"running": another process runs it. "too-early": the artifact is not valid yet.',
    ),
    message: field.text('The result in words.'),
    receipt: field.optionalText('The receipt, as a path in the task folder; null if the check was not run.'),
    not_bound: field.described(
      field.texts('A path from the root, or a pattern.'),
      'Links and files in node_modules that check.files names: the result is not bound to them.',
    ),
    failed: field.optional(field.failedCheck, 'The check, if it failed.'),
  })

type PhaseCheckDocument = field.DocumentOf<typeof document>

export const run: Run<typeof declaration, typeof document> = async (context, [task], options) => {
  const folder = requireRunFolder(context, task)
  const state = requireState(folder)
  refuseMoved(folder, state)
  if (!state.active) {
    const resumable = needOf(state).kind === 'resume'
    throw new PostflightError('workflow-over', { task: taskWord(folder), outcome: state.outcome ?? '', resumable })
  }
  const resultOf = (
    result: PhaseCheckDocument['result'],
    lines: readonly [string, ...string[]],
    data: Partial<PhaseCheckDocument> = {},
  ): Result<PhaseCheckDocument> => {
    const nothing = { receipt: null, failed: null, not_bound: [] }
    return {
      exitCode: result === 'passed' ? 0 : 1,
      data: { task: folder.task, phase: state.phase, result, message: lines[0], ...nothing, ...data },
      lines,
      essential: result === 'passed' ? [] : lines,
    }
  }
  const done = await runDueCheck(folder, state, context, { limitMs: options.timeout, survivesSignals: true })
  if (done.kind === 'none') throw new PostflightError('check-none', { task: taskWord(folder), phase: state.phase })
  const named = `the check \`${quote(currentPhase(state).check.run ?? '', 200)}\``
  if (done.kind === 'passed') {
    return resultOf('passed', [`${named} has passed for these files, so it was not run again`])
  }
  if (done.kind === 'too-early') {
    const why = quote(done.why)
    return resultOf('too-early', [`${named} was not run, because the phase has no valid result yet: ${why}`])
  }
  if (done.kind === 'busy') return resultOf('running', [checkIsRunning(context, done)])
  recordInJournal(context, folder, done.entry)
  await publishChange(context, folder)
  const { failure, durationMs, output } = done.check
  const notBound = done.notBound.length === 0 ? [] : [notBoundNote(done.notBound)]
  const data = { receipt: done.receipt, not_bound: done.notBound.map((one) => one.path) }
  const time = seconds(durationMs)
  if (failure === undefined) return resultOf('passed', [`${named} passed (${time})`, ...notBound], data)
  const line = `${named} failed (${failureWords(failure)}; ${time}). The end of its output:`
  const failed = failedCheckData({ ...done.check, failure })
  return resultOf('failed', [line, ...outputLines(output), ...notBound], { ...data, failed })
}

function notBoundNote(files: readonly Readonly<{ path: string; why: string }>[]): string {
  const named = files.slice(0, 5).map(({ path, why }) => `${quote(path, 200)} (${why === 'link' ? 'a link' : why})`)
  const others = files.length > 5 ? ` and ${counted(files.length - 5, 'other')}` : ''
  return `its result is not bound to ${listed(named)}${others}: a change there does not invalidate it`
}
