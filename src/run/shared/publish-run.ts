import { COMMAND_PATIENCE_MS, retryWhileLocked } from '../../disk/lock.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { asPostflightError, errorMessage } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { RUN_HISTORY_FILE, SPECS_FOLDER } from '../../kernel/files.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { moveState, returnState } from '../machine/control.ts'
import { isResumable } from '../machine/need.ts'
import type { WorkflowState } from '../machine/state.ts'
import { formatState } from '../machine/state-file.ts'
import { removeRunFile } from '../store/run-file.ts'
import { requireState, withRun, writeState } from '../store/state-store.ts'
import { type GitCall, runGit } from './isolated-git.ts'
import { commitOf, fetchRuns, isRemote, pushRun, requireRemote, sharedRef } from './ref-store.ts'
import { readRunFiles } from './run-files.ts'
import { hasCommit, readBlob, treeFault, treeIn, writeCommit, writeTree } from './run-tree.ts'
import {
  formatHolder,
  type Holder,
  MAX_SENT,
  newNonce,
  readHolder,
  readShare,
  refuseMoved,
  SHARED_TEXT,
  type ShareRecord,
  shareOf,
  writeShare,
} from './share-record.ts'

/** For all git commands together. */
const PUBLISH_MS = 30_000

export interface Machine {
  readonly name: string
  readonly nowMs: number
}

/** `problem`: why it failed. */
export interface Published {
  readonly remote: string
  readonly problem: string | undefined
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
  const isGone = present !== undefined && present.commit !== '' && (await commitOf(call, remote, present.run)) === ''
  withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    const share = shareOf(folder, state.id)
    // Released here. If a machine took it before its ref was lost, the first one to share it again has it.
    const isReturned = isGone && state.outcome === 'moved' && (share?.sequence ?? 0) >= state.sequence
    if (isReturned) writeState(folder, returnState(state, SHARED_TEXT.refGone, nowMs), state)
    else refuseMoved(folder, state)
    if (share !== undefined && !isGone) {
      if (share.remote !== remote) writeShare(folder, { ...share, remote })
      return
    }
    const claim = { generation: 1, nonce: newNonce(), sinceMs: nowMs }
    writeShare(folder, { ...BLANK, ...claim, run: state.id, remote })
  })
}

export const BLANK = {
  ...{
    commit: '',
    sent: [],
    claim: undefined,
    kept: undefined,
    publishedMs: undefined,
    sequence: 0,
    problem: undefined,
  },
} as const

/** Throws `workflow-moved` if another machine took the run. */
export async function publishRun(folder: TaskFolder, machine: Machine): Promise<Published | undefined> {
  const state = requireState(folder)
  const share = state.outcome === 'moved' ? undefined : readShare(folder, state.id)
  if (share === undefined) return undefined
  try {
    await push(folder, machine, false)
    return { remote: share.remote, problem: undefined }
  } catch (error) {
    const { code, args } = asPostflightError(error)
    if (code === 'workflow-moved') throw error
    const says = code === 'not-published' && 'detail' in args ? String(args.detail) : errorMessage(code, args)
    const problem = says.replace(/\.$/, '')
    await changeShare(folder, (now) => ({ ...now, problem }))
    return { remote: share.remote, problem }
  }
}

