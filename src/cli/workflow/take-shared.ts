import { isAgentShell } from '../../hosts/all-hosts.ts'
import { asPostflightError, PostflightError } from '../../kernel/errors.ts'
import { checkList } from '../../marker/check-messages.ts'
import { type CommandContext, findCommandRoot } from '../../project/command-context.ts'
import { inFolder, newRootFolder } from '../../project/new-task-folder.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { isResumable } from '../../run/machine/position.ts'
import { hasOwnPrompts } from '../../run/shared/own-definition.ts'
import { gitCall, publishRun } from '../../run/shared/publish-run.ts'
import { requireRemote } from '../../run/shared/ref-store.ts'
import { folderOfShare, shareOf } from '../../run/shared/share-record.ts'
import { findRun, heldError, isHeldBy, takeRun } from '../../run/shared/take-run.ts'
import { enteredFrom } from '../../run/store/run.ts'
import { commandsOfRun, isTrusted, trustRun } from '../../run/store/run-trust.ts'
import { readState } from '../../run/store/state-store.ts'
import { machineOf, publishEnd } from '../runs.ts'

export async function takeShared(
  context: CommandContext,
  word: string,
  remote: string,
  wish: { readonly take: boolean; readonly trust: boolean; readonly from?: string | undefined },
): Promise<TaskFolder> {
  const root = findCommandRoot(context) ?? newRootFolder(context)
  const call = await requireRemote(gitCall(root), remote)
  const found = await findRun(call, word)
  const folder = folderOfShare(root, found.holder.path, found.run)
  const present = readState(folder)
  const known = present?.id === found.run ? present : undefined
  const share = shareOf(folder, found.run)
  const isHere = isHeldBy(share, found)
  // The state here is newer than the ref, unless the files of the claim are not in place yet.
  if (isHere && share?.claim !== found.commit && known !== undefined && known.outcome !== 'moved') return folder
  if (!isResumable(found.state)) {
    throw new PostflightError('workflow-over', { task: taskWord(folder), outcome: found.state.outcome ?? '' })
  }
  if (!isHere && found.holder.machine !== undefined) {
    if (!wish.take) throw await heldError(call, found, context.nowMs)
    if (isAgentShell(context.environment)) throw new PostflightError('take-agent', { run: found.run })
  }
  if (wish.from !== undefined) enteredFrom(folder, found.state, wish.from, context.nowMs)
  if (!wish.trust) {
    const { run, commit, state } = found
    const isOwn = hasOwnPrompts(state, known, { root, packageFolder: context.packageFolder })
    if (!isTrusted(state, context)) {
      const commands = checkList(commandsOfRun(state))
      // `--trust` covers both.
      const prompts = isOwn ? {} : { prompts: commit }
      throw new PostflightError('commands-untrusted', { task: run, commands, from: remote, ...prompts })
    }
    if (!isOwn) throw new PostflightError('prompts-untrusted', { run, remote, commit })
  }
  return inFolder(folder, async () => {
    const machine = machineOf(context)
    if (share !== undefined && known !== undefined) {
      // Another machine took the run: what was not published here is kept beside it.
      await publishRun(folder, machine).catch((error: unknown) => {
        if (!['workflow-moved', 'not-published'].includes(asPostflightError(error).code)) throw error
      })
    }
    if (known === undefined) await publishEnd(context, folder)
    await takeRun(call, folder, found, machine)
    if (wish.trust) trustRun(found.state, context)
    return folder
  })
}
