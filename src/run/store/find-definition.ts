import fs from 'node:fs'
import path from 'node:path'
import { isAbsent, kindAt } from '../../disk/file-facts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import type { PathKind } from '../../kernel/files.ts'

/** Finds a file by its path, else a shipped example by its name, which never becomes part of a path. */
export function findDefinition(folders: Readonly<Record<'cwd' | 'packageFolder', string>>, named: string): string {
  const file = path.resolve(folders.cwd, named)
  const kind = kindOrOther(file)
  if (kind !== undefined && kind !== 'folder') return file
  const examples = listExamples(folders.packageFolder)
  const example = examples.find(({ name }) => name === named)
  if (example !== undefined) return example.file
  if (kind !== undefined) return file
  throw new PostflightError('definition-missing', { path: file, examples: examples.map(({ name }) => name).join(', ') })
}

export function listExamples(packageFolder: string) {
  const folder = path.join(packageFolder, 'examples')
  let names: string[] = []
  try {
    names = fs.readdirSync(folder)
  } catch (error) {
    if (!isAbsent(error)) throw error
  }
  const files = names.sort().map((name) => path.parse(path.join(folder, name)))
  const definitions = files.filter(({ ext }) => ext === '.yaml' || ext === '.json')
  return definitions.map((parsed) => ({ name: parsed.name, file: path.format(parsed) }))
}

function kindOrOther(file: string): PathKind | undefined {
  try {
    return kindAt(file)
  } catch {
    // The reader will report the error.
    return 'other'
  }
}
