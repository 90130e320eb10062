import { PostflightError } from '../../kernel/errors.ts'
import { type GitCall, runGit } from './isolated-git.ts'

/** Nothing is checked out. */

export const MAX_FILES = 1_000
export const MAX_TOTAL_BYTES = 20_000_000
/** Windows reads a colon as a stream and a backslash as a separator, and drops a final dot or space. */
const NAME = /^[^\p{Cc}/\\:*?"<>|]{0,199}[^\p{Cc}/\\:*?"<>|. ]$/u
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

export async function readTree(call: GitCall, commit: string): Promise<Map<string, Buffer>> {
  const listed = await runGit(call, 'ls-tree', '-r', '-l', '-z', '--full-tree', commit)
  if (listed.status !== 0) throw new PostflightError('shared-tree', { detail: 'git cannot list its files' })
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

interface TreeFile {
  readonly path: string
  readonly size: number
}

/** What another machine would refuse: checked before a run is published, and before it is taken. */
export function treeFault(files: readonly TreeFile[]): string | undefined {
  if (files.length > MAX_FILES) return `it has more than ${MAX_FILES} files`
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
  return NAME.test(name) && !DEVICE.test(name) && !/^\.(?:git|postflight)/i.test(name)
}

/** Undefined if it does not exist. */
export async function readBlob(call: GitCall, commit: string, path: string): Promise<Buffer | undefined> {
  const { status, bytes, detail } = await runGit(call, 'cat-file', 'blob', `${commit}:${path}`)
  if (status === undefined) throw new PostflightError('git-failed', { command: 'cat-file', detail })
  return status === 0 ? bytes : undefined
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

function refused(detail: string): PostflightError {
  return new PostflightError('shared-tree', { detail })
}

export async function writeTree(call: GitCall, files: ReadonlyMap<string, Buffer>): Promise<string> {
  return treeOf(call, await writeBlobs(call, files))
}

async function writeBlobs(call: GitCall, files: ReadonlyMap<string, Buffer>): Promise<Map<string, string>> {
  if (files.size === 0) return new Map()
  const input = Buffer.concat(
    [...files.values()].flatMap((bytes, index) => [
      Buffer.from(`blob\nmark :${index + 1}\ndata ${bytes.length}\n`),
      bytes,
      Buffer.from(`\nget-mark :${index + 1}\n`),
    ]),
  )
  const ids = (await write({ ...call, input }, 'fast-import', '--quiet')).split('\n')
  return new Map([...files.keys()].map((path, index) => [path, ids[index] ?? '']))
}

async function treeOf(call: GitCall, blobs: ReadonlyMap<string, string>): Promise<string> {
  const lines: string[] = []
  const folders = new Map<string, Map<string, string>>()
  for (const [path, blob] of blobs) {
    const slash = path.indexOf('/')
    if (slash === -1) {
      lines.push(`100644 blob ${blob}\t${path}\0`)
      continue
    }
    const name = path.slice(0, slash)
    const inner = folders.get(name) ?? new Map<string, string>()
    folders.set(name, inner.set(path.slice(slash + 1), blob))
  }
  for (const [name, inner] of folders) lines.push(`040000 tree ${await treeOf(call, inner)}\t${name}\0`)
  return write({ ...call, input: lines.join('') }, 'mktree', '-z')
}

async function write(call: GitCall, ...words: string[]): Promise<string> {
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
  const parents = parent === '' ? [] : ['-p', parent]
  return write(call, 'commit-tree', tree, ...parents, '-m', subject)
}
