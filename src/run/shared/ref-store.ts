import { PostflightError } from '../../kernel/errors.ts'
import { shellWord } from '../../kernel/text.ts'
import { EXACT, type GitAnswer, type GitCall, type InputCall, runGit } from './isolated-git.ts'
import { type Holder, readHolder } from './share-record.ts'

/** A shared run in git: its ref, which changes by compare-and-swap (docs/shared-runs.md), and its files, never checked out. */

const REFS = 'refs/postflight/'
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
const REMOTE_NAME = /^[^-=\p{Cc}\s][^=\p{Cc}\s]{0,199}$/u
const LOST = /-lost-\d+$/
const MAX_LISTED = 500

export function isRunId(word: string): boolean {
  return word.startsWith('wf_') && RUN_ID.test(word)
}

export function sharedRef(run: string): string {
  if (!RUN_ID.test(run)) throw new PostflightError('shared-run-id', { run })
  return `${REFS}${run}`
}

/** Removes a run from the remote. `lease`: only if its ref is at that commit. `root`: if the shell may be elsewhere. */
export function removalCommand(remote: string, run: string, root: string | undefined, lease?: string): string {
  const ref = sharedRef(run)
  const git = root ? ['git', '-C', root] : ['git']
  const options = lease === undefined ? [] : [`--force-with-lease=${ref}:${lease}`]
  return [...git, 'push', ...options, remote, `:${ref}`].map(shellWord).join(' ')
}

/** `address`: where pushes go, if fetches do not. `project`: see Holder. */
export interface RemoteCall extends GitCall {
  readonly remote: string
  readonly address?: string | undefined
  readonly project?: string | undefined
}

/** The refs are read where they are pushed, which may be another address (`pushurl`). */
export async function requireRemote(call: GitCall, remote: string): Promise<RemoteCall> {
  const [fetched, pushed] = await addressesOf(call, remote)
  if (fetched === undefined) throw new PostflightError('remote-unknown', { remote })
  const project = (await write(call, 'rev-parse', '--show-prefix')) || undefined
  return { ...call, remote, address: pushed === fetched ? undefined : `${EXACT}${pushed}`, project }
}

export async function isRemote(call: GitCall, remote: string): Promise<boolean> {
  return (await addressesOf(call, remote))[0] !== undefined
}

async function addressesOf(call: GitCall, remote: string): Promise<[string | undefined, string | undefined]> {
  const listed = await write(call, 'remote', '--verbose')
  const lines = REMOTE_NAME.test(remote) ? listed.split('\n') : []
  const own = lines.filter((line) => line.startsWith(`${remote}\t`)).map((line) => line.slice(remote.length + 1))
  // A partial clone has its filter behind "(fetch)".
  const address = (line: string | undefined): string | undefined => line?.replace(/ \((?:fetch|push)\).*$/, '')
  return [address(own.find((line) => / \(fetch\)/.test(line))), address(own.find((line) => line.endsWith(' (push)')))]
}

/** `runs`: their commits. `lost`: refs of what was not published before a takeover. */
export async function listRefs(call: RemoteCall) {
  const lines = (await askRemote(call, ['ls-remote'], `${REFS}*`)).bytes.toString().split('\n')
  const refs = lines.flatMap((line) => {
    const [commit = '', ref = ''] = line.split('\t')
    const run = ref.slice(REFS.length)
    return ref.startsWith(REFS) && RUN_ID.test(run) ? [[run, commit] as const] : []
  })
  const runs = refs.filter(([run]) => !LOST.test(run))
  if (runs.length > MAX_LISTED) throw new PostflightError('shared-many', { remote: call.remote, limit: MAX_LISTED })
  return { runs: new Map(runs), lost: refs.flatMap(([run]) => (LOST.test(run) ? `${REFS}${run}` : [])) }
}

export async function commitOf(call: RemoteCall, run: string): Promise<string> {
  const ref = sharedRef(run)
  return headOf(await askRemote(call, ['ls-remote'], ref), ref)
}

/** git also lists refs that end with the same words: a branch `refs/postflight/{id}`. */
function headOf({ bytes }: GitAnswer, ref: string): string {
  const lines = bytes.toString().split('\n')
  return lines.find((line) => line.endsWith(`\t${ref}`))?.split('\t')[0] ?? ''
}

/** Creates no local refs. */
export async function fetchRuns(call: RemoteCall, runs: readonly string[]): Promise<void> {
  await askRemote(call, FETCH, ...runs.map(sharedRef))
}

/** A partial clone's filter would omit files; a mirror's refspec would write refs here. */
const FETCH = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-filter', '--refmap=']

