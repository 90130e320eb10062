import path from 'node:path'
import fastGlob from 'fast-glob'
import { kindAt, kindIfSeen, unwritableBecause } from '../../disk/file-facts.ts'
import { readSmallFile } from '../../disk/read.ts'
import { doneFinding } from '../../done/done-finding.ts'
import { ruleName } from '../../done/done-rules.ts'
import { describeRules } from '../../done/done-yaml.ts'
import { readTrusted, unfinishedFix } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { inPlaceOfFolder, READ_ONLY, unsearchable, unwritable } from '../../kernel/error-messages.ts'
import {
  CLAIMS_FOLDER,
  JOURNAL_FILE,
  JOURNAL_FOLDER,
  MARKER_FILE,
  SPECS_FOLDER,
  WORKFLOW_FOLDER,
} from '../../kernel/files.ts'
import { quote, repairOrClear, shellWord, unparsedMarker } from '../../kernel/text.ts'
import { formatAge, HOUR_MS } from '../../kernel/time.ts'
import { faultsOf, unparsedFaults, viewMarkers } from '../../marker/marker-view.ts'
import { type CommandContext, startOf } from '../../project/command-context.ts'
import { journalFolder } from '../../project/journal.ts'
import { newProjectFolder, newRootFolder } from '../../project/new-task-folder.ts'
import { runCommandLine, type TaskFolder } from '../../project/task-folder.ts'
import { listTaskFolders } from '../../project/task-folders.ts'
import { runStatus } from '../../run/store/active-runs.ts'
import { hasRunFile, type ListedRunFiles } from '../../run/store/run-file.ts'
import { addIgnored, IGNORED, LOCAL_FILES } from '../ignored-files.ts'
import { ownFilesNotIgnored, trackedFiles } from '../install/git.ts'
import { settingsLocations } from '../install/wiring.ts'

export function checkRoot(context: CommandContext, root: string | undefined): DoctorFinding {
  if (root !== undefined) {
    const journal = { path: journalFolder(root), relative: `${SPECS_FOLDER}/${JOURNAL_FOLDER}` }
    const unwritable = kindIfSeen(journal.path) && findUnwritable(journal, JOURNAL_FILE)
    if (unwritable === undefined) return good('root', `the root is ${root}`)
    return bad('root', `${unwritable.what}, so \`status\` does not know what was cleared`, unwritable.fix)
  }
  const start = startOf(context).path
  if (newProjectFolder(context) === undefined) {
    return good('root', `no ${SPECS_FOLDER}/ at or above ${start}, which is not a project`)
  }
  const specs = path.join(newRootFolder(context), SPECS_FOLDER)
  const kind = kindAt(specs)
  if (kind === undefined) {
    return good('root', `no ${SPECS_FOLDER}/ at or above ${start} yet: \`postflight create\` makes it`)
  }
  const moveAway = 'remove or rename it: until then markers are neither written nor found there'
  return bad('root', inPlaceOfFolder(specs, kind), moveAway)
}

function findUnwritable({ path: folder, relative }: Pick<TaskFolder, 'path' | 'relative'>, own: string) {
  for (const name of ['', own]) {
    const target = path.join(folder, name)
    const detail = unwritableBecause(target)
    if (detail === undefined) continue
    const allow = `let the user who runs the agent write there, for example: chmod ${name === JOURNAL_FILE ? 'u+w' : 'u+wx'} ${shellWord(target)}`
    return {
      what: unwritable(name === '' ? relative : `${relative}/${name}`, detail),
      fix: detail === 'EROFS' ? READ_ONLY : allow,
    }
  }
  return undefined
}

const PATTERNS = ['specs/**/.postflight-*', 'specs/**/.postflight-*/**', 'specs/.postflight/**']
const ONLY_LINES = '--yes --skip hook --skip shell-hook --skip permissions --skip skill --skip done'
const MAX_NAMED = 20

