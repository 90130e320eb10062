import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { SPECS_FOLDER } from '../../core/files.ts'
import { inPlaceOfFolder } from '../../core/messages/files.ts'
import { kindAt } from '../../io/fs/path-kind.ts'
import { type CommandContext, startOf } from '../context.ts'
import { placeOfNewRoot } from '../new-task-folder.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/** Is there a root, or can `create` make one? */
export function checkRoot(context: CommandContext, root: string | undefined): DoctorFinding {
  if (root !== undefined) return good('root', `root ${root}`)
  const none = `no ${SPECS_FOLDER}/ at or above ${startOf(context).path}`
  let place: string
  try {
    place = placeOfNewRoot(context)
  } catch (error) {
    if (error instanceof PostflightError && error.code === 'root-unlikely') {
      return good('root', `${none}, which is no project`)
    }
    throw error
  }
  const specs = path.join(place, SPECS_FOLDER)
  const kind = kindAt(specs)
  return kind === undefined
    ? good('root', `${none} yet: \`postflight create\` makes it`)
    : bad(
        'root',
        inPlaceOfFolder(specs, kind),
        'remove or rename it: nothing is written there, and no marker in it is found',
      )
}
