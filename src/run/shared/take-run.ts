import { errorText } from '../../disk/file-facts.ts'
import { newNonce } from '../../disk/ids.ts'
import { COMMAND_PATIENCE_MS } from '../../disk/lock.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { formatAge } from '../../kernel/time.ts'
import { pathInSpecs, type TaskFolder, taskWord, withoutCompletion } from '../../project/task-folder.ts'
import { isMeant, isNamed, readReference, taskFolderBelow } from '../../project/task-folders.ts'
import { isResumable } from '../machine/position.ts'
import type { WorkflowState } from '../machine/state.ts'
import { isState, parseState } from '../machine/state-file.ts'
import { putAside } from '../store/put-aside.ts'
import { readState, withRunLock, writeState } from '../store/state-store.ts'
import { type GitCall, runGit } from './isolated-git.ts'
import type { Machine } from './publish-run.ts'
import {
  commitOf,
  fetchRuns,
  hasCommit,
  holderAt,
  isRunId,
  listRefs,
  MAX_TOTAL_BYTES,
  partOf,
  pushRun,
  type RemoteCall,
  readBlob,
  readTree,
  refused,
  whyRefused,
  writeCommit,
  writeTree,
} from './ref-store.ts'
import { namesLeft, type Placing, placeFiles, planPlacing, readRunFile } from './run-files.ts'
import { formatHolder, isOurs, newShare, removeShare, type ShareRecord, shareOf, writeShare } from './share-record.ts'

/** Checks all of a run and claims its ref by compare-and-swap before it writes files. */

export type RemoteRun = Readonly<Awaited<ReturnType<typeof readRun>>>
export type UnreadableRun = Readonly<{ run: string; problem: PostflightError }>

export async function readRuns(call: RemoteCall) {
  const { runs, lost } = await listRefs(call)
  const missing = await withoutCommit(call, runs)
  // git refuses all of them for one broken object, and keeps nothing of a fetch that took too long. Fetched one by one,
  // each stays for the next try.
  const fetchAll = () => fetchRuns(partOf(call, AT_ONCE_SHARE), missing)
  const isFetched =
    missing.length === 0 ||
    (await fetchAll().then(
      () => true,
      () => false,
    ))
  const read: (RemoteRun | UnreadableRun)[] = []
  for (const [run, commit] of [...runs].sort(([one], [other]) => (one < other ? -1 : 1))) {
    try {
      if (!isFetched && missing.includes(run)) await fetchRuns(call, [run])
      read.push(await readRun(call, run, commit))
    } catch (problem) {
      if (!(problem instanceof PostflightError)) throw problem
      read.push({ run, problem })
    }
  }
  return { runs: read, lost }
}

async function withoutCommit(call: GitCall, runs: ReadonlyMap<string, string>): Promise<string[]> {
  if (runs.size === 0) return []
  const input = [...runs.values()].map((commit) => `${commit}\n`).join('')
  const { bytes } = await runGit({ ...call, input }, 'cat-file', '--batch-check')
  const lines = bytes.toString().split('\n')
  return [...runs.keys()].filter((_, index) => !/ commit \d+$/.test(lines[index] ?? ''))
}

const AT_ONCE_SHARE = 0.3

export async function findRun(call: RemoteCall, word: string): Promise<RemoteRun> {
  const commit = isRunId(word) ? await commitOf(call, word) : ''
  if (commit !== '') {
    if (!(await hasCommit(call, commit))) await fetchRuns(call, [word])
    return readRun(call, word, commit)
  }
  const task = withoutCompletion(word)
  const { runs } = await readRuns(call)
  const readable = runs.flatMap((run) => ('holder' in run && run.holder.project === call.project ? run : []))
  const folderOf = ({ holder }: RemoteRun): TaskFolder => taskFolderBelow(call.root, holder.path)
  const named = readable.filter((run) => isNamed(folderOf(run), task))
  const reference = readReference(task, named.length > 0)
  const meant = reference === undefined ? named : readable.filter((run) => isMeant(folderOf(run), reference))
  const unfinished = meant.filter(({ state }) => isResumable(state))
  const candidates = unfinished.length > 0 ? unfinished : meant
  const [found, another] = candidates
  if (another !== undefined) {
    throw new PostflightError('shared-ambiguous', { task: word, runs: candidates.map(({ run }) => run).join(', ') })
  }
  if (found !== undefined) return found
  // A run that could not be fetched may be the one that we look for.
  const [unknown] = runs.flatMap((run) =>
    'problem' in run && ['remote-unreachable', 'git-failed'].includes(run.problem.code) ? run.problem : [],
  )
  throw unknown ?? new PostflightError('shared-none', { remote: call.remote, task: word })
}