/** Without specs/ and without git, there is nothing to find. */
export function checkGit(context: CommandContext, root: string, isWired: boolean): DoctorFinding[] {
  const { cwd, rootOption } = context
  const holding = settingsLocations(context, root).filter(({ commands }) => commands.length > 0)
  const scope = (['local', 'project'] as const).find((one) => holding.some((location) => location.scope === one))
  const local = scope === 'local' ? LOCAL_FILES : []
  const [missing] = ownFilesNotIgnored(root, local) ?? []
  const tracked = trackedFiles(root, [...PATTERNS, ...local])
  const named = tracked.slice(0, MAX_NAMED).map(shellWord).join(' ')
  const init = commandLine(['init'], rootOption)
  // `init` alone refuses to add the hook a second time, even if it is switched off. With the scope of the hook, it
  // names the command that undoes both.
  const option = scope === undefined ? '' : `--scope ${scope} `
  const addLines = isWired || holding.length > 0 ? `${init} ${option}${ONLY_LINES}` : init
  const git = root === cwd ? 'git' : `git -C ${shellWord(root)}`
  const findings: DoctorFinding[] = []
  if (missing !== undefined) {
    const read = readSmallFile(path.join(root, '.gitignore'))
    const isThere = read.kind === 'text' && addIgnored(read.text, [...IGNORED, ...local]) === read.text
    const fix = isThere ? `remove the line that \`${git} check-ignore --no-index -v ${missing}\` names` : addLines
    findings.push(bad('git', `git does not ignore the files of postflight-guard, such as ${missing}`, fix))
  }
  if (tracked.length > 0) {
    const more = tracked.length > 3 ? ` and ${tracked.length - 3} more` : ''
    const what = `git tracks ${tracked.slice(0, 3).join(', ')}${more}, but such files belong to one machine`
    findings.push(bad('git', what, `${git} rm -q --cached ${named}`))
  }
  return findings
}

export async function checkDone(context: CommandContext, root: string): Promise<DoctorFinding[]> {
  const found = await doneFinding(context, root)
  if (found === undefined) return []
  const { standing, message, fix } = found
  if (standing === 'missing') return [good('done', message)]
  if (fix !== null) return [bad('done', message, fix)]
  const names = describeRules((readTrusted(root, context)?.rules ?? []).map(ruleName))
  return [good('done', `${message}: ${names}`)]
}

const DAY_MS = 24 * HOUR_MS

export function checkMarkers(context: CommandContext, root: string): DoctorFinding[] {
  const { markers, problems } = viewMarkers(root, context.nowMs)
  const { undecodable } = listTaskFolders(root)
  const notUtf8 = 'its name is not UTF-8, or has the character U+FFFD'
  const unreachable = [...problems, ...undecodable.map((folder) => ({ path: folder, detail: notUtf8 }))]
  const fix = 'fix its permissions or its name, or move it away'
  const unsearched = unreachable.map((problem) => bad('marker', unsearchable(problem.path, problem.detail), fix))
  const found = markers.map((view) => {
    const name = view.relative_path
    const clear = commandLine(['clear', view.task], context.rootOption)
    const adoptOrClear = unfinishedFix(root, context.rootOption, view.task, view.state === 'abandoned')
    const age = formatAge(view.age_ms ?? 0)
    const unreadable = `${name} ${view.problems.join(', ')}`
    const isBroken = unparsedFaults(view) !== undefined
    if (view.state === 'unreadable' && !isBroken) return bad('marker', unreadable, 'look at it and remove it by hand')
    if (view.outcome === 'unchecked') return bad('marker', `${name}: ended without its checks`, adoptOrClear)
    if (view.state === 'abandoned') {
      return bad('marker', `${name}: abandoned, its postflight was never done`, adoptOrClear)
    }
    if (view.state === 'expired') return bad('marker', `${name}: unowned and ${age} old, so it blocks no stop`, clear)
    const isPending = view.state === 'pending' || isBroken
    if (isPending && view.continuations.spent === null) {
      const repairCount = 'repair or remove the count by hand: until then the marker blocks no stop'
      return bad('marker', unreadable, repairCount)
    }
    const faults = faultsOf(view)
    if (isPending && faults.length > 0) return bad('marker', `${name} ${unparsedMarker(faults)}`, repairOrClear(clear))
    // A stop is counted in the marker's folder before it is blocked.
    const folder = { path: path.dirname(view.path), relative: path.posix.dirname(name) }
    const unwritable = view.state === 'pending' ? findUnwritable(folder, CLAIMS_FOLDER) : undefined
    if (unwritable !== undefined) {
      return bad('marker', `${name}: pending, but ${unwritable.what}, so it blocks no stop`, unwritable.fix)
    }
    if (view.state === 'bypassed') return good('marker', `${name}: bypassed, the next stop removes it`)
    if ((view.age_ms ?? 0) > DAY_MS) return bad('marker', `${name}: pending for ${age}`, adoptOrClear)
    return good('marker', [`${name}: pending`, ...view.problems].join('; it '))
  })
  return [...unsearched, ...found]
}

