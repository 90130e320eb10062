import { PostflightError } from '../kernel/errors.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'

/** The names of task folders, `{NNN}_{slug}` or `{NNN}-{slug}`, and the words for them (docs/design.md, "Task folders"). */

const MAX_NAME_LENGTH = 120
const MAX_TASK_NUMBER = 999_999
// Reserved by some file system or by shells, and control characters.
const FORBIDDEN = /[/\\<>:"|?*\u0000-\u001f\u007f-\u009f]/

/** The forms of `<task>` on a command line. */
export type TaskReference =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'specs' }

/** The reference to `specs/` itself, the old global place of a marker. */
export const SPECS_ITSELF = '.'

/**
 * Reads `<task>`: a number (`259`, `007`), a task folder's name (`259_prove_completeness`), or `.` for `specs/` itself.
 * @throws {PostflightError} `task-invalid` if it could be taken for a path or an option.
 */
export function parseTaskReference(text: string): TaskReference {
  if (text === SPECS_ITSELF) return { kind: 'specs' }
  if (/^\d+$/.test(text)) {
    const number = Number(text)
    if (number > MAX_TASK_NUMBER) throw tooLarge(text)
    return { kind: 'number', number }
  }
  if (!isSafeName(text)) throw new PostflightError('task-invalid', { task: text, ...tooLong(text) })
  return { kind: 'name', name: text }
}

/**
 * Checks the slug of a folder that may exist, and returns it.
 * @throws {PostflightError} `slug-invalid` if it contains a path separator, `..` or a control character, begins with `-`
 * or `.`, or is too long.
 */
export function checkSlug(slug: string): string {
  if (!isSafeName(slug)) throw new PostflightError('slug-invalid', { slug, ...tooLong(slug) })
  return slug
}

/** Letters, digits, `_`, `-` and `.`: names that need no quotes, neither in a shell nor in a message. */
/** Most names: a class of Unicode takes Node 0.5 ms at its first use. */
const ASCII_NAME = /^[\w.-]+$/
const PLAIN = /^[\p{L}\p{M}\p{N}_.-]+$/u

/**
 * Checks the slug of a new folder. An existing folder may have any name.
 * @throws {PostflightError} `slug-invalid` if people would not type it: spaces, quotes, characters that a shell reads.
 */
export function checkNewSlug(slug: string): void {
  checkSlug(slug)
  if (!ASCII_NAME.test(slug) && !PLAIN.test(slug)) throw new PostflightError('slug-invalid', { slug })
}

/** The error for a name that is safe, but not that of a task folder. */
export function noTaskName(name: string): PostflightError {
  const digits = /^(\d+)[_-]/.exec(name)?.[1]
  return Number(digits) > MAX_TASK_NUMBER
    ? tooLarge(String(digits))
    : new PostflightError('task-invalid', { task: name })
}

function tooLarge(digits: string): PostflightError {
  return new PostflightError('task-invalid', { task: digits, largest: MAX_TASK_NUMBER })
}

/** The maximum length of a name if only its length is wrong. */
function tooLong(text: string): { longest?: number } {
  return text.length > MAX_NAME_LENGTH && hasSafeCharacters(text) ? { longest: MAX_NAME_LENGTH } : {}
}

/** True for a text that can only be a folder's name on every file system: not a path, an option or a device. */
export function isSafeName(text: string): boolean {
  return text !== '' && text.length <= MAX_NAME_LENGTH && hasSafeCharacters(text)
}

function hasSafeCharacters(text: string): boolean {
  return !FORBIDDEN.test(text) && !text.includes('..') && !/^[-.\s]/.test(text) && !/[.\s]$/.test(text)
}

/** The character between number and slug. GitHub's spec-kit writes `001-photo-albums`. */
export type TaskSeparator = '_' | '-'

/** The parts of a task folder's name. */
export interface TaskName {
  readonly number: number
  readonly separator: TaskSeparator
  readonly slug: string
}

/** The name of a task's folder: `007_x`, the number padded to three digits. */
export function taskFolderName({ number, separator, slug }: TaskName): string {
  return `${String(number).padStart(3, '0')}${separator}${slug}`
}

/** The parts of a task folder's name, or undefined for another name. */
export function parseTaskName(folderName: string): TaskName | undefined {
  const [, digits, separator, slug] = /^(\d{1,6})([_-])(.*)$/s.exec(folderName) ?? []
  if (digits === undefined || slug === undefined) return undefined
  return { number: Number(digits), separator: separator === '-' ? '-' : '_', slug }
}

/** `2026-11-01-x`: the year is not the number of a task, or all folders of a year would have the same one. */
const DATE = /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/

/** The task number at the beginning of a folder's name, or undefined. */
export function taskNumberOf(folderName: string): number | undefined {
  return DATE.test(folderName) ? undefined : parseTaskName(folderName)?.number
}

/** The separator that most of a project's task folders have; `_` where there are none, or as many of each. */
export function usualSeparator(folderNames: readonly string[]): TaskSeparator {
  const numbered = folderNames.filter((name) => taskNumberOf(name) !== undefined)
  const separators = numbered.flatMap((name) => parseTaskName(name)?.separator ?? [])
  return separators.filter((one) => one === '-').length * 2 > separators.length ? '-' : '_'
}

/** True for a folder whose name begins with a digit: the search does not look below it. */
export function beginsWithDigit(folderName: string): boolean {
  return /^[0-9]/.test(folderName)
}

/** A folder that may hold a marker. */
export interface TaskFolder {
  readonly root: string
  /** The folder's absolute path. */
  readonly path: string
  /** The folder's name, or `.` for `specs/` itself. */
  readonly task: string
  /** The path for people: relative to the root, with `/`. */
  readonly relative: string
}

/**
 * The word for a folder on a command line: its name, or its path below `specs/` if it lies deeper. A folder whose name no
 * command takes (it contains a line break, for example) is called by its number.
 */
export function taskWord({ task, relative }: TaskFolder): string {
  const below = relative.slice(SPECS_FOLDER.length + 1)
  if (below.includes('/')) return below
  return isSafeName(task) ? task : String(taskNumberOf(task) ?? task)
}

/** A folder that could not be searched. */
export interface SearchProblem {
  readonly path: string
  readonly detail: string
}

const ID_PATTERN = /^pf_[A-Za-z0-9]{12}$/

/** True for an id as `postflight create` gives it, which is safe in a file name. */
export function isMarkerId(text: unknown): text is string {
  return typeof text === 'string' && ID_PATTERN.test(text)
}
