import path from 'node:path'
import fastGlob from 'fast-glob'
import { kindAt, unwritableBecause } from '../../disk/file-facts.ts'
import { DONE_STANDING, ruleName } from '../../done/done-rules.ts'
import { DONE_FILE_TEXT, invalidDoneFile } from '../../done/done-yaml.ts'
import { doneMarkerFix, doneStatus, readTrusted } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { inPlaceOfFolder, unsearchable, unwritable } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { CLAIMS_FOLDER, MARKER_FILE, SPECS_FOLDER, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { shellWord } from '../../kernel/text.ts'
import { formatAge, HOUR_MS } from '../../kernel/time.ts'
import { INSPECT_TEXT } from '../../marker/check-messages.ts'
import { unparsedFaults, viewMarkers } from '../../marker/marker-view.ts'
import { type CommandContext, startOf } from '../../project/command-context.ts'
import { newRootFolder } from '../../project/new-task-folder.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { isSessionFolderName, listTaskFolders } from '../../project/task-folders.ts'
import { runStatus } from '../../run/store/active-runs.ts'
import { runFileOf } from '../../run/store/run-file.ts'
import { LOCAL_SETTINGS } from '../ignored-files.ts'
import { ownFilesNotIgnored, trackedFiles } from '../install/git.ts'
import { settingsLocations } from '../install/wiring.ts'
import { GIT_FINDINGS, MARKER_FINDINGS, ROOT_FINDINGS, RUN_FINDINGS } from './doctor-messages.ts'

export function checkRoot(context: CommandContext, root: string | undefined): DoctorFinding {
  if (root !== undefined) return good('root', ROOT_FINDINGS.root(root))
  const start = startOf(context).path
  let location: string
  try {
    location = newRootFolder(context)
  } catch (error) {
    if (error instanceof PostflightError && error.code === 'root-unlikely') {
      return good('root', ROOT_FINDINGS.notProject(SPECS_FOLDER, start))
    }
    throw error
  }
  const specs = path.join(location, SPECS_FOLDER)
  const kind = kindAt(specs)
  return kind === undefined
    ? good('root', ROOT_FINDINGS.none(SPECS_FOLDER, start))
    : bad('root', inPlaceOfFolder(specs, kind), ROOT_FINDINGS.moveAway)
}

function findUnwritable(
  { path: folder, relative }: Pick<TaskFolder, 'path' | 'relative'>,
  own: readonly string[],
): { readonly what: string; readonly fix: string } | undefined {
  for (const name of ['', ...own]) {
    const target = path.join(folder, name)
    const detail = unwritableBecause(target)
    if (detail === undefined) continue
    return {
      what: unwritable(name === '' ? relative : `${relative}/${name}`, detail),
      fix: MARKER_FINDINGS.allowWriting(shellWord(target)),
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
  const holdsHook = holding.some(({ scope }) => scope === 'local')
  const local = holdsHook ? [LOCAL_SETTINGS] : []
  const [missing] = ownFilesNotIgnored(root, local) ?? []
  const tracked = trackedFiles(root, [...PATTERNS, ...local])
  const named = tracked.slice(0, MAX_NAMED).map(shellWord).join(' ')
  const init = commandLine(['init'], rootOption)
  // `init` alone refuses to add the hook a second time, even if it is switched off.
  const addLines = isWired || holding.length > 0 ? `${init} ${holdsHook ? '--scope local ' : ''}${ONLY_LINES}` : init
  const git = root === cwd ? 'git' : `git -C ${shellWord(root)}`
  return [
    ...(missing === undefined ? [] : [bad('git', GIT_FINDINGS.notIgnored(missing), addLines)]),
    ...(tracked.length === 0 ? [] : [bad('git', GIT_FINDINGS.tracked(tracked), `${git} rm -q --cached ${named}`)]),
  ]
}

export function checkDone(context: CommandContext, root: string): DoctorFinding[] {
  const status = doneStatus(root, context)
  if (status === undefined) return []
  if (status === 'missing') return [good('done', DONE_STANDING.missing)]
  const trust = commandLine(['trust'], context.rootOption)
  const invalid = invalidDoneFile(root, status !== 'untrusted', trust)
  if (invalid !== undefined) return [bad('done', invalid.message, invalid.fix)]
  if (status !== 'trusted') return [bad('done', DONE_STANDING[status], trust)]
  const names = DONE_FILE_TEXT.names((readTrusted(root, context)?.rules ?? []).map(ruleName))
  return [good('done', `specs/done.yaml is trusted on this machine: ${names}`)]
}

const LONG_MS = 24 * HOUR_MS

export function checkMarkers(context: CommandContext, root: string): DoctorFinding[] {
  const { markers, problems } = viewMarkers(root, context.nowMs)
  const { undecodable } = listTaskFolders(root)
  const unreachable = [...problems, ...undecodable.map((folder) => ({ path: folder, detail: MARKER_FINDINGS.notUtf8 }))]
  const unsearched = unreachable.map((problem) =>
    bad('marker', unsearchable(problem.path, problem.detail), MARKER_FINDINGS.fixFolder),
  )
  const found = markers.map((view) => {
    const name = view.relative_path
    const clear = commandLine(['clear', view.task], context.rootOption)
    const adoptOrClear = isSessionFolderName(view.task)
      ? doneMarkerFix(root, context.rootOption, { task: view.task, isOver: view.state === 'abandoned' })
      : MARKER_FINDINGS.adoptOrClear(commandLine(['adopt', view.task], context.rootOption), clear)
    const age = formatAge(view.age_ms ?? 0)
    const unreadable = MARKER_FINDINGS.unreadable(name, view.problems)
    const isBroken = unparsedFaults(view) !== undefined
    if (view.state === 'unreadable' && !isBroken) return bad('marker', unreadable, MARKER_FINDINGS.removeByHand)
    if (view.outcome === 'unchecked') return bad('marker', MARKER_FINDINGS.unchecked(name), adoptOrClear)
    if (view.state === 'abandoned') return bad('marker', MARKER_FINDINGS.abandoned(name), adoptOrClear)
    if (view.state === 'expired') return bad('marker', MARKER_FINDINGS.expired(name, age), clear)
    const isPending = view.state === 'pending' || isBroken
    if (isPending && view.continuations.spent === null) {
      return bad('marker', unreadable, MARKER_FINDINGS.repairCount)
    }
    const faults = view.problems.filter((problem) => problem !== INSPECT_TEXT.unowned)
    if (isPending && faults.length > 0) {
      return bad('marker', MARKER_FINDINGS.unparsed(name, faults), MARKER_FINDINGS.repairOrClear(clear))
    }
    // A stop is counted in the marker's folder before it is blocked.
    const folder = { path: path.dirname(view.path), relative: path.posix.dirname(name) }
    const unwritable = view.state === 'pending' ? findUnwritable(folder, [CLAIMS_FOLDER]) : undefined
    if (unwritable !== undefined) {
      return bad('marker', MARKER_FINDINGS.uncountable(name, unwritable.what), unwritable.fix)
    }
    if (view.state === 'bypassed') return good('marker', MARKER_FINDINGS.bypassed(name))
    if ((view.age_ms ?? 0) > LONG_MS) return bad('marker', MARKER_FINDINGS.old(name, age), adoptOrClear)
    return good('marker', MARKER_FINDINGS.pending(name, view.problems))
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
  return found
    .map((file) => path.normalize(file))
    .filter((file) => !searched.has(file))
    .slice(0, MAX_STRAYS)
    .map((file) =>
      bad('marker', MARKER_FINDINGS.stray(path.relative(root, file)), MARKER_FINDINGS.moveStray(SPECS_FOLDER)),
    )
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

/** Finds runs without a run file, runs that do not move, and stalled ones. */

const PATIENCE_MS = 24 * HOUR_MS

export function checkRuns(context: CommandContext, root: string): DoctorFinding[] {
  return listTaskFolders(root).folders.flatMap((folder) => findingFor(folder, context) ?? [])
}

function findingFor(folder: TaskFolder, { nowMs, rootOption }: CommandContext): DoctorFinding | undefined {
  const run = runStatus(folder)
  if (run === undefined) return undefined
  const { status, note, state } = run
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], rootOption)
  const resume = command('workflow', 'resume')
  // Doctor is for a person. Text for an agent never offers to end its run.
  const resumeOrAbort = RUN_FINDINGS.resumeOrAbort(resume, command('workflow', 'abort'))
  const wrong = (what: string, fix: string): DoctorFinding =>
    bad('workflow', RUN_FINDINGS.about(folder.relative, what), fix)
  if (status === 'unusable') return wrong(note, RUN_FINDINGS.repairState)
  if (state?.outcome === 'stalled' && !state.settled) return wrong(RUN_FINDINGS.stalled(note, state.why), resumeOrAbort)
  if (state === undefined || status !== 'running') return undefined
  if (runFileOf(folder, state.id) === undefined) return wrong(RUN_FINDINGS.noRunFile(note), resume)
  const unwritable = findUnwritable(folder, [WORKFLOW_FOLDER])
  if (unwritable !== undefined) return wrong(RUN_FINDINGS.blocked(note, unwritable.what), unwritable.fix)
  const age = nowMs - state.updatedMs
  return age > PATIENCE_MS
    ? wrong(RUN_FINDINGS.idle(note, formatAge(age)), resumeOrAbort)
    : good('workflow', RUN_FINDINGS.about(folder.relative, note))
}
