import fs from 'node:fs'
import path from 'node:path'
import { kindAt, requireKind } from '../../disk/file-facts.ts'
import { PostflightError } from '../../kernel/errors.ts'

/** Finds a file by its path, else a shipped example by its name, which never becomes part of a path. */
export function findDefinition(folders: Readonly<Record<'cwd' | 'packageFolder', string>>, named: string): string {
  const file = path.resolve(folders.cwd, named)
  const kind = requireKind(file)
  if (kind !== undefined && kind !== 'folder') return file
  const examples = listExamples(folders.packageFolder)
  const example = examples.find(({ name }) => name === named)
  if (example !== undefined) return example.file
  if (kind !== undefined) return file
  throw new PostflightError('definition-missing', { path: file, examples: examples.map(({ name }) => name).join(', ') })
}

export function listExamples(packageFolder: string) {
  const folder = path.join(packageFolder, 'examples')
  const names = kindAt(folder) === undefined ? [] : fs.readdirSync(folder).sort()
  const definitions = names.map((name) => path.parse(name)).filter(({ ext }) => ext === '.yaml' || ext === '.json')
  return definitions.map(({ name, base }) => ({ name, file: path.join(folder, base) }))
}
