import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent } from '../disk/file-facts.ts'
import { withVerifiedFile } from '../disk/verified-write.ts'
import { placeNew } from '../disk/write.ts'
import { readSettingsFile } from './settings-read.ts'

/** Lists and writes backups of settings files, which lie beside them. */

const BACKUP = '.postflight-backup'

/** The backups of a settings file, newest first. */
export function listBackups(file: string): string[] {
  const folder = path.dirname(file)
  const prefix = path.basename(file) + BACKUP
  let names: string[]
  try {
    // A link or a pipe of such a name is not our backup.
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

/**
 * Writes a verified backup of a settings file's text, unless the newest backup holds that text already. Returns the
 * backup's path.
 */
export function keepBackup(file: string, text: string): string {
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
