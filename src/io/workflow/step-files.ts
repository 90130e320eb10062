import fs from 'node:fs'

/** The result files of steps in a task folder: `step-result.json`, and one for each step where several are in work. */

/** Their names, in a fixed order. Empty where the folder cannot be listed. */
export function stepResultFiles(folder: string): string[] {
  try {
    return fs
      .readdirSync(folder)
      .filter((name) => /^step-result(?:-\d+)?\.json$/.test(name))
      .sort()
  } catch {
    return []
  }
}
