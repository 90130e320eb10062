import fs from 'node:fs'
import path from 'node:path'
import type { CommandContext } from '../../project/command-context.ts'
import { removeIgnored } from '../ignored-files.ts'
import { linkOutside } from '../settings-paths.ts'
import { readSettingsFile } from '../settings-read.ts'
import { removeSettingsFile, replaceSettingsFile } from '../settings-replace.ts'
import { hasMark, isAsWritten, protocolSkillFile } from './protocol-skill.ts'
import { removeEmptyFolders } from './removal.ts'
import type { Target } from './target.ts'
import { settingsPlaces } from './wiring.ts'

/** The files that `init` writes beside the settings: lines of `.gitignore`, and a skill. `uninstall` removes them. */

/** The `.gitignore` that gets our lines: the one beside `specs/`. */
export function ignoreFile(project: string): string {
  return path.join(project, '.gitignore')
}

/** A file beside the settings, and its text without our part. */
export interface ProjectRemoval {
  readonly file: string
  /** Undefined: the file is removed. */
  readonly after: string | undefined
  /** True for a skill that people changed: it stays. */
  readonly kept: boolean
  readonly carryOut: () => void
}

/** The files that `uninstall` removes beside the settings; none while another scope of the project has the hook. */
export function projectRemovals(context: CommandContext, target: Target): ProjectRemoval[] {
  const { project, scope, files } = target
  const others = settingsPlaces(context, project).filter(
    (place) => place.scope !== 'user' && !files.includes(place.file) && place.commands.length > 0,
  )
  if (others.length > 0) return []
  return [...(scope === 'user' ? [] : ignoreRemoval(project)), ...skillRemoval(context, target)]
}

function ignoreRemoval(project: string): ProjectRemoval[] {
  const file = ignoreFile(project)
  const before = isOfProject(file, project) ? readSettingsFile(file) : undefined
  const rest = before === undefined ? undefined : removeIgnored(before)
  if (before === undefined || rest === undefined || rest === before) return []
  const after = rest === '' ? undefined : rest
  const carryOut = (): void =>
    after === undefined ? removeSettingsFile(file) : void replaceSettingsFile(file, after, undefined)
  return [{ file, after, kept: false, carryOut }]
}

/** True for a file that exists, and that no link leads out of the project. */
function isOfProject(file: string, project: string): boolean {
  return fs.existsSync(file) && linkOutside(file, project) === undefined
}

function skillRemoval(context: CommandContext, { scope, project }: Target): ProjectRemoval[] {
  const file = protocolSkillFile(context, scope, project)
  const text = (scope === 'user' ? fs.existsSync(file) : isOfProject(file, project))
    ? readSettingsFile(file)
    : undefined
  if (text === undefined || !hasMark(text)) return []
  const carryOut = (): void => {
    if (!isAsWritten(text)) return
    removeSettingsFile(file)
    removeEmptyFolders(path.dirname(file), scope === 'user' ? path.dirname(path.dirname(path.dirname(file))) : project)
  }
  return [{ file, after: undefined, kept: !isAsWritten(text), carryOut }]
}
