import fs from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import type { Entry } from 'fast-glob'
import type { RunLimits } from '../../disk/bounded-run.ts'
import { kindAt, kindIfSeen, unwritableBecause } from '../../disk/file-facts.ts'
import { makeFolders, makeFoldersInside } from '../../disk/folders.ts'
import { sha256 } from '../../disk/ids.ts'
import { replaceFile } from '../../disk/write.ts'
import { endOfStep } from '../../done/done-state.ts'
import type { Person } from '../../done/trust-store.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { expandPatterns, GLOB_OPTIONS } from '../../kernel/file-pattern.ts'
import { SPECS_FOLDER, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { quote } from '../../kernel/text.ts'
import { attempt } from '../../kernel/values.ts'
import { checkList, failureWords, seconds } from '../../marker/check-messages.ts'
import { type RunCheck, whileChecking } from '../../marker/run-checks.ts'
import { stateFolder } from '../../project/home-folder.ts'
import { beginsWithDigit, SPECS_ITSELF, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { isReserved } from '../definition/definition-limits.ts'
import { ARTIFACTS_FOLDER, artifactFault } from '../machine/observation.ts'
import { currentPhase, isInStep } from '../machine/position.ts'
import { CHECKS_FOLDER, formatReceipt, isReceiptName, MAX_BOUND_FILES } from '../machine/receipt.ts'
import { isArchiving, type WorkflowState } from '../machine/state.ts'
import { seeArtifact } from './observe-run.ts'
import { boundArtifact, checkBreach, receiptLocation, versionOf } from './receipts.ts'
import { runEntry } from './state-store.ts'

/** Records which checks may run. Outside the repository, because anything inside may come with a clone. */

export type Truster = Person & { readonly session: string | undefined }

export function commandsOfRun({ definition }: WorkflowState): string[] {
  return [...new Set(definition.phases.flatMap(({ check }) => check.run ?? []))]
}

/** Ignores errors, because some sandboxes have no home folder: see `isTrusted`. */
export function trustRun(state: WorkflowState, truster: Truster): void {
  if (commandsOfRun(state).length === 0) return
  const file = trustFile(state, truster)
  attempt(() => {
    makeFolders(path.dirname(file))
    fs.writeFileSync(file, '', { mode: 0o600 })
  })
}

/** If trust cannot be recorded, trusts the session that drives the run: no other takes over a run without trust. */
export function isTrusted(state: WorkflowState, truster: Truster): boolean {
  if (commandsOfRun(state).length === 0) return true
  const file = trustFile(state, truster)
  if (kindIfSeen(file) === 'file') return true
  if (isWritable(path.dirname(file))) return false
  return truster.session !== undefined && state.hostSession === truster.session
}

export function requireTrust(folder: TaskFolder, state: WorkflowState, truster: Truster): void {
  if (isTrusted(state, truster)) return
  const store = path.dirname(trustFile(state, truster))
  if (truster.session === undefined && !isWritable(store)) {
    throw new PostflightError('cannot-write', { path: store, detail: 'trust is recorded there' })
  }
  throw new PostflightError('commands-untrusted', { task: taskWord(folder), commands: checkList(commandsOfRun(state)) })
}

function trustFile({ id, definition }: WorkflowState, { environment }: Truster): string {
  const checks = definition.phases.map(({ id: phase, check }) => [phase, check.run, check.files])
  return path.join(stateFolder(environment), 'trusted', sha256(JSON.stringify([id, checks])))
}

function isWritable(folder: string): boolean {
  const above = path.dirname(folder)
  if (kindIfSeen(folder) === undefined && above !== folder) return isWritable(above)
  return attempt(() => fs.statSync(folder).isDirectory(), false) && unwritableBecause(folder) === undefined
}

/** Leaves a receipt for the next turn. `notBound`: named by `check.files`, but not bound. */
export async function runDueCheck(folder: TaskFolder, state: WorkflowState, truster: Truster, limits: RunLimits) {
  const phase = currentPhase(state)
  const { id, check, artifact = '' } = phase
  const command = check.run
  if (!state.active || command === undefined) return { kind: 'none' as const }
  const tooEarly = (why: string) => ({ kind: 'too-early' as const, why })
  if (isInStep(state)) return tooEarly('not all of its steps have ended')
  const isEarly = artifact === '' || isArchiving(state)
  const seen = isEarly ? { kind: 'absent' as const } : seeArtifact(folder.path, artifact, phase)
  if (seen.kind !== 'valid') return tooEarly(artifactFault(seen, artifact))
  if (checkBreach(folder, state, phase) === undefined) return { kind: 'passed' as const }
  requireTrust(folder, state, truster)
  const done = await whileChecking(folder, limits, async (run) => {
    // Before the check: an edit during it was not checked. Each edit from now on must have a later time.
    await endOfStep(path.join(folder.path, WORKFLOW_FOLDER))
    const { files, notBound } = await filesOf(folder, id, check.files ?? [])
    const bound = { ...boundArtifact(folder.path, artifact), files }
    const [result] = (await run([command])) as [RunCheck]
    const { failure, durationMs } = result
    const { folder: where, name } = receiptLocation(state)
    const receipt = `${where}/${name}`
    if (failure?.kind !== 'interrupted') {
      const text = formatReceipt({ ...result, failure, runId: state.id, ...bound }, Date.now())
      replaceFile(path.join(makeFoldersInside(folder.path, where), name), text)
    }
    const [outcome, why] = failure === undefined ? ['passed', ''] : ['failed', `${failureWords(failure)}; `]
    const detail = `check ${outcome}: ${quote(command, 200)} (${why}${seconds(durationMs)})`
    // Not the event of a marker's check: then the report would list a marker.
    return { kind: 'ran' as const, check: result, receipt, entry: runEntry(folder, state, detail), notBound }
  })
  return done.kind === 'busy' ? { ...done, run: command } : done.result
}

/** Never searched, because it has too many files. */
const MODULES = 'node_modules'
const SEARCH_LIMIT_MS = 10_000

async function filesOf(folder: TaskFolder, phase: string, patterns: readonly string[]) {
  if (patterns.length === 0) return { files: [], notBound: [] }
  const tooMuch = new PostflightError('check-files', { limit: MAX_BOUND_FILES, seconds: SEARCH_LIMIT_MS / 1000 })
  const expanded = expandPatterns(patterns)
  // Edited by hand, or from a version that allowed more.
  if (expanded === undefined) throw new PostflightError('check-patterns', { task: taskWord(folder), phase })
  const { default: fastGlob } = await import('fast-glob')
  const stream = fastGlob.stream(expanded, {
    cwd: folder.root,
    ...GLOB_OPTIONS,
    dot: true,
    onlyFiles: false,
    objectMode: true,
    ignore: ['**/node_modules/**', '**/.git/**', `${SPECS_FOLDER}/.postflight/**`],
  }) as Readable
  const timer = setTimeout(() => stream.destroy(tooMuch), SEARCH_LIMIT_MS)
  const found: string[] = []
  const links: string[] = []
  try {
    for await (const { path: name, dirent } of stream as AsyncIterable<Entry>) {
      if (isOurs(folder, name)) continue
      if (dirent.isFile()) found.push(name)
      if (dirent.isSymbolicLink()) links.push(name)
      if (found.length > MAX_BOUND_FILES) throw tooMuch
    }
  } finally {
    clearTimeout(timer)
  }
  const modules = patterns.filter((pattern) => pattern.split('/').includes(MODULES))
  const isWide = patterns.some((pattern) => /^\*\*?(?:\/|$)/.test(pattern))
  if (isWide && kindAt(path.join(folder.root, MODULES)) !== undefined) modules.push(MODULES)
  return {
    files: found
      .map((name) => path.join(folder.root, name))
      .sort()
      .flatMap((file) => {
        const version = versionOf(file)
        return version === undefined ? [] : [{ path: boundName(folder, file), ...version }]
      }),
    notBound: [
      ...links.sort().map((name) => ({ path: name, why: 'link' }) as const),
      ...modules.map((name) => ({ path: name, why: MODULES }) as const),
    ],
  }
}

function boundName({ root, path: folder }: TaskFolder, file: string): string {
  const [from, prefix] = file.startsWith(folder + path.sep) ? [folder, './'] : [root, '']
  return prefix + path.relative(from, file).split(path.sep).join('/')
}

function isOurs(folder: TaskFolder, name: string): boolean {
  // These change at every stop, and one is the check's own lock.
  const [specs, ...parts] = name.split('/')
  if (specs !== SPECS_FOLDER) return false
  const below = (depth: number): string => parts.slice(depth).join('/')
  const isInItself = folder.task === SPECS_ITSELF || parts[0]?.startsWith('.postflight') === true
  return (
    isOwnFile(below(1)) ||
    (isInItself && isOwnFile(below(0))) ||
    (!beginsWithDigit(parts[0] ?? '') && isOwnFile(below(2)))
  )
}

function isOwnFile(value: string): boolean {
  // People may have such folders too, so only our file names count.
  const [location, , name = ''] = value.split('/')
  if (location === CHECKS_FOLDER) return isReceiptName(name.replace(/(?<=\.json)\..*\.tmp$/, ''))
  return location === ARTIFACTS_FOLDER ? /^\d+-/.test(name) : isReserved(value)
}
