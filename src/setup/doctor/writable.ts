import path from 'node:path'
import { unwritableBecause } from '../../disk/path-kind.ts'
import { unwritable } from '../../kernel/file-messages.ts'
import { shellWord } from '../../kernel/text.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { MARKER_FINDINGS } from './doctor-messages.ts'

/** Checks that the hook can write in the folders where it counts. Looks only at permissions, and writes nothing. */

/** The first folder that cannot be written, with its fix; or undefined. `own` names our folders in the task folder. */
export function findUnwritable(
  { path: folder, relative }: Pick<TaskFolder, 'path' | 'relative'>,
  own: readonly string[],
): { readonly what: string; readonly fix: string } | undefined {
  for (const name of ['', ...own]) {
    const target = path.join(folder, name)
    const detail = unwritableBecause(target)
    if (detail === undefined) continue
    return {
      what: unwritable(name === '' ? relative : `${relative}/${name}`, detail),
      fix: MARKER_FINDINGS.allowWriting(shellWord(target)),
    }
  }
  return undefined
}
