import type { Effect } from './observation.ts'

/** The names of archived files in the task folder. */

/** The folder of archived step results. */
export const STEP_RESULTS_FOLDER = 'step-results'

/** The folder of artifacts from earlier visits. */
export const ARTIFACTS_FOLDER = 'artifacts'

/** An effect that moves a file to the archive. */
export type ArchiveEffect = Exclude<Effect, { kind: 'tick' }>

/** The folder of a visit's step results: the phase's own for the first visit, one level deeper for later ones. */
export function stepFolder(phase: string, visit: number): string {
  return visit <= 1 ? `${STEP_RESULTS_FOLDER}/${phase}` : `${STEP_RESULTS_FOLDER}/${phase}/visit-${visit}`
}

/** The name in the archive of the artifact of a visit. */
export function archivedName(visit: number, artifact: string): string {
  return `${visit}-${artifact.slice(artifact.lastIndexOf('/') + 1)}`
}

/** True for such a name, of any visit. If it was taken, it has a number before its extension. */
export function isArchivedName(name: string, artifact: string): boolean {
  const plain = name.replace(/^\d+-/, '0-')
  return [plain, plain.replace(/\.\d+(?=(?:\.[^.]*)?$)/, '')].includes(archivedName(0, artifact))
}

/** The folder in the task folder, and the name, to which an effect moves its file. If that is taken, it gets a number. */
export function archivePlace(effect: ArchiveEffect): { readonly folder: string; readonly name: string } {
  return effect.kind === 'archive-step'
    ? { folder: stepFolder(effect.phase, effect.visit), name: effect.name }
    : { folder: `${ARTIFACTS_FOLDER}/${effect.phase}`, name: archivedName(effect.visit, effect.artifact) }
}
