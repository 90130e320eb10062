import fs from 'node:fs'
import path from 'node:path'
import { type Environment, variable } from '../kernel/environment.ts'
import { PostflightError } from '../kernel/errors.ts'

/**
 * The current folder. Where it was removed, or its name is not UTF-8, an absolute `--root` (or `POSTFLIGHT_ROOT`) takes
 * its place.
 * @throws {PostflightError} `current-folder-lost` where there is none either.
 */
export function currentFolder(rootOption: string | undefined, environment: Environment): string {
  const folder = usableFolder()
  if (folder !== undefined) return folder
  const root = rootOption ?? variable(environment, 'POSTFLIGHT_ROOT')
  if (root === undefined || !path.isAbsolute(root)) throw new PostflightError('current-folder-lost')
  // The process itself moves there, because libraries ask it for its folder.
  for (const place of [root, path.parse(root).root]) {
    try {
      process.chdir(place)
      break
    } catch {
      // The command says that the root does not exist.
    }
  }
  return process.cwd()
}

/** The current folder; undefined where its path does not lead to it. */
function usableFolder(): string | undefined {
  try {
    const folder = process.cwd()
    // Node decodes a name that is not UTF-8 into another one.
    if (!folder.includes('\ufffd') || fs.statSync(folder).ino === fs.statSync('.').ino) return folder
  } catch {
    // It was removed.
  }
  return undefined
}
