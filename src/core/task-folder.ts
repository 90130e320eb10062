import { PostflightError } from './errors.ts'
import { SPECS_FOLDER } from './files.ts'

/** Task folders, `specs/{NNN}_{slug}` (DESIGN section 2): how they are named, and how a person names one. */

const MAX_NAME_LENGTH = 120
const MAX_TASK_NUMBER = 999_999
// Reserved by some file system or by a shell's eyes; control characters too.
const FORBIDDEN = /[/\\<>:"|?*\u0000-\u001f\u007f-\u009f]/

/** What a person may write for `<task>`. */
export type TaskReference =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'specs' }

/** The reference to `specs/` itself, the old global place of a marker. */
export const SPECS_ITSELF = '.'

/**
 * Reads `<task>`: a number (`259`, `007`), a task folder's name (`259_prove_completeness`), or `.` for `specs/` itself.
 * @throws {PostflightError} `task-invalid` where it could be taken for a path or an option.
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
 * Checks a slug.
 * @throws {PostflightError} `slug-invalid` when it holds a path separator, `..`, a control character, begins with `-` or
 * `.`, or is too long.
 */
export function checkSlug(slug: string): string {
  if (!isSafeName(slug)) throw new PostflightError('slug-invalid', { slug, ...tooLong(slug) })
  return slug
}

/** What is wrong with a name that no new task folder may have, though it is safe as a name. */
export function noTaskName(name: string): PostflightError {
  const digits = /^(\d+)_/.exec(name)?.[1]
  return Number(digits) > MAX_TASK_NUMBER
    ? tooLarge(String(digits))
    : new PostflightError('task-invalid', { task: name })
}

function tooLarge(digits: string): PostflightError {
  return new PostflightError('task-invalid', { task: digits, largest: MAX_TASK_NUMBER })
}

/** Says how long a name may be, where its length is all that is wrong with it. */
function tooLong(text: string): { longest?: number } {
  return text.length > MAX_NAME_LENGTH && hasSafeCharacters(text) ? { longest: MAX_NAME_LENGTH } : {}
}

/** A name that can only be one folder's name, on every file system: never a path, an option, or a device. */
export function isSafeName(text: string): boolean {
  return text !== '' && text.length <= MAX_NAME_LENGTH && hasSafeCharacters(text)
}

function hasSafeCharacters(text: string): boolean {
  return !FORBIDDEN.test(text) && !text.includes('..') && !/^[-.\s]/.test(text) && !/[.\s]$/.test(text)
}

/** `007_x`: the number padded to three digits. */
export function taskFolderName(number: number, slug: string): string {
  return `${String(number).padStart(3, '0')}_${slug}`
}

/** The task number that a folder's name begins with, or undefined. */
export function taskNumberOf(folderName: string): number | undefined {
  const digits = /^(\d{1,6})_/.exec(folderName)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** True for a folder whose name begins with a digit: the search does not look below it (DESIGN section 2). */
export function beginsWithDigit(folderName: string): boolean {
  return /^[0-9]/.test(folderName)
}

/** A folder that may hold a marker. */
export interface TaskFolder {
  readonly root: string
  /** The folder's own path. */
  readonly path: string
  /** Its name, or `.` for `specs/` itself. */
  readonly task: string
  /** For people: relative to the root, with `/`. */
  readonly relative: string
}

/**
 * What a person, and every command, can call a folder by: its name, or its path below `specs/` where it lies deeper. A
 * name that no command takes (it holds a line's end, say, and would stand in a reason as a line of its own) is called by
 * its number.
 */
export function taskWord({ task, relative }: TaskFolder): string {
  const below = relative.slice(SPECS_FOLDER.length + 1)
  if (below.includes('/')) return below
  return isSafeName(task) || task === SPECS_ITSELF ? task : String(taskNumberOf(task) ?? task)
}

/** A folder that could not be looked into. */
export interface SearchProblem {
  readonly path: string
  readonly detail: string
}
