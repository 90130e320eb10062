import { newNonce } from '../../disk/ids.ts'
import { COMMAND_PATIENCE_MS, retryWhileLocked } from '../../disk/lock.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { asPostflightError, errorMessage, PostflightError } from '../../kernel/errors.ts'
import { RUN_HISTORY_FILE } from '../../kernel/files.ts'
import { toIsoSeconds } from '../../kernel/time.ts'
import { pathInSpecs, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { isResumable } from '../machine/position.ts'
import { end, type WorkflowState } from '../machine/state.ts'
import { formatState } from '../machine/state-file.ts'
import { returnState } from '../machine/steering.ts'
import { removeRunFile } from '../store/run-file.ts'
import { requireState, withRun, writeState } from '../store/state-store.ts'
import { type GitCall, runGit } from './isolated-git.ts'
import {
  commitOf,
  fetchRuns,
  hasCommit,
  isRemote,
  pushRun,
  readBlob,
  removalCommand,
  requireRemote,
  sharedRef,
  treeFault,
  treeIn,
  writeCommit,
  writeTree,
} from './ref-store.ts'
import { readRunFiles } from './run-files.ts'
import {
  formatHolder,
  type Holder,
  holderWords,
  MAX_SENT,
  newShare,
  readHolder,
  readShare,
  refuseMoved,
  type ShareRecord,
  shareOf,
  writeShare,
} from './share-record.ts'

/** The time for all git commands together. */
const PUBLISH_MS = 30_000

export interface Machine {
  readonly name: string
  readonly nowMs: number
  /** The `--root` of the commands that it suggests. */
  readonly rootOption?: string | undefined
}

export function gitCall(root: string): GitCall {
  return { root, until: performance.now() + PUBLISH_MS }
}

export async function shareRun(folder: TaskFolder, remote: string, { nowMs }: Machine): Promise<void> {
  const call = await requireRemote(gitCall(folder.root), remote)
  const present = readShare(folder, requireState(folder).id)
  // A remote may be renamed.
  if (present !== undefined && present.remote !== remote && (await isRemote(call, present.remote))) {
    throw new PostflightError('shared-elsewhere', { task: taskWord(folder), remote: present.remote })
  }
  const wasGone = present !== undefined && present.commit !== '' && (await commitOf(call, remote, present.run)) === ''
  withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    const share = shareOf(folder, state.id)
    // Another command here may have published it again.
    const isGone = wasGone && share?.commit === present.commit
    // Released here. If a machine took it before its ref was lost, the first one to share it again has it.
    const isReturned = isGone && state.outcome === 'moved' && (share?.sequence ?? 0) >= state.sequence
    if (isReturned) writeState(folder, returnState(state, 'its ref is gone from the remote', nowMs), state)
    else refuseMoved(folder, state)
    if (share === undefined || isGone) {
      writeShare(folder, newShare(state.id, remote, { generation: 1, nonce: newNonce(), sinceMs: nowMs }))
    } else if (share.remote !== remote) {
      writeShare(folder, { ...share, remote })
    }
  })
}

/** The remote, if the run is shared. Throws `workflow-moved` (taken elsewhere) or `not-published`, which it records. */
export async function publishRun(folder: TaskFolder, machine: Machine): Promise<string | undefined> {
  const state = requireState(folder)
  const share = state.outcome === 'moved' ? undefined : readShare(folder, state.id)
  if (share === undefined) return undefined
  const { remote } = share
  try {
    await push(folder, machine, false)
    return remote
  } catch (error) {
    const { code, args } = asPostflightError(error)
    if (code === 'workflow-moved') throw error
    const says = code === 'not-published' && 'detail' in args ? String(args.detail) : errorMessage(code, args)
    const detail = says.replace(/\.$/, '')
    // The record may be what cannot be written.
    await changeShare(folder, (now) => ({ ...now, problem: detail })).catch(() => {})
    throw new PostflightError('not-published', { task: taskWord(folder), remote, detail }, error)
  }
}

