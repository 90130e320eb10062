import { isResumable } from '../../run/machine/position.ts'
import { retryStep, skipStep } from '../../run/machine/steering.ts'
import { abortRun, steerStep, stopRun, stopRunNow } from '../../run/store/run.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type Declaration, type Run, STEP_NUMBER, TASK } from '../command.ts'
import { changeRun } from '../runs.ts'

export { runDocument as document } from '../../views/run-view.ts'

export const stopDeclaration = {
  description: 'send no further prompt, and stop a run when its agent ends its turn; `workflow resume` continues it',
  examples: ['workflow stop 259', 'workflow stop 259 --now'],
  declare: (command) =>
    command
      .argument(...TASK)
      .option('--now', 'stop the run immediately; a late result of the last prompt counts after `resume`', false),
} satisfies Declaration

export const stop: Run<typeof stopDeclaration, RunDocument> = (context, [task], { now }) =>
  changeRun(context, task, now ? stopRunNow : stopRun, ({ outcome }, before) => (before.active ? [] : wasOver(outcome)))

export const abortDeclaration = {
  description: 'end a run immediately and for good',
  examples: ['workflow abort 259'],
  declare: (command) => command.argument(...TASK),
} satisfies Declaration

export const abort: Run<typeof abortDeclaration, RunDocument> = (context, [task]) =>
  changeRun(context, task, abortRun, ({ outcome }, before) => (isResumable(before) ? [] : wasOver(outcome)))

function wasOver(outcome = ''): string[] {
  return [`  this run had already ended (${outcome}), so nothing was changed`]
}

export const retryDeclaration = {
  description: 'retry a step that was given up: it gets all its attempts again',
  examples: ['workflow retry 259 --step 3'],
  declare: (command) => command.argument(...TASK).requiredOption(...STEP_NUMBER),
} satisfies Declaration

export const retry: Run<typeof retryDeclaration, RunDocument> = (context, [task], { step }) =>
  changeRun(context, task, (folder, nowMs) => steerStep(folder, step, nowMs, retryStep))

export const skipDeclaration = {
  description: 'give up a step, and continue without it',
  examples: ['workflow skip 259 --step 3'],
  declare: (command) => command.argument(...TASK).requiredOption(...STEP_NUMBER),
} satisfies Declaration

export const skip: Run<typeof skipDeclaration, RunDocument> = (context, [task], { step }) =>
  changeRun(
    context,
    task,
    (folder, nowMs) => steerStep(folder, step, nowMs, skipStep),
    (_state, { endedSteps }) =>
      endedSteps.some((one) => one.step === step - 1) ? [`  step ${step} had already been given up`] : [],
  )
