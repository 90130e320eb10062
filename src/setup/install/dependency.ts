import path from 'node:path'
import { realPath } from '../../disk/file-facts.ts'
import { readSmallFile } from '../../disk/read.ts'
import { isJsonObject } from '../../kernel/values.ts'

const DEPENDENCY_FOLDER = 'node_modules/postflight-guard'

/**
 * pnpm and yarn link the package from a store, whose paths hold its version, so the link counts. `npm link` does not:
 * it leads out of `node_modules`, and no `package.json` names it.
 */
export function dependencyIn(project: string, packageFolder: string): string | undefined {
  const folder = realPath(packageFolder)
  const relative = path.relative(realPath(project), folder).split(path.sep).join('/')
  const isInside = relative.startsWith('node_modules/')
  const isLinked = realPath(path.join(project, DEPENDENCY_FOLDER)) === folder
  if (isLinked && (isInside || dependsOnUs(project))) return DEPENDENCY_FOLDER
  return isInside ? relative : undefined
}

function dependsOnUs(project: string): boolean {
  return specifierIn(project) !== undefined
}

/** Outside of `repository`, a clone or CI lacks the file, so installing the packages fails there. */
export function dependencyOutside(project: string, repository: string): string | undefined {
  const specifier = specifierIn(project)
  const named = /^(?:(?:file|link|portal):)?((?:\.{1,2}|~)?\/.*|\.{1,2})$/.exec(specifier ?? '')?.[1]
  if (named === undefined) return undefined
  const leadsInside = !named.startsWith('~') && isBelow(path.resolve(project, named), repository)
  return leadsInside ? undefined : specifier
}

function isBelow(file: string, folder: string): boolean {
  const relative = path.relative(folder, file)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

function specifierIn(project: string): string | undefined {
  const manifest = readManifest(path.join(project, 'package.json'))
  const specifiers = LISTS.map((list) => {
    const names = manifest[list]
    return isJsonObject(names) && Object.hasOwn(names, 'postflight-guard') ? names['postflight-guard'] : undefined
  })
  return specifiers.find((specifier) => typeof specifier === 'string')
}

export function isOurPackage(folder: string): boolean {
  return MANIFESTS.some((file) => readManifest(path.join(folder, file)).name === 'postflight-guard')
}

const MANIFESTS = ['package.json', '.claude-plugin/plugin.json']

function readManifest(file: string): Record<string, unknown> {
  const read = readSmallFile(file, MANIFEST_LIMIT)
  if (read.kind !== 'text') return {}
  try {
    const manifest: unknown = JSON.parse(read.text)
    return isJsonObject(manifest) ? manifest : {}
  } catch {
    return {}
  }
}

/** In bytes. */
const MANIFEST_LIMIT = 1_048_576

const LISTS = ['dependencies', 'devDependencies', 'optionalDependencies']
