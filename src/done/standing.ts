import { readDoneFile } from './done-file.ts'
import type { DoneStanding } from './done-messages.ts'
import { type Person, readTrusted } from './trust-store.ts'

/** The standing of a root's definition of done; undefined if there is none. Never throws. */
export function doneStanding(root: string, person: Person): DoneStanding | undefined {
  const file = readDoneFile(root)
  const copy = readTrusted(root, person)
  if (file.kind === 'absent') return copy === undefined ? undefined : 'missing'
  if (copy === undefined) return 'untrusted'
  if (file.kind === 'unreadable') return 'unreadable'
  return file.hash === copy.fileHash ? 'trusted' : 'changed'
}
