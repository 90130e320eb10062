import { PostflightError } from '../../kernel/errors.ts'
import { type GitAnswer, type GitCall, runGit } from './isolated-git.ts'

/** Refs of shared runs change by compare-and-swap (docs/shared-runs.md). */

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

/** The refs are read where they are pushed, which may be another address (`pushurl`). */
export async function requireRemote(call: GitCall, remote: string): Promise<GitCall> {
  const [fetched, pushed] = await addressesOf(call, remote)
  if (fetched === undefined) throw new PostflightError('remote-unknown', { remote })
  return pushed === undefined || pushed === fetched ? call : { ...call, address: pushed }
}

export async function isRemote(call: GitCall, remote: string): Promise<boolean> {
  return (await addressesOf(call, remote))[0] !== undefined
}

async function addressesOf(call: GitCall, remote: string): Promise<[string | undefined, string | undefined]> {
  const listed = await runGit(call, 'remote', '--verbose')
  if (listed.status !== 0) throw new PostflightError('git-failed', { command: 'remote', detail: listed.detail })
  const lines = REMOTE_NAME.test(remote) ? listed.bytes.toString().split('\n') : []
  const own = lines.filter((line) => line.startsWith(`${remote}\t`)).map((line) => line.slice(remote.length + 1))
  // A partial clone has its filter behind "(fetch)".
  const address = (line: string | undefined): string | undefined => line?.replace(/ \((?:fetch|push)\).*$/, '')
  return [address(own.find((line) => / \(fetch\)/.test(line))), address(own.find((line) => line.endsWith(' (push)')))]
}

/** `lost`: not published before a takeover. */
export interface ListedRefs {
  readonly runs: ReadonlyMap<string, string>
  readonly lost: readonly string[]
}

export async function listRefs(call: GitCall, remote: string): Promise<ListedRefs> {
  const lines = requireAnswer(await runGit(call, 'ls-remote', call.address ?? remote, `${REFS}*`), remote)
    .bytes.toString()
    .split('\n')
  const refs = lines.flatMap((line) => {
    const [commit = '', ref = ''] = line.split('\t')
    const run = ref.slice(REFS.length)
    return ref.startsWith(REFS) && RUN_ID.test(run) ? [[run, commit] as const] : []
  })
  const runs = refs.filter(([run]) => !LOST.test(run))
  if (runs.length > MAX_LISTED) throw new PostflightError('shared-many', { remote, limit: MAX_LISTED })
  return { runs: new Map(runs), lost: refs.flatMap(([run]) => (LOST.test(run) ? `${REFS}${run}` : [])) }
}

export async function commitOf(call: GitCall, remote: string, run: string): Promise<string> {
  const ref = sharedRef(run)
  return headOf(requireAnswer(await runGit(call, 'ls-remote', call.address ?? remote, ref), remote), ref)
}

/** git also lists refs that end with the same words: a branch `refs/postflight/{id}`. */
function headOf({ bytes }: GitAnswer, ref: string): string {
  const lines = bytes.toString().split('\n')
  return lines.find((line) => line.endsWith(`\t${ref}`))?.split('\t')[0] ?? ''
}

/** Creates no local refs. */
export async function fetchRuns(call: GitCall, remote: string, runs: readonly string[]): Promise<void> {
  requireAnswer(await runGit(call, ...FETCH, call.address ?? remote, ...runs.map(sharedRef)), remote)
}

/** A partial clone's filter would omit files; a mirror's refspec would write refs here. */
const FETCH = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-filter', '--refmap=']

function requireAnswer(answer: GitAnswer, remote: string): GitAnswer {
  if (answer.status !== 0) throw new PostflightError('remote-unreachable', { remote, detail: answer.detail })
  return answer
}

export interface Push {
  readonly remote: string
  readonly run: string
  readonly commit: string
  /** Empty if the ref must not exist. */
  readonly expected: string
}

/** `there`: after `published` the pushed commit or a later one. `isRefused`: it will not arrive later either. */
export type Pushed =
  | { readonly outcome: 'published'; readonly there: string }
  | { readonly outcome: 'moved'; readonly there: string }
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'failed'; readonly detail: string; readonly isRefused: boolean }

const PUSH_SHARE = 0.8

function beforeReadBack(call: GitCall): GitCall {
  const now = performance.now()
  return { ...call, until: now + (call.until - now) * PUSH_SHARE }
}

/** The ref decides, not the exit code: git answers 0 to a stale lease on an equal commit. */
export async function pushRun(call: GitCall, { remote, run, commit, expected }: Push): Promise<Pushed> {
  const ref = sharedRef(run)
  const lease = `--force-with-lease=${ref}:${expected}`
  // A mirror refuses single refs.
  const push = [
    '-c',
    `remote.${remote}.mirror=false`,
    'push',
    '--no-verify',
    '--quiet',
    lease,
    remote,
    `${commit}:${ref}`,
  ]
  const pushed = await runGit(beforeReadBack(call), ...push)
  const listed = await runGit(call, 'ls-remote', call.address ?? remote, ref)
  if (listed.status !== 0) return { outcome: 'failed', detail: listed.detail, isRefused: false }
  const there = headOf(listed, ref)
  if (there === commit) return { outcome: 'published', there }
  if (there === expected) return { outcome: 'failed', detail: pushed.detail, isRefused: pushed.status !== undefined }
  if (there === '') return { outcome: 'gone' }
  const fetched = await runGit(call, ...FETCH, call.address ?? remote, ref)
  if (fetched.status !== 0) return { outcome: 'failed', detail: fetched.detail, isRefused: false }
  const { status, detail } = await runGit(call, 'merge-base', '--is-ancestor', commit, there)
  if (status === 0) return { outcome: 'published', there }
  return status === 1 ? { outcome: 'moved', there } : { outcome: 'failed', detail, isRefused: false }
}
