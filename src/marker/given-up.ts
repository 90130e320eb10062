import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import { hideFromGit, makeOwnFolder } from '../disk/folders.ts'
import { readSmallFile } from '../disk/read.ts'
import { createFile, tryRemoveFile } from '../disk/write.ts'
import { GIVEN_UP_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import { journalPaths } from '../project/journal.ts'
import { fileNameOf, pathOfFileName, SPECS_ITSELF, type TaskFolder } from '../project/task-folder.ts'
import { liesBesideAbandoned, readOwnCount, readSpent } from './count/count.ts'
import { CONTINUATION_LIMIT, isSpent } from './loop-guard.ts'
import type { StoredMarker } from './stored-marker.ts'
import { markerKey } from './stored-marker.ts'

/**
 * Notes which marker was given up, in a folder that git ignores: git restores a tracked marker and may remove all files
 * beside it.
 */

/** In bytes: keys are shorter. */
const NOTE_MAX_BYTES = 1_024

export function spentOf(stored: StoredMarker): number {
  const spent = readSpent(stored.folder.path, stored.identity)
  return isSpent(spent) || !isNoted(stored) ? spent : CONTINUATION_LIMIT
}

/**
 * Whether git restored a marker that was given up. Its own count is then unused, unless a process was killed while
 * giving it up.
 */
export function wasGivenUp(stored: StoredMarker): boolean {
  const { folder, identity } = stored
  try {
    if (isSpent(readOwnCount(folder.path, identity).spent)) return false
  } catch {
    return false
  }
  return liesBesideAbandoned(folder.path, identity) || isNoted(stored)
}

function isNoted({ folder, marker }: StoredMarker): boolean {
  const key = markerKey(marker)
  if (key === undefined) return false
  const { journal, givenUp, note } = pathsFor(folder)
  try {
    // A link would lead out of the project.
    if (kindAt(journal) !== 'folder' || kindAt(givenUp) !== 'folder') return false
  } catch {
    // The marker blocks as usual.
    return false
  }
  const read = readSmallFile(note, NOTE_MAX_BYTES)
  return read.kind === 'text' && read.whole && read.text === `${key}\n`
}

/** Never throws: without the note, a marker that git restores blocks again. */
export function noteGivenUp({ folder, marker }: StoredMarker): void {
  const key = markerKey(marker)
  if (key === undefined) return
  const { journal, givenUp, note } = pathsFor(folder)
  try {
    if (makeOwnFolder(journal)) hideFromGit(journal)
    makeOwnFolder(givenUp)
    tryRemoveFile(note)
    createFile(note, `${key}\n`, false)
  } catch {
    // The disk is full, or read-only.
  }
}

/** Never throws. */
export function forgetGivenUp(folder: Pick<TaskFolder, 'root' | 'relative'>): void {
  const { journal, givenUp, note } = pathsFor(folder)
  try {
    if (kindAt(journal) === 'folder' && kindAt(givenUp) === 'folder') tryRemoveFile(note)
  } catch {
    // No permission.
  }
}

export interface GivenUpNote {
  /** For people; it may be gone. */
  readonly relative: string
  readonly task: string
  readonly key: string
}

/** A clone may contain any number. */
const MAX_NOTES = 500

/** Never throws. */
export function givenUpNotes(root: string): GivenUpNote[] {
  const folder = journalPaths(root).folder
  const givenUp = path.join(folder, GIVEN_UP_FOLDER)
  try {
    if (kindAt(folder) !== 'folder' || kindAt(givenUp) !== 'folder') return []
    return fs
      .readdirSync(givenUp)
      .slice(0, MAX_NOTES)
      .flatMap((name) => {
        const read = readSmallFile(path.join(givenUp, name), NOTE_MAX_BYTES)
        if (read.kind !== 'text' || !read.whole) return []
        const names = pathOfFileName(name)
          .split('/')
          .filter((one) => one !== '')
        return {
          relative: [SPECS_FOLDER, ...names].join('/'),
          task: names.at(-1) ?? SPECS_ITSELF,
          key: read.text.trimEnd(),
        }
      })
  } catch {
    return []
  }
}

function pathsFor({ root, relative }: Pick<TaskFolder, 'root' | 'relative'>): {
  journal: string
  givenUp: string
  note: string
} {
  const journal = journalPaths(root).folder
  const givenUp = path.join(journal, GIVEN_UP_FOLDER)
  return { journal, givenUp, note: path.join(givenUp, fileNameOf(relative.slice(SPECS_FOLDER.length + 1))) }
}
