import { commandLine } from './command-line.ts'
import { JOURNAL_PATH, type PathKind, SPECS_FOLDER } from './files.ts'

const STATE_PROBLEMS = {
  'not-json': (detail: string) => `is not complete JSON (${detail})`,
  version: (detail: string) => `has version ${detail}, which this postflight-guard does not support`,
  shape: (detail: string) => `is not a valid workflow state (invalid: ${detail})`,
  unreadable: (detail: string) => `cannot be read (${detail})`,
}

/** The errors of the hook. `root`: the `--root` that the commands in a sentence need. */
export const HOOK_SENTENCES = {
  'marker-none': (a: { folder: string }) =>
    a.folder === SPECS_FOLDER
      ? `no marker in ${SPECS_FOLDER}/ itself, and new ones are made only in task folders: give a <task>.`
      : a.folder.startsWith(`${JOURNAL_PATH}/`)
        ? `no marker in ${a.folder}: specs/done.yaml has blocked no stop there, so there is nothing to clear or to wait for.`
        : `no marker in ${a.folder}: \`postflight create\` makes one.`,
  'marker-unreadable': (a: { path: string; detail: string }) =>
    `${a.path} cannot be read (${a.detail}): fix or remove it by hand.`,
  'marker-unparsed': (a: { path: string; detail: string }) =>
    `${a.path} ${a.detail}: fix it by hand, or replace it with \`create --force\` (its text is kept).`,
  'marker-vanished': (a: { path: string }) => `${a.path} is gone, so nothing was changed.`,
  'marker-too-large': (a: { limit: number }) =>
    `the marker would be larger than ${a.limit} bytes, the maximum: shorten its reason or its steps.`,
  locked: (a: { path: string; lock: string }) =>
    `${a.path} is being changed by another process: try again. If no such process runs, remove ${a.lock}.`,
  'payload-not-json': (a: { detail: string }) => `the payload is not JSON (${a.detail}).`,
  'payload-not-object': () => 'the payload is JSON, but not an object.',
  'file-unreadable': (a: { path: string; detail: string }) =>
    a.detail === 'ENOENT'
      ? `${a.path} does not exist: check the path.`
      : `${a.path} cannot be read (${a.detail}): fix or replace it by hand.`,
  'workflow-none': (a: { task: string }, root?: string) =>
    `task ${a.task} has no workflow: \`${commandLine(['workflow', 'start', a.task], root)} --definition FILE\` starts one.`,
  'workflow-state': (a: { path: string; problem: keyof typeof STATE_PROBLEMS; detail: string }) =>
    `${a.path} ${STATE_PROBLEMS[a.problem](a.detail)}, so it was left unchanged. Fix it, or move it away and start again (existing artifacts count as done).`,
  'home-unknown': () =>
    'the home folder of this user is unknown: set HOME to the full path of a folder, because the user database has no entry.',
  'not-a-folder': (a: { path: string; kind: PathKind }) =>
    `${inPlaceOfFolder(a.path, a.kind)}: remove or rename it. Nothing was written there.`,
  'cannot-write': (a: { path: string; detail: string }) =>
    `cannot write ${a.path} (${a.detail}): ${writeAdvice(a.detail)}.`,
  internal: (a: { detail: string }) => `internal error (${a.detail}). Please report it, with the command that you ran.`,
}

export const READ_ONLY = 'its file system is read-only: mount it for writing'

/** `detail`: a code of the file system, or what is there instead of a file. */
function writeAdvice(detail: string): string {
  if (detail === 'ENOENT') return 'its folder does not exist'
  if (detail === 'EROFS') return READ_ONLY
  if (detail === FILE_DETAILS.relativeFolder) return 'set it to one, or unset it'
  const isFolderNeeded = detail === 'EEXIST' || detail === 'ENOTDIR'
  const isFileNeeded = detail === 'EISDIR' || Object.values(KIND_NAMES).includes(detail)
  if (!isFolderNeeded && !isFileNeeded) return 'check its permissions and the free space'
  return `a ${isFolderNeeded ? 'folder' : 'file'} is needed there, but something else has its name: move or rename that`
}

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

/** For parentheses, like the next two. Separate, because the hook for `specs/done.yaml` needs only these. */
export const SIZE_DETAILS = { tooLarge: 'too large', tooManyFiles: 'too many files' } as const

/** For parentheses, or after "is". */
export const FILE_DETAILS = {
  runNotFound: 'its task folder could not be found',
  missing: 'no such file',
  noTimeLeft: 'there was no time left',
  largerThan: (bytes: number): string => `larger than ${bytes} bytes`,
  belowFile: 'below a file',
  behind: (kind: PathKind): string => `behind ${KIND_NAMES[kind]}`,
  outOfReach: (code: string): string => `out of reach (${code})`,
  notUtf8: 'not UTF-8',
  brokenLink: 'a broken link',
  linkOutside: 'a link that leads out of the project',
  relativeFolder: 'the variable that names its folder must be an absolute path',
  incompleteWrite: 'incomplete write',
  kindOf: (name: string, kind: PathKind): string => `${name} is ${KIND_NAMES[kind]}`,
} as const

export const STDIN_DETAILS = {
  tooLong: (bytes: number): string => `longer than ${bytes} bytes`,
  noEnd: (ms: number): string => `no end after ${ms} ms`,
} as const