async function askRemote(call: RemoteCall, command: readonly string[], ...refs: string[]): Promise<GitAnswer> {
  const answer = await runGit(call, ...command, call.address ?? call.remote, ...refs)
  if (answer.status === 0) return answer
  throw new PostflightError('remote-unreachable', { remote: call.remote, detail: answer.detail })
}

/** `there`: after `published` the pushed commit or a later one. `isRefused`: it will not arrive later either. */
export type Pushed =
  | { readonly outcome: 'published' | 'moved'; readonly there: string }
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'failed'; readonly detail: string; readonly isRefused: boolean }

/** Another process may be changing the ref in the remote, where git waits only 100 ms for its lock. */
const REF_LOCK_MS = 5_000
/** Another reason, such as "Permission denied", stays. A long one was cut. */
const IS_LOCKED = /cannot lock ref .*(?:File exists|…)$/

/** The rest of the time is for reading the ref back. */
const PUSH_SHARE = 0.8

/** `share`: of the time that is left. */
export function partOf<Call extends GitCall>(call: Call, share: number): Call {
  const now = performance.now()
  return { ...call, until: now + (call.until - now) * share }
}

/**
 * Swaps the ref from the commit `expected`, or creates it if that is empty. The ref decides, not the exit code: git answers
 * 0 to a stale lease on an equal commit.
 */
export async function pushRun(
  call: RemoteCall,
  { run, commit, expected }: Readonly<Record<'run' | 'commit' | 'expected', string>>,
): Promise<Pushed> {
  const { remote } = call
  const ref = sharedRef(run)
  const lease = `--force-with-lease=${ref}:${expected}`
  // A mirror remote refuses single refs.
  const push = ['-c', `remote.${remote}.mirror=false`, 'push', '--no-verify', '--quiet']
  const lockedUntil = performance.now() + REF_LOCK_MS
  let pushed: GitAnswer
  let there: string
  do {
    pushed = await runGit(partOf(call, PUSH_SHARE), ...push, lease, remote, `${commit}:${ref}`)
    const listed = await runGit(call, 'ls-remote', call.address ?? remote, ref)
    if (listed.status !== 0) return { outcome: 'failed', detail: listed.detail, isRefused: false }
    there = headOf(listed, ref)
  } while (there === expected && IS_LOCKED.test(pushed.detail) && performance.now() < lockedUntil)
  if (there === commit) return { outcome: 'published', there }
  if (there === expected) {
    const detail = pushed.detail || 'it took the push, but its ref is unchanged'
    return { outcome: 'failed', detail, isRefused: pushed.status !== undefined }
  }
  if (there === '') return { outcome: 'gone' }
  const fetched = await runGit(call, ...FETCH, call.address ?? remote, ref)
  if (fetched.status !== 0) return { outcome: 'failed', detail: fetched.detail, isRefused: false }
  const { status, detail } = await runGit(call, 'merge-base', '--is-ancestor', commit, there)
  if (status === 0) return { outcome: 'published', there }
  return status === 1 ? { outcome: 'moved', there } : { outcome: 'failed', detail, isRefused: false }
}

export const MAX_FILES = 1_000
export const MAX_TOTAL_BYTES = 20_000_000
/** `state.json` and `holder.json`. */
const OWN_FILES = 2
/** Windows reads a colon as a stream and a backslash as a separator, and drops a final dot or space. */
const NAME = /^[^\p{Cc}/\\:*?"<>|]{0,199}[^\p{Cc}/\\:*?"<>|. ]$/u
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

export async function readTree(call: GitCall, commit: string): Promise<Map<string, Buffer>> {
  const listed = await runGit(call, 'ls-tree', '-r', '-l', '-z', '--full-tree', commit)
  if (listed.status !== 0) throw refused('git cannot list its files')
  const entries = listed.bytes.toString().split('\0').slice(0, -1).map(entryOf)
  const fault = treeFault(entries)
  if (fault !== undefined) throw refused(fault)
  const read = await runGit({ ...call, input: entries.map(({ blob }) => `${blob}\n`).join('') }, 'cat-file', '--batch')
  if (read.status !== 0) throw refused('git cannot read its files')
  const files = new Map<string, Buffer>()
  let at = 0
  for (const { path, size } of entries) {
    // "<oid> blob <size>\n<bytes>\n"
    const begin = read.bytes.indexOf(10, at) + 1
    if (begin === 0 || !/ blob \d+$/.test(read.bytes.toString('latin1', at, begin - 1))) {
      throw refused(`git cannot read "${path}"`)
    }
    files.set(path, read.bytes.subarray(begin, begin + size))
    at = begin + size + 1
  }
  return files
}

