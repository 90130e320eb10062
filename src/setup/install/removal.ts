import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/path-kind.ts'
import { listBackups } from '../settings-backups.ts'
import { readSettingsFile } from '../settings-read.ts'
import { removeSettingsFile, replaceSettingsFile } from '../settings-replace.ts'
import { removeRecord } from './rules-record.ts'
import type { Target } from './target.ts'

/** Takes our entries out of settings files, and restores the text from before where that is known. */

/** A file that holds our entries, and its text without them. */
export interface Removal {
  readonly file: string
  readonly before: string
  /** Undefined: the file is removed. */
  readonly after: string | undefined
}

/** The files that hold entries of ours. Nothing is written. */
export function removalsFrom(target: Target, files: readonly string[]): Removal[] {
  return files.flatMap((file) => {
    const before = readSettingsFile(file)
    if (before === undefined) return []
    const after = originalText(target, file, before)
    return before === after ? [] : [{ file, before, after }]
  })
}

/** Removes our entries from a file, then the backups that have the same text as the file. */
export function carryOut(target: Target, { file, before, after }: Removal): void {
  if (after === undefined) removeSettingsFile(file)
  // No new backup is needed if this restores one.
  else replaceSettingsFile(file, after, isKept(file, after) ? undefined : before)
  removeNeedlessBackups(target, file, after ?? '')
  if (target.what === 'hook') removeRecord(file)
  if (target.scope !== 'user') removeEmptyFolders(path.dirname(file), target.project)
}

/** True if a backup holds exactly this text: then the only loss is entries that `install` can write again. */
function isKept(file: string, text: string): boolean {
  return listBackups(file).some((backup) => readSettingsFile(backup) === text)
}

function removeNeedlessBackups(target: Target, file: string, text: string): void {
  const rest = withoutOurs(target, file, text)
  for (const backup of listBackups(file)) {
    const kept = readSettingsFile(backup)
    if (kept !== undefined && withoutOurs(target, file, kept) === rest) fs.rmSync(backup)
  }
}

/** The text without our entries; the whole text where it does not parse. */
function withoutOurs(target: Target, file: string, text: string): string {
  try {
    return target.remove(text, file)
  } catch {
    return text
  }
}

/** Removes `folder` and the folders above it, below `top`, as long as they are empty. */
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

/**
 * The text from before `install`. If the file is still as `install` or `init` left it, that is the backup, to the byte, or
 * undefined where they made the file. Otherwise it is the present text without our entries.
 */
function originalText(target: Target, file: string, present: string): string | undefined {
  const leadsTo = (text: string): boolean => {
    try {
      return target.results(text, file, present).includes(present)
    } catch {
      return false
    }
  }
  for (const backup of listBackups(file)) {
    const text = readSettingsFile(backup)
    if (text === undefined || text === present || !leadsTo(text)) continue
    // A backup that holds entries of another copy of the package, or from a command before, would bring them back.
    if (withoutOurs(target, file, text) === text) return text
  }
  // A link is not removed: its target would keep our entries.
  if (leadsTo('') && kindAt(file) !== 'link') return undefined
  return target.remove(present, file)
}
