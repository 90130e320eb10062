import { createHash } from 'node:crypto'
import path from 'node:path'
import type { CommandContext } from '../../project/command-context.ts'
import { INIT_TEXT } from '../settings-messages.ts'
import { claudeFolder, type Scope } from '../settings-paths.ts'
import { readSettingsFile } from '../settings-read.ts'

/**
 * The skill that teaches an agent the protocol, as `init` writes it. Its last line shows whether people have changed
 * it.
 */

/** The skill's file: beside the user's settings, or in the project. */
export function protocolSkillFile(context: CommandContext, scope: Scope, project: string): string {
  const folder =
    scope === 'user' ? claudeFolder(context.findHome(), context.environment) : path.join(project, '.claude')
  return path.join(folder, 'skills', 'postflight', 'SKILL.md')
}

/** The file of the package that holds the skill's text. */
export function skillSource({ packageFolder }: CommandContext): string {
  return path.join(packageFolder, 'plugin', 'skills', 'postflight', 'SKILL.md')
}

/** The text of the skill. @throws {PostflightError} `file-unreadable` where the package is not complete. */
export function protocolSkill(context: CommandContext): string {
  const text = readSettingsFile(skillSource(context)) ?? ''
  const body = `${text.trimEnd()}\n\n${INIT_TEXT.skillWithoutPath}\n\n`
  return `${body}${INIT_TEXT.skillMark(checksum(body))}\n`
}

/** True for a skill that `init` of any version wrote, and that was not changed since. */
export function isAsWritten(text: string): boolean {
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  const body = text.slice(0, text.lastIndexOf(last))
  return last === INIT_TEXT.skillMark(checksum(body))
}

/** True for a text that holds the line by which `init` marks its skill. */
export function hasMark(text: string): boolean {
  return text.includes(INIT_TEXT.skillMark('').split('(')[0] as string)
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
