import { commandLine } from '../kernel/command-line.ts'
import type { CommandContext } from '../project/command-context.ts'
import { DONE_STATUS_TEXTS, repairDoneFile } from './done-rules.ts'
import { doneStatus, mainWithDoneFile } from './trust-store.ts'

/** Undefined without `specs/done.yaml` and without trusted rules. */
export async function doneFinding(context: CommandContext, root: string) {
  const standing = doneStatus(root, context)
  if (standing === undefined) return undefined
  const trust = commandLine(['trust'], context.rootOption)
  if (standing === 'untrusted' || standing === 'changed') {
    // The parser takes some 20 ms to load.
    const { invalidDoneFile } = await import('./done-yaml.ts')
    const invalid = invalidDoneFile(root, standing === 'changed', trust)
    if (invalid !== undefined) return { standing, ...invalid }
  }
  const message = DONE_STATUS_TEXTS[standing]
  if (standing === 'unreadable') return { standing, message, fix: repairDoneFile(trust) }
  if (standing !== 'missing') return { standing, message, fix: standing === 'trusted' ? null : trust }
  const fix = `if you removed it: ${trust} (forgets its rules); otherwise put the file back`
  // `trust` does not forget rules that the main checkout of a linked worktree still has.
  return { standing, message, fix: mainWithDoneFile(root) === undefined ? fix : null }
}
