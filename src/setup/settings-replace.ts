import fs from 'node:fs'
import path from 'node:path'
import { errorCode, realPath, unlessAbsent } from '../disk/file-facts.ts'
import { makeFolders } from '../disk/folders.ts'
import { BACKUP, withVerifiedFile } from '../disk/verified-write.ts'
import { placeNew } from '../disk/write.ts'
import { readSettingsFile } from './settings-paths.ts'

/** Replaces settings files and keeps backups beside them. Only this loads `write-file-atomic`, so reading is separate. */

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

/** Renames once the new text is on disk and verified. */
export function replaceSettingsFile(file: string, text: string, previous: string | undefined): string | undefined {
  makeFolders(path.dirname(file))
  const backup = previous === undefined ? undefined : keepBackup(file, previous)
  // The target is replaced and the link stays: people link their settings from elsewhere.
  const target = realPath(file)
  const stats = fs.statSync(target, { throwIfNoEntry: false })
  withVerifiedFile(target, text, stats?.mode, (temporary) => {
    if (stats !== undefined) keepOwner(temporary, stats)
    fs.renameSync(temporary, target)
  })
  return backup
}

function keepOwner(temporary: string, { uid, gid }: fs.Stats): void {
  try {
    fs.chownSync(temporary, uid, gid)
  } catch (error) {
    // Only root may change a file's owner, and some file systems have no owners.
    if (!['EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error))) throw error
  }
}
