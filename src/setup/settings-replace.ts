import fs from 'node:fs'
import path from 'node:path'
import { errorCode, realPath } from '../disk/file-facts.ts'
import { makeFolders } from '../disk/own-folder.ts'
import { withVerifiedFile } from '../disk/verified-write.ts'
import { sync } from '../disk/write.ts'
import { keepBackup } from './settings-backups.ts'

/** Replaces and removes settings files. */

/**
 * Replaces the file by a rename, once the new text is on disk and verified. First it writes a backup of `previous`, the
 * present text, and returns the backup's path.
 */
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

/** Removes a settings file that `install` created and that holds only our entries. */
export function removeSettingsFile(file: string): void {
  fs.rmSync(file)
  sync(path.dirname(file))
}