/** Nothing in the result is trusted. */
async function readRun(call: RemoteCall, run: string, commit: string) {
  const holder = await holderAt(call, commit)
  if (holder === undefined) throw refused('its holder.json is not valid')
  const written = await readBlob(call, commit, 'state.json')
  if (written === undefined) throw refused('it has no state.json')
  if (written.length > MAX_TOTAL_BYTES) throw refused('its state.json is larger than 20 MB')
  const state = parseState(written.toString())
  if (!isState(state)) throw refused(`its state.json is not valid (${state.detail})`)
  if (state.id !== run) throw refused('its state.json is that of another run')
  return { remote: call.remote, run, commit, holder, state }
}

/** Needs an existing folder; `resumeRun` must follow. */
export async function takeRun(call: RemoteCall, folder: TaskFolder, wanted: RemoteRun, machine: Machine) {
  const { remote, run, commit, state } = wanted
  const tree = await readTree(call, commit)
  const before = shareOf(folder, run)
  const theirs = runFilesIn(tree)
  const left = namesLeft(folder.path, state.definition, theirs).map((name) => [name, undefined] as const)
  const bases = await knownFiles(call, folder, new Map([...theirs, ...left]), [before?.commit, before?.kept])
  // Another command of this machine changed it.
  const changed = new PostflightError('shared-held', { run, remote, machine: '', session: undefined, age: '' })
  const plan = () => {
    const present = readState(folder)
    if (present?.id === run && present.active) throw changed
    const over = present?.id === run ? undefined : present
    if (over !== undefined && isResumable(over)) {
      throw new PostflightError('workflow-in-way', { task: taskWord(folder), name: over.name, run })
    }
    return { ...planPlacing(folder, state.definition, theirs, bases, over?.definition), over }
  }
  const notTaken = (detail: string, claim: 'refused' | 'unanswered' | 'unplaced', cause?: unknown): PostflightError =>
    new PostflightError('not-taken', { remote, run, detail, claim }, cause)
  const { nowMs } = machine
  const published = { sent: [], claim: undefined, publishedMs: nowMs, sequence: state.sequence, problem: undefined }
  if (before !== undefined && isHeldBy(before, wanted)) {
    // An earlier claim of this machine was interrupted, or is still at work.
    const { generation, nonce, sinceMs } = wanted.holder
    const record = { ...before, generation, nonce, sinceMs, ...published, commit }
    putInPlace(folder, wanted, record, plan, before.claim !== undefined)
    return
  }
  plan()
  const claim = { generation: wanted.holder.generation + 1, nonce: newNonce(), sinceMs: nowMs }
  const place = { path: pathInSpecs(folder), project: call.project }
  const holder = formatHolder({ ...claim, machine: machine.name, session: undefined, ...place })
  const own = new Map([...tree, ['holder.json', Buffer.from(holder)] as const])
  const fault = whyRefused(own)
  if (fault !== undefined) throw notTaken(fault, 'refused')
  const written = await writeTree(call, own)
  const claimed = await writeCommit(call, written, commit, `${run}: taken by claim ${claim.generation}`)
  const record = before ?? newShare(run, remote, claim)
  withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const now = shareOf(folder, run)
    if (now?.claim !== before?.claim || now?.commit !== before?.commit) throw changed
    writeShare(folder, { ...record, claim: claimed })
  })
  const pushed = await pushRun(call, { run, commit: claimed, expected: commit })
  if (pushed.outcome !== 'published') {
    const isRefused = pushed.outcome !== 'failed' || pushed.isRefused
    // If the claim arrives later, repeating the command continues.
    if (isRefused) {
      withRunLock(folder, COMMAND_PATIENCE_MS, () => {
        // Another command here may have taken the run meanwhile.
        if (shareOf(folder, run)?.claim !== claimed) return
        if (before === undefined) removeShare(folder)
        else writeShare(folder, before)
      })
    }
    if (pushed.outcome !== 'failed') throw await heldError(call, wanted, nowMs)
    throw notTaken(pushed.detail, isRefused ? 'refused' : 'unanswered')
  }
  try {
    putInPlace(folder, wanted, { ...record, ...claim, remote, ...published, commit: claimed }, plan, true)
  } catch (error) {
    throw notTaken(errorText(error), 'unplaced', error)
  }
}

