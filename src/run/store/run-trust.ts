import fs from 'node:fs'
import path from 'node:path'
import { isAbsent, kindAt } from '../../disk/file-facts.ts'
import { sha256 } from '../../disk/hash.ts'
import { makeFolders } from '../../disk/own-folder.ts'
import type { Environment } from '../../kernel/environment.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { checkList } from '../../marker/check-messages.ts'
import { stateFolder } from '../../project/home-folder.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import type { WorkflowState } from '../machine/state.ts'

/**
 * Which runs may have their checks run: those whose commands this user has started or trusted. This is recorded outside
 * the repository, because everything inside may have come with a clone.
 */

/** The person at this machine, and the session of the caller. */
export interface Truster {
  readonly environment: Environment
  readonly findHome: () => string
  readonly session: string | undefined
}

/** The commands of a run's checks. */
export function commandsOfRun({ definition }: WorkflowState): string[] {
  return [...new Set(definition.phases.flatMap(({ check }) => check.run ?? []))]
}

/** Notes that the user trusts the commands of a run. If its store cannot be written, that is not an error: see `isTrusted`. */
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

/**
 * True if the user trusts the commands of a run. If that cannot be recorded, the session that drives the run is
 * trusted, because no other session takes over a run without trust.
 */
function isTrusted(state: WorkflowState, truster: Truster): boolean {
  if (commandsOfRun(state).length === 0) return true
  const file = trustFile(state, truster)
  try {
    if (kindAt(file) === 'file') return true
  } catch {
    // The store cannot be read.
  }
  if (isWritable(path.dirname(file))) return false
  return truster.session !== undefined && state.hostSession === truster.session
}

/** @throws {PostflightError} `commands-untrusted` for a run whose commands this user has neither started nor trusted. */
export function requireTrust(folder: TaskFolder, state: WorkflowState, truster: Truster): void {
  if (isTrusted(state, truster)) return
  throw new PostflightError('commands-untrusted', {
    task: taskWord(folder),
    commands: checkList(commandsOfRun(state)),
  })
}

/** The file of a run: its name is the hash of the run's id and of all that its checks consist of. */
function trustFile({ id, definition }: WorkflowState, { environment, findHome }: Truster): string {
  const checks = definition.phases.map(({ id: phase, check }) => [phase, check.run, check.files])
  return path.join(stateFolder(environment, findHome), 'trusted', sha256(JSON.stringify([id, checks])))
}

/** True if a folder can be written, or made. */
function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK)
    return fs.statSync(folder).isDirectory()
  } catch (error) {
    const above = path.dirname(folder)
    return isAbsent(error) && above !== folder && isWritable(above)
  }
}
