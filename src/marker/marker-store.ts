import fs from 'node:fs'
import path from 'node:path'
import { fileIdentity, kindAt } from '../disk/file-facts.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS, withLock } from '../disk/lock.ts'
import {
  createFile,
  createWhole,
  removeFile,
  replaceFile,
  sync,
  temporaryBeside,
  tryRemoveFile,
} from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { markerProblem } from './check-messages.ts'
import { hasClaimsUnderway } from './count/claim-files.ts'
import { carryCount, endContinuations } from './count/lifecycle.ts'
import { forgetGivenUp, noteGivenUp, spentOf } from './given-up.ts'
import { type Marker, parseMarker } from './marker.ts'
import { readMarker, requireReadable } from './marker-file.ts'
import { formatMarker, withFields } from './marker-text.ts'
import {
  abandonUnchecked,
  copyUnchecked,
  keepEarlierAbandoned,
  keepText,
  keepUnparsed,
  mustBeKept,
  removeOrKeep,
  uncheckedText,
} from './quarantine.ts'
import { markerDisplayPath, type StoredMarker } from './stored-marker.ts'

/**
 * The one marker store: it changes and removes markers, always under the folder's lock, and never loses a text that it
 * could not parse.
 */

/** A caller's plan for a marker, made under the lock. The store returns it, so it may carry the caller's own results. */
export interface MarkerPlan {
  /** The fields to write, or to change in the marker that is there; undefined removes a field. */
  readonly fields: Readonly<Record<string, unknown>>
  /** True to keep the old marker, if it has checks, as abandoned: they were not run. */
  readonly keepsUnchecked?: boolean
}

/** The plan for a new marker. */
export interface NewMarkerPlan extends MarkerPlan {
  /** True when the same promise goes on: its continuations stay counted. */
  readonly keepsCount: boolean
}

/**
 * Writes a marker. `plan` is called under the lock with the present marker and decides, or throws.
 * @returns the plan.
 * @throws {PostflightError} `marker-unreadable` when something other than a file has the marker's name.
 */
export function writeNewMarker<Plan extends NewMarkerPlan>(
  folder: TaskFolder,
  plan: (present: StoredMarker | undefined) => Plan,
  options: Pick<ChangeOptions, 'patience'> = {},
): Plan {
  return withLock(folder.path, patienceOf(options), () => {
    const present = requireReadable(readMarker(folder))
    const planned = plan(present)
    const target = path.join(folder.path, MARKER_FILE)
    const text = formatMarker(planned.fields)
    keepUnparsed(present, MARKER_FILE)
    if (present === undefined) endContinuations(folder.path, undefined, () => createWhole(target, text))
    else if (planned.keepsCount) rewriteMarker(present, text)
    else {
      const keeps = planned.keepsUnchecked === true && mustBeKept(present)
      endContinuations(folder.path, present.identity, () => {
        if (keeps) copyUnchecked(present)
        replaceFile(target, text)
      })
    }
    forgetGivenUp(folder)
    return planned
  })
}

/**
 * Replaces a marker's text. Its continuations stay counted, also where its identity changes.
 * @throws {PostflightError} `marker-vanished` when it was removed or replaced in the meantime.
 */
