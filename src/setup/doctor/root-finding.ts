import path from 'node:path'
import { kindAt } from '../../disk/path-kind.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { inPlaceOfFolder } from '../../kernel/file-messages.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { type CommandContext, startOf } from '../../project/command-context.ts'
import { placeOfNewRoot } from '../../project/new-task-folder.ts'
import { ROOT_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/** Checks that there is a root, or that `create` can make one. */
export function checkRoot(context: CommandContext, root: string | undefined): DoctorFinding {
  if (root !== undefined) return good('root', ROOT_FINDINGS.root(root))
  const start = startOf(context).path
  let place: string
  try {
    place = placeOfNewRoot(context)
  } catch (error) {
    if (error instanceof PostflightError && error.code === 'root-unlikely') {
      return good('root', ROOT_FINDINGS.notProject(SPECS_FOLDER, start))
    }
    throw error
  }
  const specs = path.join(place, SPECS_FOLDER)
  const kind = kindAt(specs)
  return kind === undefined
    ? good('root', ROOT_FINDINGS.none(SPECS_FOLDER, start))
    : bad('root', inPlaceOfFolder(specs, kind), ROOT_FINDINGS.moveAway)
}