const MAX_STRAYS = 20

/** Finds markers in folders that the hook does not search: they never block a stop. */
export async function checkStrays(root: string): Promise<DoctorFinding[]> {
  const searched = new Set(listTaskFolders(root).folders.map((folder) => path.join(folder.path, MARKER_FILE)))
  const found = await fastGlob(`**/${MARKER_FILE}`, {
    cwd: root,
    dot: true,
    absolute: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    ignore: ['**/node_modules/**', '**/.git/**', '**/.claude/worktrees/**'],
    deep: 8,
  })
  const strays = found.map((file) => path.normalize(file)).filter((file) => !searched.has(file))
  return strays.slice(0, MAX_STRAYS).map((file) => {
    const what = `${path.relative(root, file)} is where the hook does not look`
    return bad('marker', what, `move it to ${SPECS_FOLDER}/NNN_slug/, or remove it`)
  })
}

export interface DoctorFinding {
  readonly check: 'settings' | 'hook' | 'plugin' | 'cli' | 'root' | 'git' | 'marker' | 'done' | 'workflow'
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

export function good(check: DoctorFinding['check'], what: string): DoctorFinding {
  return { check, ok: true, what, fix: null }
}

export function bad(check: DoctorFinding['check'], what: string, fix: string): DoctorFinding {
  return { check, ok: false, what, fix }
}

export function checkRuns(context: CommandContext, root: string): DoctorFinding[] {
  const listed: ListedRunFiles = new Map()
  return listTaskFolders(root).folders.flatMap((folder) => findingFor(folder, context, listed) ?? [])
}

function findingFor(folder: TaskFolder, { nowMs, rootOption }: CommandContext, listed: ListedRunFiles) {
  const run = runStatus(folder)
  if (run === undefined) return undefined
  const { note, state } = run
  const resume = runCommandLine(folder, 'resume', rootOption)
  // Doctor is for a person. Text for an agent never offers to end its run.
  const resumeOrAbort = `${resume}, or ${runCommandLine(folder, 'abort', rootOption)}`
  const wrong = (what: string, fix: string): DoctorFinding => bad('workflow', `${folder.relative}: ${what}`, fix)
  if (state === undefined) return bad('workflow', note, 'repair that file by hand, or move it away')
  if (state.outcome === 'stalled' && !state.settled) {
    return wrong(state.why === undefined ? note : `${note}: ${quote(state.why)}`, resumeOrAbort)
  }
  if (!state.active) return undefined
  if (!hasRunFile(folder, state.id, listed)) {
    return wrong(`${note}, but its run file is missing, so hooks ignore it`, resume)
  }
  const unwritable = findUnwritable(folder, WORKFLOW_FOLDER)
  if (unwritable !== undefined) return wrong(`${note}, but ${unwritable.what}, so it cannot continue`, unwritable.fix)
  const age = nowMs - state.updatedMs
  return age > DAY_MS
    ? wrong(`${note}, and has not moved for ${formatAge(age)}`, resumeOrAbort)
    : good('workflow', `${folder.relative}: ${note}`)
}