export async function releaseRun(folder: TaskFolder, machine: Machine): Promise<WorkflowState> {
  const state = requireState(folder)
  refuseMoved(folder, state)
  if (readShare(folder, state.id) === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
  // A run that has ended is only published.
  await push(folder, machine, state.active || isResumable(state))
  return requireState(folder)
}

interface Snapshot {
  readonly state: WorkflowState
  readonly share: ShareRecord
  /** Or why they cannot be published. */
  readonly files: ReadonlyMap<string, Buffer> | PostflightError
}

async function push(folder: TaskFolder, machine: Machine, releases: boolean): Promise<void> {
  const limit = gitCall(folder.root)
  for (;;) {
    const { state, share, files } = await takeSnapshot(folder)
    const { remote, run, commit: expected } = share
    const call = await remoteCall(limit, folder, share)
    if (files instanceof PostflightError) throw await fencedOr(files, call, folder, machine, share)
    const holder = Buffer.from(formatHolder(holderOf(folder, state, share, machine, releases)))
    const tree = new Map([
      ['state.json', Buffer.from(formatState(state))],
      ['holder.json', holder],
      ...[...files].map(([name, bytes]) => [`folder/${name}`, bytes] as const),
    ])
    const notPublished = (detail: string): PostflightError =>
      new PostflightError('not-published', { task: taskWord(folder), remote, detail })
    const gone = SHARED_TEXT.gone(commandLine(['workflow', 'share', taskWord(folder), remote], undefined))
    const fault = readHolder(holder) === undefined ? SHARED_TEXT.unsafeFolder : treeFault(sizesOf(tree))
    if (fault !== undefined) throw await fencedOr(notPublished(fault), call, folder, machine, share)
    const subject = releases ? `${run}: released` : `${run}: ${state.phase}, transition ${state.sequence}`
    // git removes a commit to which no ref leads after some weeks.
    if (expected !== '' && !(await hasCommit(call, expected))) {
      if ((await commitOf(call, remote, run)) === '') throw notPublished(gone)
      await fetchRuns(call, remote, [run])
    }
    const written = await writeTree(call, tree)
    const isSame = expected !== '' && (await treeIn(call, expected)) === written
    const commit = isSame ? expected : await writeCommit(call, written, expected, subject)
    // Before sending: a killed process then recognizes its commit.
    if (!isSame)
      await changeShare(folder, (now) => ({
        ...now,
        sent: [...now.sent.filter((one) => one !== commit), commit].slice(-MAX_SENT),
      }))
    const pushed = await pushRun(call, { remote, run, commit, expected })
    if (pushed.outcome === 'published' && (pushed.there === commit || !isOurs(shareOf(folder, run), pushed.there))) {
      const facts = { publishedMs: machine.nowMs, sequence: state.sequence, problem: undefined }
      await changeShare(folder, (now) => (now.commit === expected ? { ...now, commit, sent: [], ...facts } : now))
      if (!releases && pushed.there !== commit)
        throw await lose(call, folder, machine, { ...pushed, commit, share: { ...share, commit } })
      if (!releases || (await endReleased(folder, machine, remote, state))) return
      // A hook changed the run while it was sent.
      continue
    }
    if (pushed.outcome === 'gone' || pushed.outcome === 'failed') {
      throw notPublished(pushed.outcome === 'gone' ? gone : pushed.detail || SHARED_TEXT.refused)
    }
    const there = await holderAt(call, pushed.there)
    if (!isOurs(shareOf(folder, run), pushed.there)) {
      // A backup of the remote, or a person, brought an older version of ours back.
      const isSetBack = there?.machine !== undefined && there.nonce === share.nonce
      if (isSetBack) throw notPublished(SHARED_TEXT.setBack(`git push ${remote} :${sharedRef(run)}`))
      throw await lose(call, folder, machine, { ...pushed, commit, share })
    }
    // An earlier commit of ours arrived late. After a release anyone may have the run; until then it can be released anew.
    if (there?.machine === undefined && !releases) {
      throw await lose(call, folder, machine, { ...pushed, commit, share: { ...share, commit: pushed.there } })
    }
    if (there?.machine === undefined && (await isPublished(call, commit, pushed.there))) {
      if (await endReleased(folder, machine, remote, state)) return
    }
    await changeShare(folder, (now) => ({ ...now, commit: pushed.there }))
  }
}

export async function holderAt(call: GitCall, commit: string): Promise<Holder | undefined> {
  return readHolder(await readBlob(call, commit, 'holder.json'))
}

export function isOurs(share: ShareRecord | undefined, commit: string): boolean {
  return share !== undefined && (share.commit === commit || share.sent.includes(commit))
}

async function takeSnapshot(folder: TaskFolder): Promise<Snapshot> {
  return retryWhileLocked(() =>
    withRun(folder, COMMAND_PATIENCE_MS, (state) => {
      refuseMoved(folder, state)
      const share = shareOf(folder, state.id)
      if (share === undefined) throw new PostflightError('not-shared', { task: taskWord(folder) })
      return { state, share, files: filesToPublish(folder, state) }
    }),
  )
}

function filesToPublish(folder: TaskFolder, { definition }: WorkflowState): Snapshot['files'] {
  try {
    return readRunFiles(folder.path, definition)
  } catch (error) {
    if (error instanceof PostflightError) return error
    throw error
  }
}

function sizesOf(tree: ReadonlyMap<string, Buffer>): { readonly path: string; readonly size: number }[] {
  return [...tree].map(([path, bytes]) => ({ path, size: bytes.length }))
}

/** A run that cannot be published must still end here if another machine has it. */
async function fencedOr(
  error: PostflightError,
  call: GitCall,
  folder: TaskFolder,
  machine: Machine,
  share: ShareRecord,
): Promise<PostflightError> {
  try {
    const there = await commitOf(call, share.remote, share.run)
    if (there === '' || isOurs(share, there)) return error
    await fetchRuns(call, share.remote, [share.run])
    return await lose(call, folder, machine, { there, commit: undefined, share })
  } catch (problem) {
    if (problem instanceof PostflightError) return error
    throw problem
  }
}

function holderOf(
  folder: TaskFolder,
  { hostSession }: WorkflowState,
  { generation, nonce, sinceMs }: ShareRecord,
  { name, nowMs }: Machine,
  releases: boolean,
): Holder {
  const path = folder.relative.slice(SPECS_FOLDER.length + 1)
  const claim = { generation, nonce, path }
  return releases
    ? { ...claim, machine: undefined, session: undefined, sinceMs: nowMs }
    : { ...claim, machine: name, session: hostSession, sinceMs }
}

async function changeShare(folder: TaskFolder, change: (share: ShareRecord) => ShareRecord): Promise<void> {
  await retryWhileLocked(() =>
    withRun(folder, COMMAND_PATIENCE_MS, ({ id }) => {
      const share = shareOf(folder, id)
      if (share !== undefined) writeShare(folder, change(share))
    }),
  )
}

/** False if the run went on after its `published` state. */
async function endReleased(
  folder: TaskFolder,
  machine: Machine,
  remote: string,
  published: WorkflowState,
): Promise<boolean> {
  const facts = { isReleased: true, sequence: published.sequence }
  return endHere(folder, machine, SHARED_TEXT.released(remote), facts)
}

async function remoteCall(limit: GitCall, folder: TaskFolder, { remote }: ShareRecord): Promise<GitCall> {
  try {
    return await requireRemote(limit, remote)
  } catch (error) {
    if (asPostflightError(error).code !== 'remote-unknown') throw error
    const share = commandLine(['workflow', 'share', taskWord(folder)], undefined)
    const detail = SHARED_TEXT.noRemote(share)
    throw new PostflightError('not-published', { task: taskWord(folder), remote, detail }, error)
  }
}

/** False if the run went on after `sequence`: then nothing is changed. */
async function endHere(
  folder: TaskFolder,
  { nowMs }: Machine,
  why: string,
  facts: { readonly kept?: string | undefined; readonly isReleased?: boolean; readonly sequence?: number },
): Promise<boolean> {
  const { kept, isReleased = false, sequence } = facts
  return retryWhileLocked(() =>
    withRun(folder, COMMAND_PATIENCE_MS, (state) => {
      if (sequence !== undefined && state.outcome !== 'moved' && state.sequence > sequence) return false
      const share = shareOf(folder, state.id)
      const ended = state.outcome === 'moved' ? state : moveState(state, why, nowMs)
      // Only the end itself is not published.
      const changes = { ...(kept !== undefined && { kept }), ...(isReleased && { sequence: ended.sequence }) }
      if (share !== undefined) writeShare(folder, { ...share, ...changes })
      if (ended !== state) writeState(folder, ended, state)
      // Without its run file, the agent's stops are allowed.
      removeRunFile(folder, state.id)
      return true
    }),
  )
}

function moved(folder: TaskFolder, { run, remote }: ShareRecord, why: string): PostflightError {
  return new PostflightError('workflow-moved', { task: taskWord(folder), run, remote, why })
}

async function lose(
  call: GitCall,
  folder: TaskFolder,
  machine: Machine,
  { commit, share, there }: { commit: string | undefined; share: ShareRecord; there: string },
): Promise<PostflightError> {
  const { remote, run } = share
  const isKept = commit !== undefined && !(await isPublished(call, commit, share.commit))
  const kept = isKept ? await keep(call, remote, run, commit) : undefined
  const holder = await holderAt(call, there)
  const freed = isOurs(share, there) ? SHARED_TEXT.released(remote) : SHARED_TEXT.freed(remote)
  const why = `${holder?.machine === undefined ? freed : SHARED_TEXT.taken(remote, holder)}${kept ?? ''}`
  await endHere(folder, machine, why, { kept: kept === undefined ? undefined : commit })
  return moved(folder, share, why)
}

async function isPublished(call: GitCall, commit: string, published: string): Promise<boolean> {
  if (published === '') return false
  // The history follows from the state.
  const words = ['diff', '--quiet', '--no-ext-diff', '--no-textconv', published, commit, '--', 'state.json', 'folder']
  return (await runGit(call, ...words, `:(exclude)folder/${RUN_HISTORY_FILE}`)).status === 0
}

const MAX_LOST = 100

/** Says where it is kept. */
async function keep(call: GitCall, remote: string, run: string, commit: string): Promise<string | undefined> {
  for (let number = 1; number <= MAX_LOST; number++) {
    const name = `${run}-lost-${number}`
    const ref = sharedRef(name)
    // The empty value: the ref must not exist.
    if ((await runGit(call, 'update-ref', ref, commit, '')).status !== 0) continue
    const { outcome } = await pushRun(call, { remote, run: name, commit, expected: '' })
    if (outcome === 'published') return SHARED_TEXT.kept(ref)
    if (outcome !== 'moved') return SHARED_TEXT.keptHere(ref)
    await runGit(call, 'update-ref', '-d', ref, commit)
  }
  return undefined
}
