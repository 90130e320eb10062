import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { sha256 } from '../../disk/ids.ts'
import { doneFilePath, readDoneFile } from '../../done/trust-store.ts'
import { claudeEntries } from '../../hosts/hook-entries.ts'
import { quote } from '../../kernel/text.ts'
import { forEveryOne } from '../../kernel/values.ts'
import { type CommandContext, findCommandRepository } from '../../project/command-context.ts'
import { addIgnored, IGNORED, LOCAL_FILES, LOCAL_SETTINGS, removeIgnored } from '../ignored-files.ts'
import { addRules, rulesOf } from '../permission-rules.ts'
import { PART_TITLES } from '../settings-messages.ts'
import { claudeFolder, distinctFiles, linkOutside, readSettingsFile, type Scope } from '../settings-paths.ts'
import { proposedDone } from './done-proposal.ts'
import { ownFilesNotIgnored } from './git.ts'
import { locationOf, recordOf, recordRules, type Target } from './target.ts'
import { removeShellHook, type ShellHookLocation, settingsLocations, shellHookLocations } from './wiring.ts'

export const PART_NAMES = Object.keys(PART_TITLES) as (keyof typeof PART_TITLES)[]

export interface InitPart {
  readonly name: keyof typeof PART_TITLES
  readonly file: string
  readonly state: 'missing' | 'done' | 'kept' | 'needless' | 'outside'
  readonly add: (text: string) => string
  /** Records additions to a file with this text, so that `uninstall` can tell them from the user's own lines. */
  readonly record?: (before: string) => void
  readonly preview: readonly string[]
}

export function initParts(context: CommandContext, target: Target, free: readonly string[], skip: readonly string[]) {
  const build: Record<InitPart['name'], () => InitPart[]> = {
    hook: () => [hookPart(target)],
    'shell-hook': () => shellHookParts(context, target),
    permissions: () => [rulesPart(target, free)],
    gitignore: () => [ignorePart(target)],
    skill: () => [skillPart(context, target)],
    done: () => donePart(target),
  }
  return PART_NAMES.filter((name) => !skip.includes(name)).flatMap((name) => build[name]())
}

function hookPart(target: Target): InitPart {
  const file = locationOf(target)
  const add = (text: string): string => target.add(text, file)
  return { name: 'hook', file, state: stateOf(file, add), add, preview: entriesOf(target) }
}

function entriesOf({ entry }: Target): string[] {
  return claudeEntries(entry).flatMap(({ event, group: { matcher, hooks } }) =>
    hooks.map((hook) => `  ${[event, matcher, hook.if].filter((one) => one !== undefined).join(' ')}: ${hook.command}`),
  )
}

function shellHookParts(context: CommandContext, target: Target): InitPart[] {
  const own = shellHookLocations(context, target.project).filter((location) => isOwn(location, target))
  return own.slice(0, 1).map((location) => ({
    name: 'shell-hook',
    // One name for one file, which is written once for all parts.
    file: locationOf(target),
    state: 'missing',
    add: (text) => removeShellHook(text, location),
    preview: location.commands.map((command) => `  SubagentStop: ${quote(command)}`),
  }))
}

export function otherShellHooks(context: CommandContext, target: Target): ShellHookLocation[] {
  return shellHookLocations(context, target.project).filter((location) => !isOwn(location, target))
}

function isOwn({ file }: ShellHookLocation, target: Target): boolean {
  return distinctFiles([locationOf(target), file]).length === 1
}

function rulesPart(target: Target, freeCommands: readonly string[]): InitPart {
  const file = locationOf(target)
  const rules = rulesOf(freeCommands, target.portable)
  const add = (text: string): string => addRules(text, file, rules)
  const isOutside = target.scope !== 'user' && linkOutside(recordOf(file), target.project) !== undefined
  const state = isOutside ? 'outside' : stateOf(file, add)
  const record = (before: string): void => recordRules(file, before, rules)
  const preview = [...rules.allow.map((rule) => `  allow  ${rule}`), ...rules.ask.map((rule) => `  ask    ${rule}`)]
  const shown = isOutside ? recordOf(file) : file
  return { name: 'permissions', file: shown, state, add, record, preview }
}

function ignorePart({ project, scope }: Target): InitPart {
  const file = path.join(project, '.gitignore')
  const isLocal = scope === 'local'
  const isRepository = findCommandRepository(project) !== undefined
  const notIgnored = isRepository ? ownFilesNotIgnored(project, isLocal ? LOCAL_FILES : []) : undefined
  // A person's own ignore file often names the local settings.
  const isNamed = notIgnored?.includes(LOCAL_SETTINGS) === false
  const lines = isLocal && !isNamed ? [LOCAL_SETTINGS, ...IGNORED] : IGNORED
  const add = (text: string): string => addIgnored(text, lines)
  const part = { name: 'gitignore', file, add, preview: indented(add('')) } as const
  if (!isRepository) return { ...part, state: 'needless' }
  if (linkOutside(file, project) !== undefined) return { ...part, state: 'outside' }
  return { ...part, state: notIgnored?.length === 0 ? 'done' : stateOf(file, add) }
}

