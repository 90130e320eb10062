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

/** `first`, `third`: names of its path in the task folder. People have `artifacts/` too: there only a run's files count. */
function isOwnFile(first: string, third: string, holdsRun: () => boolean): boolean {
  // Only Linux tells a person's `Workflow/` from ours.
  const name = process.platform === 'linux' ? first : first.toLowerCase()
  if (name === CHECKS_FOLDER) return isReceiptName(third.replace(/(?<=\.json)\..*\.tmp$/, '')) && holdsRun()
  return name === ARTIFACTS_FOLDER ? /^\d+-/.test(third) && holdsRun() : OWN.test(name)
}

/** `name` and what `holdsRun` gets: relative to the root. */
export function isOwnInRoot(name: string, holdsRun: (folder: string) => boolean): boolean {
  if (!name.startsWith(`${SPECS_FOLDER}/`)) return false
  const names = name.split('/')
  const [, first = ''] = names
  const isOwnIn = (depth: number): boolean =>
    isOwnFile(names[depth] ?? '', names[depth + 2] ?? '', () => holdsRun(names.slice(0, depth).join('/')))
  // Without a run, `specs/workflow/` is a person's.
  if (isOwnIn(2) || (isOwnIn(1) && (first.startsWith('.') || holdsRun(SPECS_FOLDER)))) return true
  return !beginsWithDigit(first) && isOwnIn(3)
}

/** Patterns from the root. Searches leave them out, because they may be large. */
export const OWN_FOLDERS = [
  `${SPECS_FOLDER}/**/.postflight*/**`,
  ...[WORKFLOW_FOLDER, EARLIER_RUNS_FOLDER, STEP_RESULTS_FOLDER].flatMap((name) =>
    ['*', '[!0-9]*/*'].map((task) => `${SPECS_FOLDER}/${task}/${name}/**`),
  ),
]
