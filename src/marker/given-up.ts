import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import { hideFromGit, makeOwnFolder } from '../disk/own-folder.ts'
import { readSmallFile } from '../disk/read.ts'
import { createFile, tryRemoveFile } from '../disk/write.ts'
import { GIVEN_UP_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import { journalPaths } from '../project/journal.ts'
import { SPECS_ITSELF, type TaskFolder } from '../project/task-folder.ts'
import { liesBesideAbandoned, readOwnCount, readSpent } from './count/count.ts'
import { CONTINUATION_LIMIT, isSpent } from './loop-guard.ts'
import { promiseKey } from './promise-key.ts'
import type { StoredMarker } from './stored-marker.ts'

/**
 * Remembers the promise that was given up in a task folder (docs/design.md, "Counting blocked stops"). git brings a
 * tracked marker back and may remove every other file beside it, so the note lies in a folder that git ignores.
 */

/** A key is shorter than this, in bytes. */
const NOTE_MAX_BYTES = 1_024

/**
 * The continuations spent for a marker: all of them if it was given up before.
 * @throws as `readSpent`.
 */
export function spentOf(stored: StoredMarker): number {
  const spent = readSpent(stored.folder.path, stored.identity)
  return isSpent(spent) || !isNoted(stored) ? spent : CONTINUATION_LIMIT
}

/**
 * True if the same promise was given up before and git brought its marker back: then its own continuations are not spent.
 * They are where a process was killed while it gave the marker up. Never throws: false where the count cannot be read.
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
  const key = promiseKey(marker)
  if (key === undefined) return false
  const { journal, givenUp, note } = pathsFor(folder)
  try {
    // A link in place of a folder would lead the search out of the project.
    if (kindAt(journal) !== 'folder' || kindAt(givenUp) !== 'folder') return false
  } catch {
    // Out of reach: the marker blocks like any other, at most three times.
    return false
  }
  const read = readSmallFile(note, NOTE_MAX_BYTES)
  return read.kind === 'text' && read.whole && read.text === `${key}\n`
}

/** Notes that a marker is given up. Never throws: without the note, the marker blocks again if git brings it back. */
export function noteGivenUp({ folder, marker }: StoredMarker): void {
  const key = promiseKey(marker)
  if (key === undefined) return
  const { journal, givenUp, note } = pathsFor(folder)
  try {
    if (makeOwnFolder(journal)) hideFromGit(journal)
    makeOwnFolder(givenUp)
    tryRemoveFile(note)
    createFile(note, `${key}\n`, false)
  } catch {
    // The disk is full, or the folder has no write permission.
  }
}

/** Removes the note about a folder, because its postflight is promised again or cleared. Never throws. */
export function forgetGivenUp(folder: Pick<TaskFolder, 'root' | 'relative'>): void {
  const { journal, givenUp, note } = pathsFor(folder)
  try {
    if (kindAt(journal) === 'folder' && kindAt(givenUp) === 'folder') tryRemoveFile(note)
  } catch {
    // A folder without rights.
  }
}

/** A note about a promise that was given up. */
export interface GivenUpNote {
  /** The path of the task folder for people. The folder may be gone. */
  readonly relative: string
  readonly task: string
  /** What tells the promise from others: the id of its marker, if it had one. */
  readonly key: string
}

/** At most this many notes are read: a clone may contain any number of them. */
const MAX_NOTES = 500

/** The notes of a root. Never throws: none where they cannot be read. */
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
        const names = name.split('%').filter((one) => one !== '')
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
  // `%` alone stands for `specs/` itself.
  const name = relative.slice(SPECS_FOLDER.length + 1).replaceAll('/', '%') || '%'
  return { journal, givenUp, note: path.join(givenUp, name) }
}
