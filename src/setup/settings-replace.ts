import fs from 'node:fs'
import path from 'node:path'
import { errorCode, realPath, unlessAbsent } from '../disk/file-facts.ts'
import { makeFolders } from '../disk/folders.ts'
import { BACKUP, withVerifiedFile } from '../disk/verified-write.ts'
import { placeNew } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { readSettingsFile } from './settings-paths.ts'

/** Only this loads `write-file-atomic`, so reading is separate. */

export function listBackups(file: string): string[] {
  const folder = path.dirname(file)
  const prefix = path.basename(file) + BACKUP
  const entries = unlessAbsent(() => fs.readdirSync(folder, { withFileTypes: true })) ?? []
  // A link or a pipe of such a name is not our backup.
  const names = entries.flatMap((entry) => (entry.isFile() ? entry.name : []))
  const numberOf = (name: string): number => Number(name.slice(prefix.length + 1) || 0)
  return names
    .filter((name) => name === prefix || (name.startsWith(`${prefix}.`) && Number.isInteger(numberOf(name))))
    .sort((one, other) => numberOf(other) - numberOf(one))
    .map((name) => path.join(folder, name))
}

function keepBackup(file: string, text: string): string {
  const backups = listBackups(file)
  const [newest] = backups
  if (newest !== undefined && readSettingsFile(newest) === text) return newest
  const { mode } = fs.statSync(file)
  for (let number = backups.length; ; number++) {
    const backup = number === 0 ? file + BACKUP : `${file}${BACKUP}.${number}`
    try {
      withVerifiedFile(backup, text, mode, (temporary) => placeNew(temporary, backup, text, mode))
      return backup
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}

/** Renames once the new text is on disk and verified. `before`: the text that was read; undefined if there was no file. */
export function replaceSettingsFile(file: string, text: string, before: string | undefined, backsUp = true) {
  makeFolders(path.dirname(file))
  const backup = before === undefined || !backsUp ? undefined : keepBackup(file, before)
  // Replaces the target and keeps the link.
  const target = realPath(file)
  const stats = fs.statSync(target, { throwIfNoEntry: false })
  withVerifiedFile(target, text, stats?.mode, (temporary) => {
    if (stats !== undefined) keepOwner(temporary, stats)
    requireUnchanged(file, before, text)
    fs.renameSync(temporary, target)
  })
  return backup
}

/** Hosts write their settings too: Claude Code adds rules to them while its agents work. */
export function requireUnchanged(file: string, before: string | undefined, after: string | undefined): void {
  const now = readSettingsFile(file)
  if (now !== before && now !== after) throw new PostflightError('file-changed', { path: file })
}

function keepOwner(temporary: string, { uid, gid }: fs.Stats): void {
  try {
    fs.chownSync(temporary, uid, gid)
  } catch (error) {
    // Only root may change a file's owner, and some file systems have no owners.
    if (!['EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error))) throw error
  }
}
