import fs from 'node:fs'
import path from 'node:path'
import { kindIfSeen, pathIn } from '../disk/file-facts.ts'
import { makeOwnFolder } from '../disk/folders.ts'
import { textIn } from '../disk/read.ts'
import { createFile, tryRemoveFile } from '../disk/write.ts'
import { GIVEN_UP_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import { attempt } from '../kernel/values.ts'
import { journalFolder, makeJournalFolder } from '../project/journal.ts'
import { fileNameOf, pathInSpecs, pathOfFileName, SPECS_ITSELF, type TaskFolder } from '../project/task-folder.ts'
import { liesBesideAbandoned, readCount, readOwnCount } from './count/count.ts'
import { CONTINUATION_LIMIT, isSpent } from './loop-guard.ts'
import { markerKey, type StoredMarker } from './stored-marker.ts'

/** Notes given-up markers in a folder that git ignores: git may restore a marker and remove all files beside it. */

/** In bytes: keys are shorter. */
const NOTE_MAX_BYTES = 1_024

export function spentOf(stored: StoredMarker): number {
  const { spent } = readCount(stored.folder.path, stored.identity)
  return isSpent(spent) || !isNoted(stored) ? spent : CONTINUATION_LIMIT
}

/** Whether git restored a given-up marker. Its own count is then unused, unless a kill interrupted the giving up. */
export function wasGivenUp(stored: StoredMarker): boolean {
  const { folder, identity } = stored
  if (attempt(() => isSpent(readOwnCount(folder.path, identity).spent), true)) return false
  return liesBesideAbandoned(folder.path, identity) || isNoted(stored)
}

function isNoted({ folder, marker }: StoredMarker): boolean {
  const key = markerKey(marker)
  const notes = key === undefined ? undefined : notesFolder(folder.root)
  if (notes === undefined) return false
  return textIn(path.join(notes, noteName(folder)), NOTE_MAX_BYTES) === `${key}\n`
}

/** Undefined if there is none, or a link, which would lead out of the project. Never throws. */
function notesFolder(root: string): string | undefined {
  const journal = journalFolder(root)
  const notes = pathIn(journal, GIVEN_UP_FOLDER)
  return kindIfSeen(journal) === 'folder' && kindIfSeen(notes) === 'folder' ? notes : undefined
}

function noteName(folder: Pick<TaskFolder, 'relative'>): string {
  return fileNameOf(pathInSpecs(folder))
}

/** Never throws: without the note, a marker that git restores blocks again. */
export function noteGivenUp({ folder, marker }: StoredMarker): void {
  const key = markerKey(marker)
  if (key === undefined) return
  attempt(() => {
    const notes = path.join(makeJournalFolder(folder.root), GIVEN_UP_FOLDER)
    const note = path.join(notes, noteName(folder))
    makeOwnFolder(notes)
    tryRemoveFile(note)
    createFile(note, `${key}\n`, { durable: false })
  })
}

/** Never throws. */
export function forgetGivenUp(folder: Pick<TaskFolder, 'root' | 'relative'>): void {
  const notes = notesFolder(folder.root)
  if (notes !== undefined) tryRemoveFile(path.join(notes, noteName(folder)))
}

/** A clone may contain any number of notes. */
const MAX_NOTES = 500

/** Never throws. */
export function givenUpNotes(root: string) {
  const notes = notesFolder(root)
  if (notes === undefined) return []
  const files = attempt(() => fs.readdirSync(notes), [])
  return files.slice(0, MAX_NOTES).flatMap((name) => {
    const text = textIn(path.join(notes, name), NOTE_MAX_BYTES)
    if (text === undefined) return []
    const parts = pathOfFileName(name).split('/')
    const names = parts.filter((one) => one !== '')
    // For people. The folder may be gone.
    const relative = [SPECS_FOLDER, ...names].join('/')
    return { relative, task: names.at(-1) ?? SPECS_ITSELF, key: text.trimEnd() }
  })
}
