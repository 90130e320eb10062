import type { Occasion } from '../hosts/occasion.ts'
import { commandLine, rootOptionFor } from '../kernel/command-line.ts'
import { doneAtStart } from './done-messages.ts'
import { readReceipts } from './done-receipts.ts'
import { judgeRules } from './due.ts'
import { FileSearch, searchDeadline } from './search.ts'
import { readBaseline, removeOldFolders, sessionFolder, touchFolder, writeBaseline } from './session-folder.ts'
import { doneStanding, type Person, readTrusted } from './trust-store.ts'

/** The answer has nothing of the file's text, which may have come with a clone. */
export function startDone(
  root: string,
  occasion: Occasion,
  person: Person,
  search = new FileSearch(root, searchDeadline(occasion.deadline)),
): readonly string[] {
  const { payload, reader, nowMs } = occasion
  const trust = commandLine(['trust'], rootOptionFor(reader, root))
  const standing = doneStanding(root, person)
  const copy = readTrusted(root, person)
  if (copy !== undefined && payload.session !== undefined) {
    const folder = sessionFolder(root, payload.session)
    if (readBaseline(folder) === undefined) {
      const states = judgeRules(copy.rules, search, [], readReceipts(root, nowMs))
      writeBaseline(folder, Object.fromEntries(states.flatMap(({ key, paths }) => (paths ? [[key, paths]] : []))))
    }
    touchFolder(folder)
  }
  if (copy !== undefined) removeOldFolders(root, nowMs)
  const isTold = standing === 'untrusted' || standing === 'changed' || standing === 'unreadable'
  return isTold && payload.isCompacted !== true ? [doneAtStart(standing, trust)] : []
}

export function isStarted(root: string, { payload: { session } }: Occasion): boolean {
  return session !== undefined && readBaseline(sessionFolder(root, session)) !== undefined
}
