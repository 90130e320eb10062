import path from 'node:path'
import type { Readable } from 'node:stream'
import type { Entry } from 'fast-glob'
import { waitForNextFileTime } from '../../disk/age.ts'
import type { RunLimits } from '../../disk/bounded-run.ts'
import { kindAt } from '../../disk/file-facts.ts'
import { makeFoldersInside } from '../../disk/folders.ts'
import { replaceFile } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { expandPatterns, GLOB_OPTIONS } from '../../kernel/file-pattern.ts'
import { SPECS_FOLDER, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { quote } from '../../kernel/text.ts'
import { failureWords, seconds } from '../../marker/check-messages.ts'
import { type RunCheck, whileChecking } from '../../marker/run-checks.ts'
import { isOwnInRoot } from '../../project/own-files.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { runFinder } from '../../project/task-folders.ts'
import { artifactFault } from '../machine/observation.ts'
import { currentPhase, isInStep } from '../machine/position.ts'
import { formatReceipt, MAX_BOUND_FILES } from '../machine/receipt.ts'
import { isArchiving, type WorkflowState } from '../machine/state.ts'
import { seeArtifact } from './observe-run.ts'
import { boundArtifact, checkBreach, receiptLocation, versionOf } from './receipts.ts'
import { requireTrust, type Truster } from './run-trust.ts'
import { runEntry } from './state-store.ts'

/** The check of a phase (docs/design.md, "Checks"). */

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
    // Before the check: an edit during it was not checked. Each edit from now on gets a later time.
    await waitForNextFileTime(path.join(folder.path, WORKFLOW_FOLDER))
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
  const holdsRun = runFinder(folder.root)
  try {
    for await (const { path: name, dirent } of stream as AsyncIterable<Entry>) {
      // These change at every stop, and one is the check's own lock.
      if (isOwnInRoot(name, holdsRun)) continue
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
