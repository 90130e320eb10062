import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { readSettingsFile } from '../settings-paths.ts'
import { listBackups, removeSettingsFile, replaceSettingsFile } from '../settings-replace.ts'
import { removeRecord, type Target } from './target.ts'

export interface Removal {
  readonly file: string
  readonly before: string
  readonly after: string | undefined
}

export function removalsFrom(target: Target, files: readonly string[]): Removal[] {
  return files.flatMap((file) => {
    const before = readSettingsFile(file)
    if (before === undefined) return []
    const rest = target.remove(before, file)
    return before === rest ? [] : [{ file, before, after: isLeftBehind(target, file, rest) ? undefined : rest }]
  })
}

/** A link is not removed: its target would stay. */
function isLeftBehind(target: Target, file: string, rest: string): boolean {
  if (rest.trim() !== '{}' || kindAt(file) === 'link') return false
  // A backup without our entries is of a file that was there before.
  return !listBackups(file).some((backup) => {
    const text = readSettingsFile(backup)
    return text !== undefined && withoutOurs(target, file, text) === text
  })
}

/** Then removes the backups that have the same text as the file. */
export function carryOut(target: Target, { file, after }: Removal): void {
  if (after === undefined) removeSettingsFile(file)
  // No backup: the only loss is entries that `install` can write again.
  else replaceSettingsFile(file, after, undefined)
  removeNeedlessBackups(target, file, after ?? '')
  if (target.what === 'hook') removeRecord(file)
  if (target.scope !== 'user') removeEmptyFolders(path.dirname(file), target.project)
}

function removeNeedlessBackups(target: Target, file: string, text: string): void {
  const rest = withoutOurs(target, file, text)
  for (const backup of listBackups(file)) {
    const kept = readSettingsFile(backup)
    if (kept !== undefined && withoutOurs(target, file, kept) === rest) fs.rmSync(backup)
  }
}

function withoutOurs(target: Target, file: string, text: string): string {
  try {
    return target.remove(text, file)
  } catch {
    return text
  }
}

export function removeEmptyFolders(folder: string, top: string): void {
  for (let each = folder; each !== top && each.startsWith(top); each = path.dirname(each)) {
    try {
      fs.rmdirSync(each)
    } catch {
      // It holds something, or it is a link.
      return
    }
  }
}
