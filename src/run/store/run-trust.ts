import fs from 'node:fs'
import path from 'node:path'
import { isAbsent, kindAt } from '../../disk/file-facts.ts'
import { makeFolders } from '../../disk/folders.ts'
import { sha256 } from '../../disk/ids.ts'
import { PostflightError } from '../../kernel/errors.ts'
import type { Environment } from '../../kernel/values.ts'
import { checkList } from '../../marker/check-messages.ts'
import { stateFolder } from '../../project/root.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import type { WorkflowState } from '../machine/state.ts'

/** Which checks may run. Recorded outside the repository: anything inside may come with a clone. */

export interface Truster {
  readonly environment: Environment
  readonly findHome: () => string
  readonly session: string | undefined
}

export function commandsOfRun({ definition }: WorkflowState): string[] {
  return [...new Set(definition.phases.flatMap(({ check }) => check.run ?? []))]
}

/** Ignores errors: see `isTrusted`. */
export function trustRun(state: WorkflowState, truster: Truster): void {
  if (commandsOfRun(state).length === 0) return
  const file = trustFile(state, truster)
  try {
    makeFolders(path.dirname(file))
    fs.writeFileSync(file, '', { mode: 0o600 })
  } catch {
    // A sandbox without a home.
  }
}

/** If trust cannot be recorded, trusts the session that drives the run: no other takes over a run without trust. */
export function isTrusted(state: WorkflowState, truster: Truster): boolean {
  if (commandsOfRun(state).length === 0) return true
  const file = trustFile(state, truster)
  try {
    if (kindAt(file) === 'file') return true
  } catch {
    // The store is unreadable.
  }
  if (isWritable(path.dirname(file))) return false
  return truster.session !== undefined && state.hostSession === truster.session
}

export function requireTrust(folder: TaskFolder, state: WorkflowState, truster: Truster): void {
  if (isTrusted(state, truster)) return
  throw new PostflightError('commands-untrusted', {
    task: taskWord(folder),
    commands: checkList(commandsOfRun(state)),
  })
}

function trustFile({ id, definition }: WorkflowState, { environment, findHome }: Truster): string {
  const checks = definition.phases.map(({ id: phase, check }) => [phase, check.run, check.files])
  return path.join(stateFolder(environment, findHome), 'trusted', sha256(JSON.stringify([id, checks])))
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK)
    return fs.statSync(folder).isDirectory()
  } catch (error) {
    const above = path.dirname(folder)
    return isAbsent(error) && above !== folder && isWritable(above)
  }
}