/** Why another machine would refuse the run: called before it is published, and before it is taken. */
export function treeFault(files: readonly { readonly path: string; readonly size: number }[]): string | undefined {
  if (files.length > MAX_FILES + OWN_FILES) return `it has more than ${MAX_FILES} files`
  if (files.reduce((sum, { size }) => sum + size, 0) > MAX_TOTAL_BYTES) return 'it is larger than 20 MB'
  const unsafe = files.find(({ path }) => !path.split('/').every(isSafeName))
  if (unsafe !== undefined) return `"${unsafe.path}" is not a safe name on every machine`
  // Names that a file system takes for one would overwrite each other.
  const known = new Map<string, string>()
  for (const path of files.flatMap((file) => withFolders(file.path))) {
    const folded = path.normalize('NFC').toLowerCase()
    const other = known.get(folded) ?? path
    if (other !== path) return `"${other}" and "${path}" differ only in case`
    known.set(folded, path)
  }
  return undefined
}

function isSafeName(name: string): boolean {
  return NAME.test(name) && !DEVICE.test(name) && !/^\.(?:git|postflight)/iu.test(name)
}

export async function holderAt(call: GitCall, commit: string): Promise<Holder | undefined> {
  return readHolder(await readBlob(call, commit, 'holder.json'))
}

/** Why another machine would refuse these files: then they must not get into the ref. */
export function whyRefused(tree: ReadonlyMap<string, Buffer>): string | undefined {
  if (readHolder(tree.get('holder.json')) === undefined) return 'the name of its task folder is not allowed: rename it'
  return treeFault([...tree].map(([path, { length: size }]) => ({ path, size })))
}

export async function readBlob(call: GitCall, commit: string, path: string): Promise<Buffer | undefined> {
  const { status, bytes, detail } = await runGit({ ...call, input: `${commit}:${path}\n` }, 'cat-file', '--batch')
  const begin = bytes.indexOf(10) + 1
  if (status === 0 && / blob \d+\n$/.test(bytes.toString('latin1', 0, begin))) return bytes.subarray(begin, -1)
  // It also calls an object missing that it cannot read, and complains.
  if (status !== 0 || detail !== '') throw new PostflightError('git-failed', { command: 'cat-file', detail })
  return undefined
}

function entryOf(line: string): { path: string; blob: string; size: number } {
  const [, mode, blob, size, path] = /^(\d{6}) blob ([0-9a-f]{40,64}) +(\d+)\t(.+)$/su.exec(line) ?? []
  if (blob === undefined || path === undefined || mode !== '100644') throw refused('it has more than plain files')
  return { path, blob, size: Number(size) }
}

function withFolders(path: string): string[] {
  const names = path.split('/')
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

export function refused(detail: string): PostflightError {
  return new PostflightError('shared-tree', { detail })
}

export async function writeTree(call: GitCall, files: ReadonlyMap<string, Buffer>): Promise<string> {
  const input = Buffer.concat(
    [...files.values()].flatMap((bytes, index) => [
      Buffer.from(`blob\nmark :${index + 1}\ndata ${bytes.length}\n`),
      bytes,
      Buffer.from(`\nget-mark :${index + 1}\n`),
    ]),
  )
  const ids = (await write({ ...call, input }, 'fast-import', '--quiet')).split('\n')
  return treeOf(call, new Map([...files.keys()].map((path, index) => [path, ids[index] ?? ''])))
}

async function treeOf(call: GitCall, blobs: ReadonlyMap<string, string>): Promise<string> {
  const lines: string[] = []
  const folders = new Map<string, Map<string, string>>()
  for (const [path, blob] of blobs) {
    const [name = '', ...rest] = path.split('/')
    if (rest.length === 0) lines.push(`100644 blob ${blob}\t${path}\0`)
    else folders.set(name, (folders.get(name) ?? new Map<string, string>()).set(rest.join('/'), blob))
  }
  for (const [name, inner] of folders) lines.push(`040000 tree ${await treeOf(call, inner)}\t${name}\0`)
  return write({ ...call, input: lines.join('') }, 'mktree', '-z')
}

async function write(call: InputCall, ...words: string[]): Promise<string> {
  const written = await runGit(call, ...words)
  if (written.status !== 0) throw new PostflightError('git-failed', { command: words[0] ?? '', detail: written.detail })
  return written.bytes.toString().trim()
}

export async function hasCommit(call: GitCall, commit: string): Promise<boolean> {
  return (await runGit(call, 'cat-file', '-e', `${commit}^{commit}`)).status === 0
}

export function treeIn(call: GitCall, commit: string): Promise<string> {
  return write(call, 'rev-parse', '--verify', `${commit}^{tree}`)
}

export function writeCommit(call: GitCall, tree: string, parent: string, subject: string): Promise<string> {
  return write(call, 'commit-tree', tree, ...(parent === '' ? [] : ['-p', parent]), '-m', subject)
}
