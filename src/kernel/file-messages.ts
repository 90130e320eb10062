import type { PathKind } from './files.ts'

export function unsearchable(path: string, detail: string): string {
  return `${path} cannot be searched (${detail}): a marker in it would block nothing`
}

export function unwritable(path: string, detail: string): string {
  return `${path} cannot be written to (${detail})`
}

export function inPlaceOfFolder(path: string, kind: PathKind): string {
  return `${path} is ${KIND_NAMES[kind]}, but must be a real folder`
}

export function journalCut(bytes: number): string {
  return `the journal is very long: only its last ${bytes / 1_048_576} MiB were read`
}

export const KIND_NAMES: Readonly<Record<PathKind, string>> = {
  file: 'a file',
  folder: 'a folder',
  link: 'a link',
  pipe: 'a named pipe',
  other: 'a device or a socket',
}

/** For parentheses, or after "is". */
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
  kindOf: (name: string, kind: PathKind): string => `${name} is ${KIND_NAMES[kind]}`,
} as const

/** For parentheses. */
export const STDIN_DETAILS = {
  tooLong: (bytes: number): string => `longer than ${bytes} bytes`,
  noEnd: (ms: number): string => `no end after ${ms} ms`,
} as const
