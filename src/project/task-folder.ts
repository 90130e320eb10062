import { commandLine } from '../kernel/command-line.ts'
import { PostflightError } from '../kernel/errors.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'

/** Names of task folders, `{NNN}_{slug}` or `{NNN}-{slug}` (docs/design.md, "Task folders"). */

export const MAX_NAME_LENGTH = 120
const MAX_TASK_NUMBER = 999_999
// Reserved by some file system or by shells, and control characters.
const FORBIDDEN = /[/\\<>:"|?*\u0000-\u001f\u007f-\u009f]/

/** A number, or the name of a folder. */
export type TaskReference = number | string

/** `specs/` itself, the old global place of a marker. */
export const SPECS_ITSELF = '.'

/** For people. */
export function taskLabel(task: string): string {
  return task === SPECS_ITSELF ? `${SPECS_FOLDER}/` : task
}

/** A shell completes a folder to `specs/012_x/` or `./012_x/`. */
export function withoutCompletion(task: string): string {
  const path = task.replace(/^\.\/(?=[^/])/, '')
  return path === taskLabel(SPECS_ITSELF) ? SPECS_ITSELF : path.replace(/(?<=[^/.])\/$/, '')
}

/** Refuses what could be a path or an option. */
export function parseTaskReference(text: string): TaskReference {
  if (/^\d+$/.test(text)) {
    if (Number(text) > MAX_TASK_NUMBER) throw tooLarge(text)
    return Number(text)
  }
  if (text === SPECS_ITSELF || isSafeName(text)) return text
  throw new PostflightError('task-invalid', { task: text, ...tooLong(text) })
}

export function checkSlug(slug: string): void {
  if (!isSafeName(slug)) throw new PostflightError('slug-invalid', { slug, ...tooLong(slug) })
}

/** `%` alone is `specs/` itself. */
export function fileNameOf(below: string): string {
  return below.replaceAll('/', '%') || '%'
}

export function pathOfFileName(name: string): string {
  return name === '%' ? '' : name.replaceAll('%', '/')
}

/** `PLAIN` names need no quotes. A Unicode class takes Node 0.5 ms at its first use. */
const ASCII_NAME = /^[\w.-]+$/
const PLAIN = /^[\p{L}\p{M}\p{N}_.-]+$/u

/** An existing folder may have any name. */
export function isNewName(name: string): boolean {
  return isSafeName(name) && (ASCII_NAME.test(name) || PLAIN.test(name))
}

export function noTaskName(name: string, slug?: string): PostflightError {
  const digits = /^(\d+)[_-]/.exec(name)?.[1]
  if (Number(digits) > MAX_TASK_NUMBER) return tooLarge(String(digits))
  return new PostflightError('task-invalid', {
    task: name,
    ...(digits !== undefined && slug !== undefined && { slug }),
  })
}

function tooLarge(digits: string): PostflightError {
  return new PostflightError('task-invalid', { task: digits, largest: MAX_TASK_NUMBER })
}

function tooLong(text: string): { longest?: number } {
  return text.length > MAX_NAME_LENGTH && hasSafeCharacters(text) ? { longest: MAX_NAME_LENGTH } : {}
}

/** Not a path, an option or a device on any file system. */
export function isSafeName(text: string): boolean {
  return text !== '' && text.length <= MAX_NAME_LENGTH && hasSafeCharacters(text)
}

function hasSafeCharacters(text: string): boolean {
  return !FORBIDDEN.test(text) && !text.includes('..') && !/^[-.\s]/.test(text) && !/[.\s]$/.test(text)
}

/** GitHub's spec-kit writes `001-photo-albums`. */
type TaskSeparator = '_' | '-'

export type TaskName = Readonly<{ number: number; separator: TaskSeparator; slug: string }>

export function taskFolderName({ number, separator, slug }: TaskName): string {
  return `${String(number).padStart(3, '0')}${separator}${slug}`
}

export function parseTaskName(folderName: string): TaskName | undefined {
  const [, digits, separator, slug] = /^(\d{1,6})([_-])(.*)$/s.exec(folderName) ?? []
  if (digits === undefined || slug === undefined) return undefined
  return { number: Number(digits), separator: separator === '-' ? '-' : '_', slug }
}

/** `2026-11-01-x`: all folders of a year would share a number. */
const DATE = /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/

export function taskNumberOf(folderName: string): number | undefined {
  return DATE.test(folderName) ? undefined : parseTaskName(folderName)?.number
}

/** Returns `_` on a tie. */
export function usualSeparator(folderNames: readonly string[]): TaskSeparator {
  const numbered = folderNames.filter((name) => taskNumberOf(name) !== undefined)
  const separators = numbered.flatMap((name) => parseTaskName(name)?.separator ?? [])
  return separators.filter((one) => one === '-').length * 2 > separators.length ? '-' : '_'
}

/** The search does not look below such a folder. */
export function beginsWithDigit(folderName: string): boolean {
  return /^[0-9]/.test(folderName)
}

export interface TaskFolder {
  readonly root: string
  readonly path: string
  /** `.` for `specs/` itself. */
  readonly task: string
  /** For people: relative to the root, with `/`. */
  readonly relative: string
}

/** Empty for `specs/` itself. */
export function pathInSpecs({ relative }: Pick<TaskFolder, 'relative'>): string {
  return relative.slice(SPECS_FOLDER.length + 1)
}

/** A number replaces a name that no command takes (a line break, for example). No command takes a path for an option. */
export function taskWord(folder: TaskFolder): string {
  const { task, relative } = folder
  const below = pathInSpecs(folder)
  if (below.includes('/')) return below
  return isSafeName(task) ? task : String(taskNumberOf(task) ?? (task.startsWith('-') ? relative : task))
}

export function runCommandLine(folder: TaskFolder, word: string, root: string | undefined): string {
  return commandLine(['workflow', word, taskWord(folder)], root)
}

export type SearchProblem = Readonly<{ path: string; detail: string }>

const ID_PATTERN = /^pf_[A-Za-z0-9]{12}$/

export function isMarkerId(text: unknown): text is string {
  return typeof text === 'string' && ID_PATTERN.test(text)
}
