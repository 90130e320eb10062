import { newNonce } from '../../disk/ids.ts'
import { COMMAND_PATIENCE_MS, retryWhileLocked } from '../../disk/lock.ts'
import { argumentsOf, asPostflightError, messageOf, PostflightError } from '../../kernel/errors.ts'
import { RUN_HISTORY_FILE } from '../../kernel/files.ts'
import { shellWord } from '../../kernel/text.ts'
import { toIsoSeconds } from '../../kernel/time.ts'
import { pathInSpecs, runCommandLine, type TaskFolder, taskWord } from '../../project/task-folder.ts'
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
  holderAt,
  isRemote,
  type Pushed,
  pushRun,
  type RemoteCall,
  removalCommand,
  requireRemote,
  sharedRef,
  treeIn,
  whyRefused,
  writeCommit,
  writeTree,
} from './ref-store.ts'
import { readRunFiles } from './run-files.ts'
import {
  formatHolder,
  holderWords,
  isOurs,
  MAX_SENT,
  newShare,
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
  const wasGone = present !== undefined && present.commit !== '' && (await commitOf(call, present.run)) === ''
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
    if (asPostflightError(error).code === 'workflow-moved') throw error
    const { detail, advice } = argumentsOf(error, 'not-published') ?? {
      detail: messageOf(error).replace(/\.$/, ''),
      advice: '',
    }
    // The record may be what cannot be written.
    await changeShare(folder, (now) => ({ ...now, problem: `${detail}${advice}` })).catch(() => {})
    throw new PostflightError('not-published', { task: taskWord(folder), remote, detail, advice }, error)
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
  for (;;) {
    const attempt = await begin(folder, machine, isRelease, limit)
    const commit = await composeCommit(attempt)
    const { run, commit: expected } = attempt.share
    const pushed = await pushRun(attempt.call, { run, commit, expected })
    if (pushed.outcome === 'gone') throw notPublished(attempt, ...refIsGone(attempt))
    if (pushed.outcome === 'failed') throw notPublished(attempt, pushed.detail)
    if (await isDone(attempt, commit, pushed)) return
  }
}

interface Attempt {
  readonly call: RemoteCall
  readonly folder: TaskFolder
  readonly machine: Machine
  readonly state: WorkflowState
  /** As it was before the attempt. */
  readonly share: ShareRecord
  readonly files: ReturnType<typeof readRunFiles>
  /** A run that has ended is only published. */
  readonly releases: boolean
}

type Unsent = Omit<Attempt, 'call'>

