import { createRequire } from 'node:module'
import path from 'node:path'

/** Loads the reader of checklists from its own file, so that only a phase with a checklist pays for the Markdown parser. */

/** The reader of checklists. @throws {Error} when its file is missing. */
export function loadChecklist(): typeof import('../../core/workflow/checklist.ts') {
  // The hook's bundles lie beside it; those of the CLI and of OpenCode lie one folder deeper.
  const here = path.dirname(import.meta.filename)
  const file = path.join(path.basename(here) === 'dist' ? here : path.dirname(here), 'checklist.js')
  return createRequire(import.meta.filename)(file) as ReturnType<typeof loadChecklist>
}
