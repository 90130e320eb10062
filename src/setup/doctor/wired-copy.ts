import fs from 'node:fs'
import path from 'node:path'
import { fileOfCommand } from '../../hosts/hook-entries.ts'
import { HOOK_FINDINGS } from './doctor-messages.ts'

/** Finds the copy of the package that the entries in a host's settings start. It runs nothing from that copy. */

const PROJECT = '$CLAUDE_PROJECT_DIR/'

/** The copy of the package that settings name. */
export interface WiredCopy {
  /** The command of the entry for stops. */
  readonly command: string
  /** The file that it starts; undefined if that is not known. */
  readonly file: string | undefined
  /** True for a path relative to the project. */
  readonly portable: boolean
  /** Why the copy does not work, if that can be seen. */
  readonly problem: string | undefined
  readonly repair: string
}

/** The copy that these commands of one settings file start. */
export function findWiredCopy(commands: readonly { event: string; command: string }[], project: string): WiredCopy {
  const { command = '' } = commands.find(({ event }) => event === 'Stop') ?? commands[0] ?? {}
  const named = fileOfCommand(command)
  const portable = named?.startsWith(PROJECT) ?? false
  const file = portable ? path.join(project, (named ?? '').slice(PROJECT.length)) : named
  const repair = installCommand(project)
  return { command, file, portable, problem: file === undefined ? undefined : problemOf(file), repair }
}

function problemOf(file: string): string | undefined {
  const bundle = file.endsWith('hook.js') ? file : path.join(path.dirname(file), '..', 'dist', 'hook.js')
  for (const each of [file, bundle]) if (!fs.existsSync(each)) return HOOK_FINDINGS.missing(each)
  try {
    if (file !== bundle) fs.accessSync(file, fs.constants.X_OK)
    return undefined
  } catch {
    return HOOK_FINDINGS.notExecutable(file)
  }
}

/** The files by which package managers are known, and the command that installs what the project depends on. */
const MANAGERS: readonly (readonly [file: string, command: string])[] = [
  ['pnpm-lock.yaml', 'pnpm install'],
  ['yarn.lock', 'yarn install'],
  ['package-lock.json', 'npm ci'],
]

function installCommand(project: string): string {
  return MANAGERS.find(([file]) => fs.existsSync(path.join(project, file)))?.[1] ?? 'npm install'
}
