import fs from 'node:fs'
import path from 'node:path'
import { kindIfSeen, unwritableBecause } from '../../disk/file-facts.ts'
import { makeFolders } from '../../disk/folders.ts'
import { sha256 } from '../../disk/ids.ts'
import type { Person } from '../../done/trust-store.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { attempt } from '../../kernel/values.ts'
import { checkList } from '../../marker/check-messages.ts'
import { stateFolder } from '../../project/home-folder.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import type { WorkflowState } from '../machine/state.ts'

/** Records which checks may run. Outside the repository, because anything inside may come with a clone. */

export type Truster = Person & { readonly session: string | undefined }

export function commandsOfRun({ definition }: WorkflowState): string[] {
  return [...new Set(definition.phases.flatMap(({ check }) => check.run ?? []))]
}

/** Ignores errors, because some sandboxes have no home folder: see `isTrusted`. */
export function trustRun(state: WorkflowState, truster: Truster): void {
  if (commandsOfRun(state).length === 0) return
  const file = trustFile(state, truster)
  attempt(() => {
    makeFolders(path.dirname(file))
    fs.writeFileSync(file, '', { mode: 0o600 })
  })
}

/** If trust cannot be recorded, trusts the session that drives the run: no other takes over a run without trust. */
export function isTrusted(state: WorkflowState, truster: Truster): boolean {
  if (commandsOfRun(state).length === 0) return true
  const file = trustFile(state, truster)
  if (kindIfSeen(file) === 'file') return true
  if (isWritable(path.dirname(file))) return false
  return truster.session !== undefined && state.hostSession === truster.session
}

export function requireTrust(folder: TaskFolder, state: WorkflowState, truster: Truster): void {
  if (isTrusted(state, truster)) return
  const store = path.dirname(trustFile(state, truster))
  if (truster.session === undefined && !isWritable(store)) {
    throw new PostflightError('cannot-write', { path: store, detail: 'trust is recorded there' })
  }
  throw new PostflightError('commands-untrusted', { task: taskWord(folder), commands: checkList(commandsOfRun(state)) })
}

function trustFile({ id, definition }: WorkflowState, { environment }: Truster): string {
  const checks = definition.phases.map(({ id: phase, check }) => [phase, check.run, check.files])
  return path.join(stateFolder(environment), 'trusted', sha256(JSON.stringify([id, checks])))
}

function isWritable(folder: string): boolean {
  const above = path.dirname(folder)
  if (kindIfSeen(folder) === undefined && above !== folder) return isWritable(above)
  return attempt(() => fs.statSync(folder).isDirectory(), false) && unwritableBecause(folder) === undefined
}
