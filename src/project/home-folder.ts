import path from 'node:path'
import { PostflightError } from '../kernel/errors.ts'
import type { Environment } from '../kernel/values.ts'

/** Loaded on demand: only a user without a full path in HOME needs it. */
const os = () => process.getBuiltinModule('node:os')

/** An empty or relative HOME would mean the current folder. The user database may lack a container's user id. */
export function homeFolder(environment: Environment = process.env): string {
  const home = process.platform === 'win32' ? os().homedir() : environment.HOME
  if (home !== undefined && path.isAbsolute(home)) return home
  try {
    return os().userInfo().homedir
  } catch (error) {
    throw new PostflightError('home-unknown', {}, error)
  }
}

/** Trusted data must be outside of every repository. */
export function stateFolder(environment: Environment): string {
  const { XDG_STATE_HOME: set } = environment
  const store = set !== undefined && path.isAbsolute(set) ? set : path.join(homeFolder(environment), '.local', 'state')
  return path.join(store, 'postflight-guard')
}
