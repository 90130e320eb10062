import fs from 'node:fs'
import path from 'node:path'
import { FILE_DETAILS } from '../kernel/file-messages.ts'
import { MARKER_FILE } from '../kernel/files.ts'
import { beginsWithDigit, type SearchProblem } from './task-folder.ts'

/**
 * Folders whose names are not UTF-8. Node decodes such a name into another one, which belongs to no folder or to a
 * different one, so a marker in it cannot be judged. The user gets a notice.
 */

const REPLACEMENT_CHARACTER = '\ufffd'
const SEPARATOR = Buffer.from(path.sep)

/** True for a name that may be the wrong decoding of another one. */
export function isDoubtful(name: string): boolean {
  return name.includes(REPLACEMENT_CHARACTER)
}

/**
 * The names of the folders in `folder` that are UTF-8. The others that hold a marker, or have one in a folder that the
 * search would look into (`isTop`), are added to `problems`. @throws file-system errors.
 */
export function decodableFolders(folder: string, isTop: boolean, problems: SearchProblem[]): string[] {
  return foldersIn(Buffer.from(folder)).flatMap((bytes) => {
    const name = bytes.toString()
    if (Buffer.from(name).equals(bytes)) return [name]
    if (holdsMarker(below(Buffer.from(folder), bytes), isTop && !beginsWithDigit(name))) {
      problems.push({ path: path.join(folder, name), detail: FILE_DETAILS.notUtf8 })
    }
    return []
  })
}

function foldersIn(folder: Buffer): Buffer[] {
  return fs
    .readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

function holdsMarker(folder: Buffer, looksDeeper: boolean): boolean {
  try {
    const marker = below(folder, Buffer.from(MARKER_FILE))
    if (fs.lstatSync(marker, { throwIfNoEntry: false }) !== undefined) return true
    return looksDeeper && foldersIn(folder).some((name) => holdsMarker(below(folder, name), false))
  } catch {
    // It was removed, or it cannot be searched either.
    return false
  }
}

function below(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SEPARATOR, name])
}
