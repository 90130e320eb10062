import path from 'node:path'
import { unwritable } from '../../core/messages/files.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { shellWord } from '../../core/text.ts'
import { unwritableBecause } from '../../io/fs/path-kind.ts'

/** Can the hook write where it must, so that it does not have to let a stop go? Looks at the rights, and writes nothing. */

/** What is wrong, with what mends it; undefined where nothing is. `own`: folders of ours in the task folder. */
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
      fix: `let whoever runs the agent write there, as by: chmod u+wx ${shellWord(target)}`,
    }
  }
  return undefined
}
