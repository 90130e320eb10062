import type { FieldKind, MarkerProblem } from '../marker/marker.ts'
import type { PathKind } from './files.ts'
import { QUOTE_LIMIT } from './phrases.ts'
import { oneLine } from './text.ts'

/** Sentences about files and folders. */

const FIELD_KINDS: Record<FieldKind, string> = {
  text: 'a string',
  flag: 'true or false',
  number: 'a number',
  time: 'an ISO 8601 time',
  list: 'a list',
  steps: 'a list of { "name", "done" }',
  checks: 'a list of { "run" }, at most 20',
  wait: 'an object with "for" and "count"',
  count: 'a whole number from 0',
}

/** A problem of a marker's text, as the end of "the file …". */
export function markerProblem(problem: MarkerProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'is empty'
    case 'too-large':
      return 'is too large to be read'
    case 'not-object':
      return 'is JSON, but not an object'
    case 'not-json':
      return `is not JSON (${oneLine(problem.detail, QUOTE_LIMIT)})`
    case 'unfilled':
      return `has "${oneLine(problem.variable, 40)}" in it: the heredoc was quoted, so its variables were not filled in`
    case 'field':
      return `has an invalid field "${oneLine(problem.field, 40)}" (expected ${FIELD_KINDS[problem.expected]})`
  }
}

/** A folder that cannot be searched for markers. */
export function unsearchable(path: string, detail: string): string {
  return `${path} cannot be searched (${detail}): a marker in it would block nothing`
}

/** A folder in which no file can be created, so that no stop can be counted there. */
export function unwritable(path: string, detail: string): string {
  return `${path} cannot be written to (${detail})`
}

/** Something that has the name of a folder which postflight-guard needs. */
export function inPlaceOfFolder(path: string, kind: PathKind): string {
  return `${path} is ${KIND_NAMES[kind]}, but must be a real folder`
}

/** A journal that is so long that only its end was read. */
export function journalCut(bytes: number): string {
  return `the journal is very long: only its last ${bytes / 1_048_576} MiB were read`
}

/** What lies at a path, by its kind. */
export const KIND_NAMES: Readonly<Record<PathKind, string>> = {
  file: 'a file',
  folder: 'a folder',
  link: 'a link',
  pipe: 'a named pipe',
  other: 'a device or a socket',
}

/** Why a file cannot be used; each stands in parentheses or after "is". */
export const FILE_DETAILS = {
  runNotFound: 'its task folder could not be found',
  missing: 'no such file',
  tooLarge: 'too large',
  largerThan: (bytes: number): string => `larger than ${bytes} bytes`,
  belowFile: 'below a file',
  behind: (kind: PathKind): string => `behind ${KIND_NAMES[kind]}`,
  outOfReach: (code: string): string => `out of reach (${code})`,
  brokenLink: 'a broken link',
  linkOutside: 'a link that leads out of the project',
  relativeFolder: 'the variable that names its folder must be an absolute path',
  incompleteWrite: 'incomplete write',
  notUtf8: 'its name is not UTF-8',
  kindOf: (name: string, kind: PathKind): string => `${name} is ${KIND_NAMES[kind]}`,
} as const