async function begin(folder: TaskFolder, machine: Machine, isRelease: boolean, limit: GitCall): Promise<Attempt> {
  const read = await underLock(folder, (state) => {
    refuseMoved(folder, state)
    const share = shareOf(folder, state.id)
    if (share === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
    return { state, share, files: readRunFiles(folder.path, state.definition) }
  })
  const attempt = { ...read, folder, machine, releases: isRelease && isResumable(read.state) }
  const call = await requireRemote(limit, read.share.remote).catch((error: unknown) => {
    if (asPostflightError(error).code !== 'remote-unknown') throw error
    throw notPublished(
      attempt,
      'that remote is gone or renamed',
      `: \`${shareLine(attempt)} REMOTE\` uses another name`,
    )
  })
  return { ...attempt, call }
}

/** Returns a commit that may be published already. */
async function composeCommit(attempt: Attempt): Promise<string> {
  const { call, folder, machine, state, share, files, releases } = attempt
  if (files instanceof PostflightError) throw await fencedOr(files, attempt)
  const { run, commit: expected, generation, nonce, sinceMs } = share
  const held = releases
    ? { machine: undefined, session: undefined, sinceMs: machine.nowMs }
    : { machine: machine.name, session: state.hostSession, sinceMs }
  const place = { path: pathInSpecs(folder), project: call.project }
  const tree = new Map([
    ['state.json', Buffer.from(formatState(state))],
    ['holder.json', Buffer.from(formatHolder({ generation, nonce, ...place, ...held }))],
    ...[...files].map(([name, bytes]) => [`folder/${name}`, bytes] as const),
  ])
  const fault = whyRefused(tree)
  if (fault !== undefined) throw await fencedOr(notPublished(attempt, fault), attempt)
  // After some weeks, git removes a commit without a ref.
  if (expected !== '' && !(await hasCommit(call, expected))) {
    if ((await commitOf(call, run)) === '') throw notPublished(attempt, ...refIsGone(attempt))
    await fetchRuns(call, [run])
  }
  const written = await writeTree(call, tree)
  if (expected !== '' && (await treeIn(call, expected)) === written) return expected
  const subject = releases ? `${run}: released` : `${run}: ${state.phase}, transition ${state.sequence}`
  const commit = await writeCommit(call, written, expected, subject)
  // Noted before sending, so that after a kill the next process recognizes the commit.
  await changeShare(folder, (now) => ({
    ...now,
    sent: [...now.sent.filter((one) => one !== commit), commit].slice(-MAX_SENT),
  }))
  return commit
}

/** Returns false if another attempt must follow: the run changed meanwhile, or an earlier commit of ours arrived late. */
async function isDone(
  attempt: Attempt,
  commit: string,
  { outcome, there }: Extract<Pushed, { there: string }>,
): Promise<boolean> {
  const { call, folder, machine, state, share, releases } = attempt
  const { remote, run, commit: expected } = share
  const isForeign = there !== commit && !isOurs(shareOf(folder, run), there)
  const holder = there === commit ? undefined : await holderAt(call, there)
  if (outcome === 'published' && (there === commit || (isForeign && holder !== undefined))) {
    const facts = { publishedMs: machine.nowMs, sequence: state.sequence, problem: undefined }
    const noted = changeShare(folder, (now) => (now.commit === expected ? { ...now, commit, sent: [], ...facts } : now))
    // `sent` already has the commit, so the next publish recognizes it.
    await noted.catch(() => {})
    if (!releases && there !== commit) throw await lose(attempt, there, { commit, published: commit })
    // A hook may have changed the run while it was being sent.
    return !releases || endReleased(attempt, state.sequence)
  }
  if (isForeign) {
    // A copy of this checkout shares our nonce, and has a newer version.
    const older = await runGit(call, 'merge-base', '--is-ancestor', there, commit)
    if (older.status !== 0 && older.status !== 1) throw notPublished(attempt, older.detail)
    // A backup of the remote, or a person, brought an older version of ours back.
    const isSetBack = older.status === 0 && holder?.machine !== undefined && holder.nonce === share.nonce
    if (holder !== undefined && !isSetBack) throw await lose(attempt, there, { commit })
    const what = isSetBack ? 'was set back there to an older version' : 'no longer leads to a run there'
    const remove = removalCommand(remote, run, rootOf(attempt))
    throw notPublished(attempt, `its ref ${what}`, `: \`${remove}\` removes it, then publish again`)
  }
  // An earlier commit of ours arrived late. After a release anyone may have the run; until then it can be released anew.
  if (holder?.machine === undefined) {
    if (!releases) throw await lose(attempt, there, { commit, published: there })
    if ((await isPublished(call, commit, there)) && (await endReleased(attempt, state.sequence))) return true
  }
  await changeShare(folder, (now) => ({ ...now, commit: there }))
  return false
}

function notPublished({ folder, share: { remote } }: Unsent, reason: string, advice = ''): PostflightError {
  return new PostflightError('not-published', {
    task: taskWord(folder),
    remote,
    detail: reason.replace(/\.$/, ''),
    advice,
  })
}

function refIsGone(attempt: Attempt): [reason: string, advice: string] {
  return [
    'its ref is gone from the remote',
    `: \`${shareLine(attempt)} ${shellWord(attempt.share.remote)}\` publishes it again`,
  ]
}

function shareLine(attempt: Unsent): string {
  return runCommandLine(attempt.folder, 'share', rootOf(attempt))
}

/** The record keeps the advice, which another command may print elsewhere. */
function rootOf({ folder, machine }: Unsent): string | undefined {
  return machine.rootOption && folder.root
}

/** A run that cannot be published must still end here if another machine has it. */
async function fencedOr(error: PostflightError, attempt: Attempt): Promise<PostflightError> {
  const { call, share } = attempt
  try {
    const there = await commitOf(call, share.run)
    if (there === '' || isOurs(share, there)) return error
    await fetchRuns(call, [share.run])
    return (await holderAt(call, there)) === undefined ? error : await lose(attempt, there, {})
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
  return endHere(attempt, releasedText(attempt.share.remote), { released })
}

function releasedText(remote: string): string {
  return `released: anyone may continue it (${remote})`
}

/** Returns false if the run continued after the transition `released`: then nothing is changed. */
function endHere({ folder, machine }: Attempt, why: string, facts: { kept?: string | undefined; released?: number }) {
  const { kept, released } = facts
  return underLock(folder, (state) => {
    if (released !== undefined && state.outcome !== 'moved' && state.sequence > released) return false
    const share = shareOf(folder, state.id)
    const ended = state.outcome === 'moved' ? state : end(state, 'moved', machine.nowMs, why)
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
async function lose(attempt: Attempt, there: string, own: { commit?: string; published?: string }) {
  const { call, folder, share } = attempt
  const { commit, published = share.commit } = own
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
  await endHere(attempt, why, kept === undefined ? {} : { kept: commit })
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
async function keep({ call, share: { run } }: Attempt, commit: string): Promise<string | undefined> {
  for (let number = 1; number <= MAX_LOST; number++) {
    const name = `${run}-lost-${number}`
    const ref = sharedRef(name)
    // With an empty old value, the ref must not exist.
    if ((await runGit(call, 'update-ref', ref, commit, '')).status !== 0) continue
    const { outcome } = await pushRun(call, { run: name, commit, expected: '' })
    if (outcome === 'published') return ref
    if (outcome !== 'moved') return `${ref}, in this repository only`
    await runGit(call, 'update-ref', '-d', ref, commit)
  }
  return undefined
}