export function isHeldBy(share: ShareRecord | undefined, { commit, holder }: RemoteRun): boolean {
  // A release has no holder.
  return holder.machine !== undefined && (isOurs(share, commit) || share?.claim === commit)
}

/** Repeatable. `over`: an ended run, to be put aside. `isClaimed`: the share has a claim until the files are placed. */
function putInPlace(
  folder: TaskFolder,
  { run, state }: RemoteRun,
  record: ShareRecord,
  plan: () => Placing & { readonly over: WorkflowState | undefined },
  isClaimed: boolean,
): void {
  withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const now = shareOf(folder, run)
    // Another command of this machine was faster.
    if (isClaimed && now !== undefined && now.claim === undefined) return
    const planned = plan()
    if (planned.over !== undefined) putAside(folder, state.definition, planned.over)
    placeFiles(folder.path, planned)
    const here = { ...state, hostSession: undefined, parentSession: undefined }
    writeState(folder, here, here)
    writeShare(folder, record)
  })
}

export async function heldError(call: RemoteCall, { remote, run, ...before }: RemoteRun, nowMs: number) {
  const commit = await commitOf(call, run)
  if (commit !== '') await fetchRuns(call, [run])
  const holder = (commit === '' ? undefined : await holderAt(call, commit)) ?? before.holder
  const { machine = '', session, sinceMs } = holder
  const age = formatAge(Math.max(0, nowMs - sinceMs))
  return new PostflightError('shared-held', { run, remote, machine, session, age })
}

/** Versions that git has, so they may go: those of `commits`, and local files as in HEAD (a committed task list). */
async function knownFiles(
  call: GitCall,
  { path: folder, relative }: TaskFolder,
  files: ReadonlyMap<string, Buffer | undefined>,
  commits: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, Buffer>[]> {
  const known: ReadonlyMap<string, Buffer>[] = []
  for (const commit of commits) {
    if (commit === undefined || commit === '') continue
    try {
      known.push(runFilesIn(await readTree(call, commit)))
    } catch (error) {
      // git no longer has the commit.
      if (!(error instanceof PostflightError)) throw error
    }
  }
  const committed = new Map<string, Buffer>()
  for (const [name, wanted] of files) {
    const here = readRunFile(folder, name)
    if (!Buffer.isBuffer(here) || wanted?.equals(here) === true) continue
    const { status, bytes } = await runGit(call, 'cat-file', 'blob', `HEAD:./${relative}/${name}`)
    // `core.autocrlf`, which is usual on Windows, checks files out with CRLF.
    const plain = Buffer.from(here.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    if (status === 0 && (bytes.equals(here) || bytes.equals(plain))) committed.set(name, here)
  }
  return [...known, committed]
}

function runFilesIn(tree: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (const [name, bytes] of tree) {
    if (name.startsWith('folder/')) files.set(name.slice('folder/'.length), bytes)
    else if (!['state.json', 'holder.json'].includes(name)) throw refused(`"${name}" is not a file of a shared run`)
  }
  return files
}