export async function releaseRun(folder: TaskFolder, machine: Machine): Promise<WorkflowState> {
  const state = requireState(folder)
  refuseMoved(folder, state)
  if (readShare(folder, state.id) === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
  await push(folder, machine, true)
  return requireState(folder)
}

async function push(folder: TaskFolder, machine: Machine, isRelease: boolean): Promise<void> {
  const limit = gitCall(folder.root)
  const { nowMs, rootOption } = machine
  // The record keeps the advice, which another command may print.
  const root = rootOption && folder.root
  for (;;) {
    const { state, share, files } = await underLock(folder, (state) => {
      refuseMoved(folder, state)
      const share = shareOf(folder, state.id)
      if (share === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
      return { state, share, files: readRunFiles(folder.path, state.definition) }
    })
    // A run that has ended is only published.
    const releases = isRelease && isResumable(state)
    const { remote, run, commit: expected } = share
    const notPublished = (detail: string, cause?: unknown): PostflightError =>
      new PostflightError('not-published', { task: taskWord(folder), remote, detail }, cause)
    const shareWords = ['workflow', 'share', taskWord(folder)]
    const call = await requireRemote(limit, remote).catch((error: unknown) => {
      if (asPostflightError(error).code !== 'remote-unknown') throw error
      const again = `${commandLine(shareWords, root)} REMOTE`
      throw notPublished(`that remote is gone or renamed: \`${again}\` uses another name`, error)
    })
    const attempt: Attempt = { call, folder, share, nowMs }
    if (files instanceof PostflightError) throw await fencedOr(files, attempt)
    const { generation, nonce, sinceMs } = share
    const held = releases
      ? { machine: undefined, session: undefined, sinceMs: nowMs }
      : { machine: machine.name, session: state.hostSession, sinceMs }
    const place = { path: pathInSpecs(folder), project: call.project }
    const holder = Buffer.from(formatHolder({ generation, nonce, ...place, ...held }))
    const tree = new Map([
      ['state.json', Buffer.from(formatState(state))],
      ['holder.json', holder],
      ...[...files].map(([name, bytes]) => [`folder/${name}`, bytes] as const),
    ])
    const gone = `its ref is gone from the remote: \`${commandLine([...shareWords, remote], root)}\` publishes it again`
    const fault = whyRefused(tree)
    if (fault !== undefined) throw await fencedOr(notPublished(fault), attempt)
    // After some weeks, git removes a commit without a ref.
    if (expected !== '' && !(await hasCommit(call, expected))) {
      if ((await commitOf(call, remote, run)) === '') throw notPublished(gone)
      await fetchRuns(call, remote, [run])
    }
    const written = await writeTree(call, tree)
    const isSame = expected !== '' && (await treeIn(call, expected)) === written
    const subject = releases ? `${run}: released` : `${run}: ${state.phase}, transition ${state.sequence}`
    const commit = isSame ? expected : await writeCommit(call, written, expected, subject)
    // Noted before sending, so that after a kill the next process recognizes the commit.
    if (!isSame)
      await changeShare(folder, (now) => ({
        ...now,
        sent: [...now.sent.filter((one) => one !== commit), commit].slice(-MAX_SENT),
      }))
    const pushed = await pushRun(call, { remote, run, commit, expected })
    if (pushed.outcome === 'gone') throw notPublished(gone)
    if (pushed.outcome === 'failed') throw notPublished(pushed.detail)
    const isForeign = pushed.there !== commit && !isOurs(shareOf(folder, run), pushed.there)
    const there = pushed.there === commit ? undefined : await holderAt(call, pushed.there)
    if (pushed.outcome === 'published' && (pushed.there === commit || (isForeign && there !== undefined))) {
      const facts = { publishedMs: nowMs, sequence: state.sequence, problem: undefined }
      const noted = changeShare(folder, (now) =>
        now.commit === expected ? { ...now, commit, sent: [], ...facts } : now,
      )
      // `sent` already has the commit, so the next publish recognizes it.
      await noted.catch(() => {})
      if (!releases && pushed.there !== commit) throw await lose(attempt, pushed.there, commit, commit)
      if (!releases || (await endReleased(attempt, state.sequence))) return
      // A hook changed the run while it was being sent.
      continue
    }
    if (isForeign) {
      // A copy of this checkout shares our nonce, and has a newer version.
      const older = await runGit(call, 'merge-base', '--is-ancestor', pushed.there, commit)
      if (older.status !== 0 && older.status !== 1) throw notPublished(older.detail)
      // A backup of the remote, or a person, brought an older version of ours back.
      const isSetBack = older.status === 0 && there?.machine !== undefined && there.nonce === share.nonce
      if (there !== undefined && !isSetBack) throw await lose(attempt, pushed.there, commit)
      const remove = removalCommand(remote, run, root)
      const what = isSetBack ? 'was set back there to an older version' : 'no longer leads to a run there'
      throw notPublished(`its ref ${what}: \`${remove}\` removes it, then publish again`)
    }
    // An earlier commit of ours arrived late. After a release anyone may have the run; until then it can be released anew.
    if (there?.machine === undefined) {
      if (!releases) throw await lose(attempt, pushed.there, commit, pushed.there)
      if ((await isPublished(call, commit, pushed.there)) && (await endReleased(attempt, state.sequence))) return
    }
    await changeShare(folder, (now) => ({ ...now, commit: pushed.there }))
  }
}

/** Why another machine would refuse these files: then they must not get into the ref. */
export function whyRefused(tree: ReadonlyMap<string, Buffer>): string | undefined {
  if (readHolder(tree.get('holder.json')) === undefined) return 'the name of its task folder is not allowed: rename it'
  return treeFault([...tree].map(([path, { length: size }]) => ({ path, size })))
}

interface Attempt {
  readonly call: GitCall
  readonly folder: TaskFolder
  /** As it was before the attempt. */
  readonly share: ShareRecord
  readonly nowMs: number
}

export async function holderAt(call: GitCall, commit: string): Promise<Holder | undefined> {
  return readHolder(await readBlob(call, commit, 'holder.json'))
}

export function isOurs(share: ShareRecord | undefined, commit: string): boolean {
  return share !== undefined && (share.commit === commit || share.sent.includes(commit))
}

/** A run that cannot be published must still end here if another machine has it. */
async function fencedOr(error: PostflightError, attempt: Attempt): Promise<PostflightError> {
  const { call, share } = attempt
  try {
    const there = await commitOf(call, share.remote, share.run)
    if (there === '' || isOurs(share, there)) return error
    await fetchRuns(call, share.remote, [share.run])
    return (await holderAt(call, there)) === undefined ? error : await lose(attempt, there)
  } catch (problem) {
    if (problem instanceof PostflightError) return error
    throw problem
  }
}

function underLock<T>(folder: TaskFolder, action: (state: WorkflowState) => T): Promise<T> {
  return retryWhileLocked(() => withRun(folder, COMMAND_PATIENCE_MS, action))
}

function changeShare(folder: TaskFolder, change: (share: ShareRecord) => ShareRecord): Promise<void> {
  return underLock(folder, ({ id }) => {
    const share = shareOf(folder, id)
    if (share !== undefined) writeShare(folder, change(share))
  })
}

function endReleased(attempt: Attempt, released: number): Promise<boolean> {
  return endHere(attempt, releasedText(attempt.share.remote), undefined, released)
}

function releasedText(remote: string): string {
  return `released: anyone may continue it (${remote})`
}

/** Returns false if the run continued after the transition `released`: then nothing is changed. */
function endHere({ folder, nowMs }: Attempt, why: string, kept?: string, released?: number): Promise<boolean> {
  return underLock(folder, (state) => {
    if (released !== undefined && state.outcome !== 'moved' && state.sequence > released) return false
    const share = shareOf(folder, state.id)
    const ended = state.outcome === 'moved' ? state : end(state, 'moved', nowMs, why)
    // Only the end itself is not published.
    const changes = { ...(kept !== undefined && { kept }), ...(released !== undefined && { sequence: ended.sequence }) }
    if (share !== undefined) writeShare(folder, { ...share, ...changes })
    if (ended !== state) writeState(folder, ended, state)
    // Without its run file, the agent's stops are allowed.
    removeRunFile(folder, state.id)
    return true
  })
}

/** Ends the run here, because of the commit `there`. `commit`: what was to be published. `published`: ours in the remote. */
async function lose(attempt: Attempt, there: string, commit?: string, published = attempt.share.commit) {
  const { call, folder, share } = attempt
  const { remote, run } = share
  const holder = await holderAt(call, there)
  const isKept = commit !== undefined && !(await isPublished(call, commit, published))
  const kept = isKept ? await keep(attempt, commit) : undefined
  const freed = isOurs({ ...share, commit: published }, there)
    ? releasedText(remote)
    : `another machine took it over and released it (${remote})`
  const taken =
    holder?.machine === undefined
      ? freed
      : `it goes on at ${holderWords(holder)}, since ${toIsoSeconds(holder.sinceMs)} (${remote})`
  const where = kept ?? `${folder.relative}, and nowhere else`
  const why = `${taken}${isKept ? `; what was not published is kept at ${where}` : ''}`
  await endHere(attempt, why, kept === undefined ? undefined : commit)
  return new PostflightError('workflow-moved', { task: taskWord(folder), run, remote, why })
}

async function isPublished(call: GitCall, commit: string, published: string): Promise<boolean> {
  if (published === '') return false
  // The history follows from the state.
  const words = [':(top)state.json', ':(top)folder', `:(top,exclude)folder/${RUN_HISTORY_FILE}`]
  return (await runGit(call, 'diff-tree', '-r', '--quiet', published, commit, '--', ...words)).status === 0
}

const MAX_LOST = 100

/** Returns the place where the commit is kept. */
async function keep({ call, share: { remote, run } }: Attempt, commit: string): Promise<string | undefined> {
  for (let number = 1; number <= MAX_LOST; number++) {
    const name = `${run}-lost-${number}`
    const ref = sharedRef(name)
    // With an empty old value, the ref must not exist.
    if ((await runGit(call, 'update-ref', ref, commit, '')).status !== 0) continue
    const { outcome } = await pushRun(call, { remote, run: name, commit, expected: '' })
    if (outcome === 'published') return ref
    if (outcome !== 'moved') return `${ref}, in this repository only`
    await runGit(call, 'update-ref', '-d', ref, commit)
  }
  return undefined
}