function rewriteMarker(present: StoredMarker, text: string): void {
  const { folder, identity } = present
  const target = path.join(folder.path, MARKER_FILE)
  const temporary = temporaryBeside(target)
  createFile(temporary, text)
  try {
    carryCount(folder.path, identity, { id: parseMarker(text).id, file: fileIdentity(temporary) ?? identity.file })
    // Plain `rm` takes no lock: a marker that it removed a moment ago must not be restored.
    if (fileIdentity(target) !== identity.file) {
      throw new PostflightError('marker-vanished', { path: markerDisplayPath(folder) })
    }
    fs.renameSync(temporary, target)
    sync(folder.path)
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
}

/** Options of `changeMarker`. */
export interface ChangeOptions {
  readonly patience?: 'command' | 'hook'
  /** True to replace a text that does not parse; a copy is kept beside the marker. */
  readonly replaceUnparsed?: boolean
}

function patienceOf({ patience }: Pick<ChangeOptions, 'patience'>): number {
  return patience === 'hook' ? HOOK_PATIENCE_MS : COMMAND_PATIENCE_MS
}

/** A marker after its plan was carried out; the plan is undefined where the marker was left alone. */
export interface ChangedMarker<Plan extends MarkerPlan | undefined> {
  readonly plan: Plan
  readonly marker: Marker
}

/**
 * Changes fields of a marker. `plan` is called under the lock with the present marker, and returns undefined to leave it
 * alone. Unknown fields and the count stay.
 * @throws {PostflightError} `marker-none`, `marker-unreadable`, `marker-unparsed`, `marker-vanished`, `locked`.
 */
export function changeMarker<Plan extends MarkerPlan | undefined>(
  folder: TaskFolder,
  plan: (marker: Marker) => Plan,
  options: ChangeOptions = {},
): ChangedMarker<Plan> {
  return withLock(folder.path, patienceOf(options), () => {
    const present = requireReadable(readMarker(folder))
    if (present === undefined) throw new PostflightError('marker-none', { folder: folder.relative })
    const planned = plan(present.marker)
    if (planned === undefined) return { plan: planned, marker: present.marker }
    const { fields } = planned
    if (present.marker.fields === undefined) {
      if (options.replaceUnparsed !== true) {
        throw new PostflightError('marker-unparsed', {
          path: markerDisplayPath(folder),
          detail: present.marker.problems.map(markerProblem)[0] ?? '',
        })
      }
      keepUnparsed(present, MARKER_FILE)
    }
    const text =
      options.replaceUnparsed === true
        ? formatOrReplace(present, fields)
        : formatMarker(withFields(present.marker.fields ?? {}, fields))
    if (planned.keepsUnchecked === true && mustBeKept(present)) copyUnchecked(present)
    rewriteMarker(present, text)
    return { plan: planned, marker: parseMarker(text) }
  })
}

/** The marker's new text. One that would be too large is replaced by the changes alone; a copy of the old text is kept. */
function formatOrReplace(present: StoredMarker, changes: Readonly<Record<string, unknown>>): string {
  try {
    return formatMarker(withFields(present.marker.fields ?? {}, changes))
  } catch (error) {
    if (!(error instanceof PostflightError) || error.code !== 'marker-too-large') throw error
    if (mustBeKept(present)) copyUnchecked(present)
    else keepText(present, MARKER_FILE)
    return formatMarker(changes)
  }
}

/**
 * Removes a marker with loop guard and claims, if `still` is true for it under the lock. One with checks is kept as
 * abandoned.
 * @returns the marker that was removed; undefined when another process was first.
 * @throws {PostflightError} `marker-unreadable`.
 */
export function endMarker(folder: TaskFolder, still: (marker: StoredMarker) => boolean): StoredMarker | undefined {
  return withLock(folder.path, HOOK_PATIENCE_MS, () => {
    const present = requireReadable(readMarker(folder))
    if (present === undefined || !still(present)) return undefined
    if (mustBeKept(present)) endContinuations(folder.path, present.identity, () => abandonUnchecked(present))
    else removeMarker(folder, present)
    return present
  })
}

/**
 * Abandons a marker whose continuations are spent: renames it to `.postflight-abandoned` and removes the loop guard, if
 * `still` is true for it under the lock.
 * @returns the marker that was abandoned, or undefined.
 */
export function abandonMarker(
  folder: TaskFolder,
  still: (marker: StoredMarker, spent: number) => boolean,
): StoredMarker | undefined {
  const target = path.join(folder.path, MARKER_FILE)
  if (kindAt(target) === undefined) return undefined
  return withLock(folder.path, HOOK_PATIENCE_MS, () => {
    const present = readMarker(folder)
    if (present?.kind !== 'marker') return undefined
    if (!still(present, spentOf(present))) return undefined
    if (hasClaimsUnderway(folder.path, Date.now())) return undefined
    noteGivenUp(present)
    endContinuations(folder.path, present.identity, () => {
      keepEarlierAbandoned(folder)
      fs.renameSync(target, path.join(folder.path, ABANDONED_FILE))
    })
    return present
  })
}

/**
 * Turns an abandoned marker into a pending one: a new promise with a count of its own.
 * @returns the plan; undefined when the abandoned marker is missing, or a pending one lies beside it.
 */
export function reviveAbandoned<Plan extends MarkerPlan>(
  folder: TaskFolder,
  plan: (marker: Marker) => Plan,
): Plan | undefined {
  return withLock(folder.path, COMMAND_PATIENCE_MS, () => {
    if (requireReadable(readMarker(folder)) !== undefined) return undefined
    const abandoned = requireReadable(readMarker(folder, ABANDONED_FILE), ABANDONED_FILE)
    if (abandoned === undefined) return undefined
    keepUnparsed(abandoned, ABANDONED_FILE)
    const planned = plan(abandoned.marker)
    const text = formatMarker(withFields(abandoned.marker.fields ?? {}, planned.fields))
    forgetGivenUp(folder)
    endContinuations(folder.path, undefined, () => createWhole(path.join(folder.path, MARKER_FILE), text))
    const keeps = planned.keepsUnchecked === true && mustBeKept(abandoned)
    if (keeps) replaceFile(path.join(folder.path, ABANDONED_FILE), uncheckedText(abandoned))
    else {
      removeFile(path.join(folder.path, ABANDONED_FILE))
      sync(folder.path)
    }
    return planned
  })
}

/** Removes the marker, if there is one, with loop guard and claims. The caller holds the folder's lock. */
export function removeMarker(folder: TaskFolder, marker: StoredMarker | undefined): void {
  endContinuations(folder.path, marker?.identity, () => {
    // Plain bash takes no lock: a marker that it has just written was not judged.
    if (marker !== undefined) removeOrKeep(marker, MARKER_FILE)
  })
}
