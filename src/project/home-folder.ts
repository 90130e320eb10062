import os from 'node:os'
import path from 'node:path'
import type { Environment } from '../kernel/environment.ts'
import { PostflightError } from '../kernel/errors.ts'

/**
 * The user's home folder. An empty or relative HOME would lead into the current folder, so the user database counts then.
 * @throws {PostflightError} `home-unknown`: a container may run with a user id that the database does not have.
 */
export function homeFolder(environment: Environment = process.env): string {
  const home = process.platform === 'win32' ? os.homedir() : environment.HOME
  if (home !== undefined && path.isAbsolute(home)) return home
  try {
    return os.userInfo().homedir
  } catch (error) {
    throw new PostflightError('home-unknown', {}, error)
  }
}

/** Our folder below the user's state folder: what is trusted on this machine lies outside of every repository. */
export function stateFolder(environment: Environment, findHome: () => string): string {
  const { XDG_STATE_HOME: state } = environment
  const store = state !== undefined && path.isAbsolute(state) ? state : path.join(findHome(), '.local', 'state')
  return path.join(store, 'postflight-guard')
}
