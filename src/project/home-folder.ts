import os from 'node:os'
import path from 'node:path'
import { PostflightError } from '../kernel/errors.ts'

/**
 * The user's home folder. An empty or relative HOME would lead into the current folder, so the user database counts then.
 * @throws {PostflightError} `home-unknown`: a container may run with a user id that the database does not have.
 */
export function homeFolder(): string {
  const home = os.homedir()
  if (path.isAbsolute(home)) return home
  try {
    return os.userInfo().homedir
  } catch (error) {
    throw new PostflightError('home-unknown', {}, error)
  }
}
