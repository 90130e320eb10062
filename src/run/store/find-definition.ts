import fs from 'node:fs'
import path from 'node:path'
import { isAbsent, kindAt } from '../../disk/file-facts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import type { PathKind } from '../../kernel/files.ts'

/** Finds the file of a definition by its path, or by the name of a shipped example. */

/** A definition in `examples/` of the package. */
export interface ShippedExample {
  /** The file's name without its extension. */
  readonly name: string
  readonly file: string
}

/** The folders that definitions are searched in. */
export interface DefinitionFolders {
  readonly cwd: string
  readonly packageFolder: string
}

/**
 * The file that `named` means: a path, or the name of an example where no such file exists. The name never becomes part
 * of a path.
 * @throws {PostflightError} `definition-missing`.
 */
export function findDefinition({ cwd, packageFolder }: DefinitionFolders, named: string): string {
  const file = path.resolve(cwd, named)
  const kind = kindOrOther(file)
  if (kind !== undefined && kind !== 'folder') return file
  const examples = listExamples(packageFolder)
  const example = examples.find(({ name }) => name === named)
  if (example !== undefined) return example.file
  if (kind !== undefined) return file
  throw new PostflightError('definition-missing', { path: file, examples: examples.map(({ name }) => name).join(', ') })
}

/** The shipped examples, sorted by name. None if the package lacks its folder. */
export function listExamples(packageFolder: string): ShippedExample[] {
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

/** The kind of a path. "other" if the system cannot tell: the reader reports why. */
function kindOrOther(file: string): PathKind | undefined {
  try {
    return kindAt(file)
  } catch {
    return 'other'
  }
}
