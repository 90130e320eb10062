import os from 'node:os'
import path from 'node:path'

/** The user's home folder. An empty or relative HOME would lead into the current folder, so the user database counts then. */
export function homeFolder(): string {
  const home = os.homedir()
  return path.isAbsolute(home) ? home : os.userInfo().homedir
}
