import fs from 'node:fs'

/** The names of files of which there may be one for each step. */

/** The result files of steps in a task folder: `step-result.json`, and one for each step where several are in work. */
export function stepResultFiles(folder: string): string[] {
  return namesLike(folder, /^step-result(?:-\d+)?\.json$/)
}

/** The files with prompts that are too long for a reason, beside the state. */
export function promptFiles(folder: string): string[] {
  return namesLike(folder, /^prompt(?:-\d+)?\.md$/)
}

/** In a fixed order; none where the folder cannot be listed. */
function namesLike(folder: string, pattern: RegExp): string[] {
  try {
    return fs
      .readdirSync(folder)
      .filter((name) => pattern.test(name))
      .sort()
  } catch {
    return []
  }
}
