import {
  ARTIFACTS_FOLDER,
  CHECKS_FOLDER,
  EARLIER_RUNS_FOLDER,
  SPECS_FOLDER,
  STEP_RESULTS_FOLDER,
  WORKFLOW_FOLDER,
} from '../kernel/files.ts'
import { beginsWithDigit } from './task-folder.ts'

/** Which files below `specs/` the guard and workflows write. */

export const STEP_RESULT_NAME = /^step-result(?:-\d+)?\.json$/

export function isReceiptName(name: string): boolean {
  return /^\d+-\d+\.json$/.test(name)
}

/** The names in a task folder that the workflow and the guard use themselves. `u`: APFS takes a Kelvin sign for a k. */
const RESERVED =
  /^(?:workflow|workflow-runs|artifacts|checks|step-results|step-result(?:-\d+)?\.json|\.postflight[^/]*|\.return-meta\.json)(?:\/|$)/iu

export function isReserved(name: string): boolean {
  return RESERVED.test(name)
}

const OWN = new RegExp(RESERVED, 'u')

/** `path`: relative to its task folder. People have folders such as `artifacts` too: there only names of ours count. */
function isOwnFile(path: string): boolean {
  // Only Linux tells a person's `Workflow/` from ours.
  const name = process.platform === 'linux' ? path : path.toLowerCase()
  const [folder, , file = ''] = name.split('/')
  if (folder === CHECKS_FOLDER) return isReceiptName(file.replace(/(?<=\.json)\..*\.tmp$/, ''))
  return folder === ARTIFACTS_FOLDER ? /^\d+-/.test(file) : OWN.test(name)
}

/** `name`: relative to the root. `isTask`: whether `specs/` itself holds a run. */
export function isOwnInRoot(name: string, isTask: boolean): boolean {
  const [specs, ...parts] = name.split('/')
  const [first = ''] = parts
  if (specs !== SPECS_FOLDER) return false
  const isOwnBelow = (depth: number): boolean => isOwnFile(parts.slice(depth).join('/'))
  if (isOwnBelow(1) || ((isTask || first.startsWith('.')) && isOwnBelow(0))) return true
  return !beginsWithDigit(first) && isOwnBelow(2)
}

/** Patterns from the root. Searches leave them out, because they may be large. */
export const OWN_FOLDERS = [
  `${SPECS_FOLDER}/**/.postflight*/**`,
  ...[WORKFLOW_FOLDER, EARLIER_RUNS_FOLDER, STEP_RESULTS_FOLDER].flatMap((name) =>
    ['*', '[!0-9]*/*'].map((task) => `${SPECS_FOLDER}/${task}/${name}/**`),
  ),
]
