import type { MarkerProblem } from '../marker.ts'
import { oneLine } from '../text.ts'
import { QUOTE_LIMIT } from './phrases.ts'

/** Sentences about files and folders. */

/** What is wrong with a marker's text, as the end of "the file …". */
export function markerProblem(problem: MarkerProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'is empty'
    case 'too-large':
      return 'is too large to be read'
    case 'not-object':
      return 'is JSON, but no object'
    case 'not-json':
      return `is no JSON (${oneLine(problem.detail, QUOTE_LIMIT)})`
    case 'field':
      return `has a ${oneLine(problem.field, 40)} that is not ${problem.expected}`
  }
}

/** A folder that nobody may look into: a marker in there holds nobody. */
export function unsearchable(path: string, detail: string): string {
  return `${path} cannot be looked into (${detail}): a marker in it would hold nobody`
}

/** A folder in which nothing can be made: no stop can be counted there. */
export function unwritable(path: string, detail: string): string {
  return `${path} cannot be written (${detail})`
}

/** Something that lies where a folder of our own should be. */
export function inPlaceOfFolder(path: string, kind: string): string {
  return `${path} is ${kind === 'file' ? 'a file' : kind}, not a folder of its own`
}

/** That of a journal which grew far beyond its limit only the end was read. */
export function journalCut(bytes: number): string {
  return `the journal is very long: only its last ${bytes / 1_048_576} MiB were read`
}
