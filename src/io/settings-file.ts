import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../core/errors.ts'
import { type Environment, variable } from '../core/hosts/host.ts'
import { errorCode, isAbsent } from './fs/errors.ts'
import { kindAt, realPath } from './fs/path-kind.ts'
import { createFile, createWhole, temporaryBeside, tryRemoveFile } from './fs/write.ts'

/** Settings files: whose they are, read and replaced whole, with a copy of what was there. */

export const SCOPES = ['project', 'local', 'user'] as const

export type Scope = (typeof SCOPES)[number]

/** Claude Code's settings file of a scope. */
export function claudeSettingsPath(scope: Scope, project: string, home: string, environment: Environment): string {
  switch (scope) {
    case 'user':
      return path.join(variable(environment, 'CLAUDE_CONFIG_DIR') ?? path.join(home, '.claude'), 'settings.json')
    case 'project':
      return path.join(project, '.claude', 'settings.json')
    case 'local':
      return path.join(project, '.claude', 'settings.local.json')
  }
}

/** Names of OpenCode's configuration, in the order in which it reads them: both, where both are there (1.18.33). */
const OPENCODE_CONFIGS = ['opencode.json', 'opencode.jsonc']

/**
 * OpenCode's configuration of a scope: the files that are there, in its order; the one that `install` makes, where there
 * is none. A file that has both names, through a link, is one.
 */
export function openCodeConfigPaths(
  scope: Exclude<Scope, 'local'>,
  project: string,
  home: string,
  environment: Environment,
): string[] {
  const folder =
    scope === 'user'
      ? path.join(variable(environment, 'XDG_CONFIG_HOME') ?? path.join(home, '.config'), 'opencode')
      : project
  const [main, ...others] = OPENCODE_CONFIGS.map((name) => path.join(folder, name)) as [string, ...string[]]
  const there = [main, ...others].filter((file) => kindAt(file) !== undefined)
  return there.length === 0 ? [main] : distinctFiles(there)
}

/** The files without those that are, through links, one of the earlier ones. */
export function distinctFiles(files: readonly string[]): string[] {
  const real = files.map((file) => {
    try {
      return fs.realpathSync(file)
    } catch {
      // Who reads it says what is wrong with it.
      return file
    }
  })
  return files.filter((_, index) => real.indexOf(real[index] as string) === index)
}

/** Settings longer than this (bytes) are nobody's. */
const MAX_BYTES = 8_388_608

/**
 * The file's text; undefined where there is none. Links are followed: people link their settings from elsewhere.
 * @throws {PostflightError} `file-unreadable`, also for what a read would wait for (a named pipe) or choke on.
 */
export function readSettingsFile(file: string): string | undefined {
  const refuse = (detail: string, cause?: unknown): never => {
    throw new PostflightError('file-unreadable', { path: file, detail }, cause)
  }
  try {
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return kindAt(file) === undefined ? undefined : refuse('a link that leads nowhere')
    if (!stats.isFile()) return refuse(stats.isDirectory() ? 'a folder' : 'no regular file')
    if (stats.size > MAX_BYTES) return refuse(`larger than ${MAX_BYTES} bytes`)
    // Bytes that are no UTF-8 would not survive being written again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(file))
  } catch (error) {
    if (error instanceof PostflightError) throw error
    return isAbsent(error) ? undefined : refuse(errorCode(error), error)
  }
}

/**
 * A project's settings may be a link, but not one that leads out of the project: a cloned repository could point it
 * at any file of the user's.
 * @throws {PostflightError} `not-a-folder`, `file-unreadable`.
 */
export function requireInside(file: string, project: string): void {
  for (const target of [path.dirname(file), file]) {
    let real: string
    try {
      real = fs.realpathSync(target)
    } catch (error) {
      if (isAbsent(error)) continue
      throw new PostflightError('file-unreadable', { path: target, detail: errorCode(error) }, error)
    }
    const relative = path.relative(fs.realpathSync(project), real)
    if (relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) {
      throw new PostflightError('file-unreadable', { path: target, detail: 'a link that leads out of the project' })
    }
  }
}

const BACKUP = '.postflight-backup'

/** The copies kept of a settings file, newest first. */
export function listBackups(file: string): string[] {
  const folder = path.dirname(file)
  const prefix = path.basename(file) + BACKUP
  let names: string[]
  try {
    // A link or a pipe of such a name is no copy of ours.
    names = fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : []))
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
  const numberOf = (name: string): number => Number(name.slice(prefix.length + 1) || 0)
  return names
    .filter((name) => name === prefix || (name.startsWith(`${prefix}.`) && Number.isInteger(numberOf(name))))
    .sort((one, other) => numberOf(other) - numberOf(one))
    .map((name) => path.join(folder, name))
}

/** Replaces the file atomically, keeping a copy of what was there, if anything. Gives the copy's path. */
export function replaceSettingsFile(file: string, text: string, previous: string | undefined): string | undefined {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const backup = previous === undefined ? undefined : keepBackup(file, previous)
  // People link their settings from elsewhere, and the link stays.
  replaceTarget(realPath(file), text)
  return backup
}

/** Mode and owner stay. Not write-file-atomic, which takes a write that a full disk cut short for a whole one. */
function replaceTarget(target: string, text: string): void {
  const stats = fs.statSync(target, { throwIfNoEntry: false })
  const temporary = temporaryBeside(target)
  createFile(temporary, text, true, stats === undefined ? 0o666 : stats.mode & 0o777)
  try {
    if (stats !== undefined) {
      keepOwner(temporary, stats)
      fs.chmodSync(temporary, stats.mode & 0o7777)
    }
    fs.renameSync(temporary, target)
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
}

function keepOwner(temporary: string, { uid, gid }: fs.Stats): void {
  try {
    fs.chownSync(temporary, uid, gid)
  } catch (error) {
    // Not everybody may give files away, and not every file system knows owners.
    if (!['EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error))) throw error
  }
}

/** Removes a settings file that we made and that holds nothing but ours. */
export function removeSettingsFile(file: string): void {
  fs.rmSync(file)
}

function keepBackup(file: string, text: string): string {
  const newest = listBackups(file)[0]
  if (newest !== undefined && readSettingsFile(newest) === text) return newest
  for (let number = listBackups(file).length; ; number++) {
    const backup = number === 0 ? file + BACKUP : `${file}${BACKUP}.${number}`
    try {
      createWhole(backup, text, fs.statSync(file).mode & 0o777)
      return backup
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}
