import { recordInJournal } from '../../project/command-context.ts'
import { endEntries } from '../../run/drive.ts'
import { shareOf } from '../../run/shared/share-record.ts'
import { requireState } from '../../run/store/state-store.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { type Declaration, type Run, TASK } from '../command.ts'
import { elsewhere, machineOf, publishNow, requireRunFolder, runResult, withRemote } from '../runs.ts'

export { runDocument as document } from '../../views/run-view.ts'

export const shareDeclaration = {
  description: 'publish a run to a git remote, so that another machine can continue it',
  examples: ['workflow share 259', 'workflow share 259 upstream'],
  declare: (command) => command.argument(...TASK).argument('[remote]', 'the name of a git remote (default: origin)'),
} satisfies Declaration

export const share: Run<typeof shareDeclaration, RunDocument> = async (context, [task, remote]) => {
  const folder = requireRunFolder(context, task)
  const lines = await publishNow(context, folder, remote ?? 'origin')
  return runResult(context, folder, requireState(folder), lines)
}

export const publishDeclaration = {
  free: true,
  description: 'publish the current state of a shared run (for the end of a CI job)',
  examples: ['workflow publish 259'],
  declare: (command) => command.argument(...TASK),
} satisfies Declaration

export const publish: Run<typeof publishDeclaration, RunDocument> = async (context, [task]) => {
  const folder = requireRunFolder(context, task)
  await publishNow(context, folder)
  return runResult(context, folder, requireState(folder))
}

export const releaseDeclaration = {
  description: 'publish a shared run one last time and end it here: anyone may continue it',
  examples: ['workflow release 259'],
  declare: (command) => command.argument(...TASK),
} satisfies Declaration

export const release: Run<typeof releaseDeclaration, RunDocument> = async (context, [task]) => {
  const folder = requireRunFolder(context, task)
  const { active } = requireState(folder)
  const { releaseRun } = await import('../../run/shared/publish-run.ts')
  const state = await withRemote(context, () => releaseRun(folder, machineOf(context)))
  // A hook that has completed the run meanwhile has recorded that.
  const isMoved = state.outcome === 'moved'
  recordInJournal(context, folder, ...endEntries(folder, { active: active && isMoved }, state))
  const share = isMoved ? shareOf(folder, state.id) : undefined
  return runResult(context, folder, state, share && [`  ${elsewhere(folder, share.remote)}`])
}