function skillPart(context: CommandContext, { scope, project }: Target): InitPart {
  const file = protocolSkillFile(context, scope, project)
  const text = protocolSkill(context)
  const part = { name: 'skill', file, add: () => text, preview: [`  the text of ${skillSource(context)}`] } as const
  if (scope !== 'user' && linkOutside(file, project) !== undefined) return { ...part, state: 'outside' }
  const present = readSkill(file)
  if (present !== undefined && !isAsWritten(present)) return { ...part, state: 'kept' }
  return { ...part, state: present === text ? 'done' : 'missing' }
}

/** An existing file is never changed. */
function donePart({ project }: Target): InitPart[] {
  const text = proposedDone(project)
  if (text === undefined) return []
  const file = doneFilePath(project)
  const specs = kindAt(path.dirname(file))
  // Nothing reads it there: `init` warns of it.
  if (specs !== undefined && specs !== 'folder') return []
  const part = { name: 'done', file, add: (present: string) => present || text, preview: indented(text) } as const
  if (linkOutside(file, project) !== undefined) return [{ ...part, state: 'outside' }]
  const present = readDoneFile(project)
  if (present.kind === 'absent') return [{ ...part, state: 'missing' }]
  return [{ ...part, state: present.kind === 'text' && present.text === text ? 'done' : 'kept' }]
}

function indented(text: string): string[] {
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => `  ${line}`)
}

function stateOf(file: string, add: (text: string) => string): 'missing' | 'done' {
  const text = readSettingsFile(file) ?? ''
  return add(text) === text ? 'done' : 'missing'
}

export type ProjectRemoval = ReturnType<typeof projectRemovals>[number]

/** Continues after an unreadable file. `kept`: the file was changed since. */
export function projectRemovals(context: CommandContext, target: Target, failures: unknown[]) {
  const { project, scope, files } = target
  const others = settingsLocations(context, project).filter(
    (location) => location.scope !== 'user' && !files.includes(location.file) && location.commands.length > 0,
  )
  if (scope !== 'user' && others.length > 0) return []
  const finders = scope === 'user' ? [skillRemoval] : [ignoreRemoval, skillRemoval]
  return forEveryOne(finders, failures, (find) => find(context, target))
}

function ignoreRemoval(_context: CommandContext, { project }: Target) {
  const file = path.join(project, '.gitignore')
  const before = (isOfProject(file, project) && readSettingsFile(file)) || ''
  const rest = removeIgnored(before)
  return rest === before ? [] : [{ file, before, after: rest || undefined, kept: false, top: project }]
}

function isOfProject(file: string, project: string): boolean {
  return fs.existsSync(file) && linkOutside(file, project) === undefined
}

function skillRemoval(context: CommandContext, { scope, project }: Target) {
  const file = protocolSkillFile(context, scope, project)
  const isThere = scope === 'user' ? fs.existsSync(file) : isOfProject(file, project)
  const before = (isThere && readSettingsFile(file)) || ''
  if (!before.includes(MARK_START)) return []
  const top = scope === 'user' ? claudeFolder(context, scope, project) : project
  return [{ file, before, after: undefined, kept: !isAsWritten(withLineFeeds(before)), top }]
}

function readSkill(file: string): string | undefined {
  const text = readSettingsFile(file)
  return text && withLineFeeds(text)
}

/** Git for Windows checks it out with CRLF. */
function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

function protocolSkillFile(context: CommandContext, scope: Scope, project: string): string {
  return path.join(claudeFolder(context, scope, project), 'skills', 'postflight', 'SKILL.md')
}

function skillSource({ packageFolder }: CommandContext): string {
  return path.join(packageFolder, 'plugin', 'skills', 'postflight', 'SKILL.md')
}

function protocolSkill(context: CommandContext): string {
  const text = readSkill(skillSource(context)) ?? ''
  const body = `${text.trimEnd()}\n\n${WITHOUT_PATH}\n\n`
  return `${body}${markOf(body)}\n`
}

const WITHOUT_PATH = `## If \`postflight\` is not found

Use \`npx --no-install postflight\` instead, in the project. If that fails too, tell the user at once to install the packages of the project (\`npm ci\`, or as its README says) and to start a new session: until then no stop is blocked. Do the postflight all the same.`

const MARK_START = '<!-- postflight init wrote this file '

function markOf(body: string): string {
  return `${MARK_START}(${sha256(body).slice(0, 12)}), and \`postflight uninstall\` removes it. -->`
}

function isAsWritten(text: string): boolean {
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  return last === markOf(text.slice(0, text.lastIndexOf(last)))
}
