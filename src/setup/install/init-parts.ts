import { claudeEntries } from '../../hosts/hook-entries.ts'
import { type CommandContext, findCommandRepository } from '../../project/command-context.ts'
import { addIgnored } from '../ignored-files.ts'
import { addRules, rulesOf } from '../permission-rules.ts'
import { INIT_TEXT } from '../settings-messages.ts'
import { distinctFiles, linkOutside } from '../settings-paths.ts'
import { readSettingsFile } from '../settings-read.ts'
import { ownFilesNotIgnored } from './git.ts'
import { ignoreFile } from './project-files.ts'
import { hasMark, isAsWritten, protocolSkill, protocolSkillFile, skillSource } from './protocol-skill.ts'
import { recordOf, recordRules } from './rules-record.ts'
import { removeShellHook, type ShellHookPlace, shellHookPlaces } from './shell-hook.ts'
import { placeOf, type Target } from './target.ts'

/** The parts of `init`: each is an edit of one file. */

export const PART_NAMES = ['hook', 'shell-hook', 'permissions', 'gitignore', 'skill'] as const

export interface InitPart {
  readonly name: (typeof PART_NAMES)[number]
  readonly file: string
  /**
   * `kept`: the file is the user's own, and stays. `needless`: the project does not need this part. `outside`: a link leads
   * the file out of the project.
   */
  readonly state: 'missing' | 'done' | 'kept' | 'needless' | 'outside'
  /** The text of the file with this part; without the entry of a shell hook. */
  readonly add: (text: string) => string
  /** True for a file whose text from before is kept beside it. The other edits can be undone to the byte without that. */
  readonly keepsBackup: boolean
  /** Records what is added to a file with this text, so that `uninstall` can tell it from what was there. */
  readonly record?: (before: string) => void
  /** The added text, for people. */
  readonly preview: readonly string[]
}

/** Every part but the skipped ones, in the order in which people are asked. Nothing is written, and no file of a skipped part is read. */
export function initParts(context: CommandContext, target: Target, skip: readonly string[]): InitPart[] {
  const build: Record<InitPart['name'], () => InitPart[]> = {
    hook: () => [hookPart(target)],
    'shell-hook': () => shellHookParts(context, target),
    permissions: () => [rulesPart(target)],
    gitignore: () => [ignorePart(target)],
    skill: () => [skillPart(context, target)],
  }
  return PART_NAMES.filter((name) => !skip.includes(name)).flatMap((name) => build[name]())
}

function hookPart(target: Target): InitPart {
  const file = placeOf(target)
  const add = (text: string): string => target.add(text, file)
  return { name: 'hook', file, state: stateOf(file, add), add, keepsBackup: true, preview: entriesOf(target) }
}

/** The entries of the hook, one a line. */
function entriesOf({ entry }: Target): string[] {
  return claudeEntries(entry).flatMap(({ event, group: { matcher, hooks } }) =>
    hooks.map((hook) => `  ${[event, matcher, hook.if].filter((one) => one !== undefined).join(' ')}: ${hook.command}`),
  )
}

/** The entry in the file that `init` writes. Other files are of other people, or of other projects. */
function shellHookParts(context: CommandContext, target: Target): InitPart[] {
  return shellHookPlaces(context, target.project)
    .filter((place) => isOwn(place, target))
    .slice(0, 1)
    .map((place) => ({
      name: 'shell-hook',
      // One name for one file, which is written once for all parts.
      file: placeOf(target),
      state: 'missing',
      add: (text) => removeShellHook(text, place),
      keepsBackup: true,
      preview: place.commands.map(INIT_TEXT.shellHookEntry),
    }))
}

/** The settings files with such an entry that `init` does not write. */
export function otherShellHooks(context: CommandContext, target: Target): ShellHookPlace[] {
  return shellHookPlaces(context, target.project).filter((place) => !isOwn(place, target))
}

function isOwn({ file }: ShellHookPlace, target: Target): boolean {
  return distinctFiles([placeOf(target), file]).length === 1
}

function rulesPart(target: Target): InitPart {
  const file = placeOf(target)
  const add = (text: string): string => addRules(text, file, target.portable)
  const isOutside = target.scope !== 'user' && linkOutside(recordOf(file), target.project) !== undefined
  const state = isOutside ? 'outside' : stateOf(file, add)
  const record = (before: string): void => recordRules(file, before, target.portable)
  const preview = [
    ...rulesOf('allow', target.portable).map((rule) => `  allow  ${rule}`),
    ...rulesOf('ask').map((rule) => `  ask    ${rule}`),
  ]
  return {
    name: 'permissions',
    file: isOutside ? recordOf(file) : file,
    state,
    add,
    keepsBackup: true,
    record,
    preview,
  }
}

function ignorePart({ project }: Target): InitPart {
  const file = ignoreFile(project)
  const part = { name: 'gitignore', file, add: addIgnored, keepsBackup: false } as const
  const preview = addIgnored('')
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
  if (findCommandRepository(project) === undefined) return { ...part, state: 'needless', preview }
  if (linkOutside(file, project) !== undefined) return { ...part, state: 'outside', preview }
  const isIgnored = ownFilesNotIgnored(project)?.length === 0
  return { ...part, state: isIgnored ? 'done' : stateOf(file, addIgnored), preview }
}

function skillPart(context: CommandContext, { scope, project }: Target): InitPart {
  const file = protocolSkillFile(context, scope, project)
  const text = protocolSkill(context)
  const preview = [INIT_TEXT.skillSource(skillSource(context))]
  const part = { name: 'skill', file, add: () => text, keepsBackup: false, preview } as const
  if (scope !== 'user' && linkOutside(file, project) !== undefined) return { ...part, state: 'outside' }
  const present = readSettingsFile(file)
  const isOurs = present === undefined || (hasMark(present) && isAsWritten(present))
  return { ...part, state: !isOurs ? 'kept' : present === text ? 'done' : 'missing' }
}

function stateOf(file: string, add: (text: string) => string): 'missing' | 'done' {
  const text = readSettingsFile(file) ?? ''
  return add(text) === text ? 'done' : 'missing'
}
