import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import { withLockIfRoom } from '../disk/lock.ts'
import { removeFile, sync } from '../disk/write.ts'
import { ABANDONED_FILE, CLAIMS_FOLDER, LOOP_GUARD_FILE, MARKER_FILE, RETURN_META_FILE } from '../kernel/files.ts'
import { type CommandContext, recordInJournal } from '../project/command-context.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { forgetGivenUp } from './given-up.ts'
import { mustBeKept, readMarker, removeMarker, removeOrKeep, requireReadable } from './marker-store.ts'
import type { RunCheck } from './run-checks.ts'

type Clearing = Readonly<{ returnMeta: boolean; keepsUnchecked: boolean; still: (content: FolderContent) => boolean }>

/** Creates only the lock, so it works on a full disk. Returns undefined if `still` is false. */
export function clearFolder(folder: TaskFolder, { returnMeta, keepsUnchecked, still }: Clearing) {
  return withLockIfRoom(folder.path, () => {
    const content = contentOf(folder, returnMeta)
    const { files } = content
    const marker = requireReadable(content.pending)
    if (!still(content)) return undefined
    const abandoned = content.abandoned.map(requireReadable)
    const kept = keepsUnchecked ? uncheckedNames(content) : []
    const removed = abandoned.filter(({ fileName }) => !kept.includes(fileName))
    const isUnchecked = keepsUnchecked && mustBeKept(marker)
    // First, because the marker takes the name of an abandoned one.
    if (isUnchecked) removed.forEach(removeOrKeep)
    removeMarker(folder, marker, isUnchecked)
    if (!isUnchecked) removed.forEach(removeOrKeep)
    forgetGivenUp(folder)
    for (const name of files) {
      if (name === RETURN_META_FILE || name.endsWith('.tmp')) removeFile(path.join(folder.path, name))
    }
    if (files.some((name) => name !== MARKER_FILE && name !== LOOP_GUARD_FILE)) sync(folder.path)
    return {
      marker: marker?.marker,
      files: files.filter((name) => !kept.includes(name)),
      abandoned: removed.map(({ marker }) => marker),
      isUnchecked,
    }
  })
}

/** `done`: the checks that passed before. */
export function recordCleared(
  context: CommandContext,
  folder: TaskFolder,
  { marker, abandoned, isUnchecked }: Omit<NonNullable<ReturnType<typeof clearFolder>>, 'files'>,
  done: readonly RunCheck[],
  detail?: string,
): void {
  recordInJournal(context, folder, {
    event: 'clear',
    outcome: marker === undefined ? undefined : isUnchecked ? 'unchecked' : 'cleared',
    markerId: marker?.id,
    settles: abandoned.map(({ id }) => id),
    hostSession: context.session,
    checks: done.map(({ run }) => run),
    detail,
  })
}

const OURS = /^\.postflight-(?:pending|loop-guard|abandoned(?:\.\d+)?|claims|(?:pending|abandoned|lock)\.[\w-]+\.tmp)$/

export const ABANDONED = new RegExp(`^\\${ABANDONED_FILE}(?:\\.\\d+)?$`)

export type FolderContent = ReturnType<typeof contentOf>

/** What `clear` may remove. */
export function contentOf(folder: TaskFolder, returnMeta = false) {
  const pending = readMarker(folder)
  // Its folder may be unreadable too, and nothing is removed beside such a marker.
  const listed = pending?.kind === 'unreadable' ? [MARKER_FILE] : namesIn(folder)
  // The end of a marker in specs/ itself removes a folder that was listed: that of its claims.
  const files = listed
    .filter((name) => OURS.test(name) || (returnMeta && name === RETURN_META_FILE))
    .filter((name) => name !== CLAIMS_FOLDER || kindAt(path.join(folder.path, name)) === 'folder')
    .sort()
  const names = files.filter((name) => ABANDONED.test(name))
  return { files, pending, abandoned: names.flatMap((name) => readMarker(folder, name) ?? []) }
}

function namesIn({ path }: TaskFolder): string[] {
  return kindAt(path) === undefined ? [] : fs.readdirSync(path)
}

/** Abandoned markers that are not removed if their checks are not run. */
export function uncheckedNames({ abandoned }: FolderContent): string[] {
  return abandoned.filter(mustBeKept).map(({ fileName }) => fileName)
}
