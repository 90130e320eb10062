import path from 'node:path'
import { claudeEntries } from '../../core/settings/hook-entries.ts'
import { addSkillHooks, findSkillCommands, removeSkillHooks } from '../../core/settings/skill-hooks.ts'
import type { CommandContext } from '../context.ts'
import { hookCommand, projectFolder } from './host-entry.ts'
import type { Target } from './target.ts'

/** A skill's file, into whose front matter the hooks go. */
export function skillTarget(context: CommandContext, skill: string): Target {
  const project = projectFolder(context)
  const file = path.resolve(context.cwd, skill)
  // A skill of the user is used in every project, so that a path of one of them would be wrong there.
  const isInProject = !path.relative(project, file).startsWith('..')
  const scope = isInProject ? 'project' : 'user'
  const { command, portable } = hookCommand(context, scope, project)
  const add = (text: string): string => addSkillHooks(text, claudeEntries(command), file)
  return {
    ...{
      what: 'hook',
      key: 'command',
      personalScope: 'local',
      scope,
      project,
      files: [file],
      entry: command,
      portable,
    },
    holds: (text) => findSkillCommands(text).length > 0,
    add,
    remove: (text) => removeSkillHooks(text, file),
    results: () => [],
  }
}
