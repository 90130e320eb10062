import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent, kindAt, kindOfStats } from '../disk/file-facts.ts'
import type { HookHost } from '../hosts/hook-entries.ts'
import { FILE_DETAILS, KIND_NAMES } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { type Environment, variable } from '../kernel/values.ts'

/** Finds the settings files of each host and scope. */

export const SCOPES = ['project', 'local', 'user'] as const

export type Scope = (typeof SCOPES)[number]

export function claudeFolder(home: string, environment: Environment): string {
  return variable(environment, 'CLAUDE_CONFIG_DIR') ?? path.join(home, '.claude')
}

export function claudeSettingsPath(scope: Scope, project: string, home: string, environment: Environment): string {
  switch (scope) {
    case 'user':
      return path.join(claudeFolder(home, environment), 'settings.json')
    case 'project':
      return path.join(project, '.claude', 'settings.json')
    case 'local':
      return path.join(project, '.claude', 'settings.local.json')
  }
}

export function hookHostSettingsPath(
  host: HookHost,
  scope: Exclude<Scope, 'local'>,
  project: string,
  home: string,
  environment: Environment,
): string {
  if (scope === 'project') return path.join(project, host.folder, host.file)
  return path.join(hookHostFolder(host, home, environment), host.file)
}

export function hookHostFolder({ folder, folderVariable }: HookHost, home: string, environment: Environment): string {
  const named = folderVariable === undefined ? undefined : variable(environment, folderVariable)
  return named ?? path.join(home, folder)
}

/** The names of OpenCode's configuration files, in the order in which it reads them; it reads both (1.18.34). */
const OPENCODE_CONFIGS = ['opencode.json', 'opencode.jsonc']

/** The existing ones, in its order, otherwise the one that `install` creates. */
export function openCodeConfigPaths(
  scope: Exclude<Scope, 'local'>,
  project: string,
  home: string,
  environment: Environment,
): string[] {
  const folder =
    scope === 'user'
      ? path.join(variable(environment, 'XDG_CONFIG_HOME') ?? path.join(home, '.config'), 'opencode')
      : project
  const [main, ...others] = OPENCODE_CONFIGS.map((name) => path.join(folder, name)) as [string, ...string[]]
  const there = [main, ...others].filter((file) => kindAt(file) !== undefined)
  return there.length === 0 ? [main] : distinctFiles(there)
}

export function distinctFiles(files: readonly string[]): string[] {
  const real = files.map((file) => {
    try {
      return fs.realpathSync(file)
    } catch {
      // Reading the file will report the error.
      return file
    }
  })
  return files.filter((_, index) => real.indexOf(real[index] as string) === index)
}

/**
 * Refuses settings that are a link out of the project: a cloned repository could link them to any of the user's files.
 */
export function requireInside(file: string, project: string): void {
  const outside = linkOutside(file, project)
  if (outside !== undefined) throw new PostflightError('file-unreadable', outside)
}

/** A link to nothing counts, because what is created there may lie outside. */
export function linkOutside(file: string, project: string): { path: string; detail: string } | undefined {
  for (let target = file; target !== path.dirname(target); target = path.dirname(target)) {
    const real = realTarget(target)
    if (real === undefined) {
      if (kindAt(target) === 'link') return { path: target, detail: FILE_DETAILS.brokenLink }
      continue
    }
    if (leadsOut(fs.realpathSync(project), real)) return { path: target, detail: FILE_DETAILS.linkOutside }
    // The first folder that exists decides: its real path resolves the links above it.
    if (target !== file) return undefined
  }
  return undefined
}

function realTarget(target: string): string | undefined {
  try {
    return fs.realpathSync(target)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw new PostflightError('file-unreadable', { path: target, detail: errorCode(error) }, error)
  }
}

export function leadsOut(project: string, real: string): boolean {
  const relative = path.relative(project, real)
  return relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)
}

/** In bytes. */
const MAX_BYTES = 8_388_608

/** Links are followed, because people link their settings from elsewhere. */
export function readSettingsFile(file: string): string | undefined {
  const refuse = (detail: string, cause?: unknown): never => {
    throw new PostflightError('file-unreadable', { path: file, detail }, cause)
  }
  try {
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return kindAt(file) === undefined ? undefined : refuse(FILE_DETAILS.brokenLink)
    if (!stats.isFile()) return refuse(KIND_NAMES[kindOfStats(stats)])
    if (stats.size > MAX_BYTES) return refuse(FILE_DETAILS.largerThan(MAX_BYTES))
    // Invalid UTF-8 would be lost when the file is written again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(file))
  } catch (error) {
    if (error instanceof PostflightError) throw error
    return isAbsent(error) ? undefined : refuse(errorCode(error), error)
  }
}
