/**
 * What a power cut may leave of a folder. The programs run on a real folder and their changes are listed; from the list
 * this works out what is certain to be on the disk, and what may be lost.
 *
 * The model is POSIX read strictly, and stricter than any one file system:
 * - The content of a file is certain after an `fsync` of that file. Without one it may be the old content, nothing, a part of
 *   it, or zeros in its length (XFS and ext4 with `data=writeback` leave zeros; ext4 with `data=ordered` leaves the old
 *   content, or nothing where it allocates late).
 * - A name (created, linked, renamed, removed) is certain after an `fsync` of its folder. Without one, any subset of the names
 *   that changed may be lost, in any order, also in different folders. ext4, XFS, btrfs and APFS write names in order, and
 *   an `fsync` of a new file writes its name, too; POSIX promises neither, and network and FUSE file systems differ.
 * - A rename happens as a whole or not at all, and never shows half of a name: every file system with a journal keeps that,
 *   and without it no program could replace a file safely. An `fsync` of either of its folders makes it certain.
 * - Where folders cannot be synced (`hasLog`), names are lost only in the order of their changes, and an `fsync` of a file writes
 *   all of them that came before: so do NTFS, ext4 and whatever has one log for all names. Nothing else could be relied on there.
 * - A file that survives keeps its inode and its time of birth.
 */

import fs from 'node:fs'
import path from 'node:path'
import { type Call, original } from './instrument.ts'

/** A change of the disk by the call `at` of a program, counted from 1. Paths are absolute. */
export type DiskChange = { readonly at: number } & (
  | { readonly kind: 'file'; readonly path: string; readonly text: string; readonly kept: string }
  | { readonly kind: 'folder' | 'gone' | 'sync'; readonly path: string }
  | { readonly kind: 'link' | 'rename'; readonly path: string; readonly to: string }
)

/** The changes by a call that was just made. Files get a further name in the folder `keepsIn`. */
export function changeBy({ name, file, args }: Call, at: number, keepsIn: string): DiskChange[] {
  switch (name) {
    case 'openSync':
      return args[1] === 'r' ? [] : written(file, at, keepsIn)
    case 'writeSync':
    case 'writeFileSync':
    case 'appendFileSync':
    case 'ftruncateSync':
    case 'truncateSync':
      return written(file, at, keepsIn)
    case 'copyFileSync':
      return written(path.resolve(args[1] as string), at, keepsIn)
    case 'mkdirSync':
      return [{ at, kind: 'folder', path: file }]
    case 'unlinkSync':
    case 'rmdirSync':
    case 'rmSync':
      return [{ at, kind: 'gone', path: file }]
    case 'linkSync':
    case 'renameSync':
      return [{ at, kind: name === 'linkSync' ? 'link' : 'rename', path: file, to: path.resolve(args[1] as string) }]
    case 'fsyncSync':
    case 'fdatasyncSync':
      return [{ at, kind: 'sync', path: file }]
    default:
      return []
  }
}

function written(file: string, at: number, keepsIn: string): DiskChange[] {
  const stats = original.lstatSync?.(file, { throwIfNoEntry: false }) as fs.Stats | undefined
  if (!stats?.isFile()) return []
  const text = original.readFileSync?.(file, 'utf8') as string
  return [{ at, kind: 'file', path: file, text, kept: keep(file, stats.ino, keepsIn) }]
}

/** A further name of the file: its inode is not used again, and it can get its name back. */
function keep(file: string, inode: number, folder: string): string {
  const kept = path.join(folder, String(inode))
  if (original.existsSync?.(kept) !== true) original.linkSync?.(file, kept)
  return kept
}

interface FileNode {
  readonly kind: 'file'
  readonly kept: string
  text: string
  /** The content that is certain; undefined before the first `fsync`. */
  certain: string | undefined
}

interface FolderNode {
  readonly kind: 'folder'
  readonly names: Map<string, Node>
  readonly certain: Map<string, Node>
}

type Node = FileNode | FolderNode

const newFolder = (): FolderNode => ({ kind: 'folder', names: new Map(), certain: new Map() })

/** A change of names that happens as a whole or not at all. */
type Step = readonly { readonly folder: FolderNode; readonly name: string; readonly node: Node | undefined }[]

type Texts = Readonly<Record<string, string>>

export interface Remains {
  readonly texts: Texts
  /** What was lost, for people. */
  readonly lost: string
  /** Puts it in the folder's place. */
  readonly restore: () => void
}

/** Decides what survives: `name` for each change of names that is not certain, `content` for each file. */
export interface Fate {
  readonly name: (index: number, count: number) => boolean
  readonly content: (file: number) => Content
}

/** What is left of a content that was not synced: the content of before, nothing, a half, zeros, or all. */
export type Content = 'before' | 'none' | 'half' | 'zeros' | 'all'

/** A folder, and what is certain of it. At first all of it is. */
export class Disk {
  readonly #folder: string
  readonly #top: FolderNode
  readonly #hasLog: boolean
  #pending: Step[] = []

  constructor(folder: string, keepsIn: string, hasLog = false) {
    this.#folder = folder
    this.#hasLog = hasLog
    fs.rmSync(keepsIn, { recursive: true, force: true })
    fs.mkdirSync(keepsIn)
    const read = (at: string): FolderNode => {
      const names = fs.readdirSync(at, { withFileTypes: true }).map((entry): [string, Node] => {
        const inside = path.join(at, entry.name)
        if (entry.isDirectory()) return [entry.name, read(inside)]
        const text = fs.readFileSync(inside, 'utf8')
        const kept = keep(inside, fs.lstatSync(inside).ino, keepsIn)
        return [entry.name, { kind: 'file', kept, text, certain: text }]
      })
      return { kind: 'folder', names: new Map(names), certain: new Map(names) }
    }
    this.#top = read(folder)
  }

  /** The number of changes of names that are not certain. */
  get pending(): number {
    return this.#pending.length
  }

  apply(change: DiskChange): void {
    if (!`${change.path}${path.sep}`.startsWith(this.#folder + path.sep)) return
    switch (change.kind) {
      case 'file': {
        const { folder, name } = this.#place(change.path)
        const { kept, text } = change
        const node = folder.names.get(name)
        if (node?.kind === 'file' && node.kept === kept) node.text = text
        else this.#change([{ folder, name, node: { kind: 'file', kept, text, certain: undefined } }])
        return
      }
      case 'folder': {
        const { folder, name } = this.#place(change.path)
        if (!folder.names.has(name)) this.#change([{ folder, name, node: newFolder() }])
        return
      }
      case 'gone':
        this.#change([{ ...this.#place(change.path), node: undefined }])
        return
      case 'link':
        this.#change([{ ...this.#place(change.to), node: this.#nodeAt(change.path) }])
        return
      case 'rename': {
        const node = this.#nodeAt(change.path)
        this.#change([
          { ...this.#place(change.path), node: undefined },
          { ...this.#place(change.to), node },
        ])
        return
      }
      case 'sync': {
        const node = this.#nodeAt(change.path)
        if (node?.kind === 'file') {
          node.certain = node.text
          if (this.#hasLog) this.#confirm(() => true)
        } else if (node !== undefined) this.#sync(node)
      }
    }
  }

  /** What is left after a power cut. */
  cut(fate: Fate): Remains {
    const names = new Map<FolderNode, Map<string, Node>>()
    const namesOf = (folder: FolderNode): Map<string, Node> => {
      const found = names.get(folder) ?? new Map(folder.certain)
      names.set(folder, found)
      return found
    }
    const lost: string[] = []
    for (const [index, step] of this.#pending.entries()) {
      if (fate.name(index, this.#pending.length)) for (const one of step) put(namesOf(one.folder), one.name, one.node)
      else lost.push(step.map(({ name, node }) => `${node === undefined ? '-' : '+'}${name}`).join(' '))
    }
    const contents = new Map<FileNode, string>()
    const texts: Record<string, string> = {}
    const files: { readonly name: string; readonly node: FileNode }[] = []
    const walk = (folder: FolderNode, below: string): void => {
      for (const [name, node] of namesOf(folder)) {
        const relative = `${below}${name}`
        if (node.kind === 'folder') {
          texts[`${relative}/`] = ''
          walk(node, `${relative}/`)
          continue
        }
        if (!contents.has(node)) {
          const content = node.certain === node.text ? 'all' : fate.content(contents.size)
          contents.set(node, contentOf(node, content))
          if (contents.get(node) !== node.text) lost.push(`content of ${name} (${content})`)
        }
        texts[relative] = contents.get(node) as string
        files.push({ name: relative, node })
      }
    }
    walk(this.#top, '')
    return { texts, lost: lost.join(', '), restore: () => this.#restore(texts, files) }
  }

  #restore(texts: Texts, files: readonly { readonly name: string; readonly node: FileNode }[]): void {
    fs.rmSync(this.#folder, { recursive: true, force: true })
    fs.mkdirSync(this.#folder)
    for (const name of Object.keys(texts)) if (name.endsWith('/')) fs.mkdirSync(path.join(this.#folder, name))
    for (const { name, node } of files) {
      // In place, so that inode and birth stay.
      fs.writeFileSync(node.kept, texts[name] as string)
      fs.linkSync(node.kept, path.join(this.#folder, name))
    }
  }

  #change(step: Step): void {
    for (const { folder, name, node } of step) put(folder.names, name, node)
    this.#pending.push(step)
  }

  #sync(folder: FolderNode): void {
    this.#confirm((step) => step.some((one) => one.folder === folder))
  }

  #confirm(isMeant: (step: Step) => boolean): void {
    for (const one of this.#pending.filter(isMeant).flat()) put(one.folder.certain, one.name, one.node)
    this.#pending = this.#pending.filter((step) => !isMeant(step))
  }

  #place(at: string): { readonly folder: FolderNode; readonly name: string } {
    const parts = path.relative(this.#folder, at).split(path.sep)
    const name = parts.pop() as string
    let folder = this.#top
    for (const part of parts) {
      // `mkdir -p` makes several folders in one call.
      if (!folder.names.has(part)) {
        this.#change([{ folder, name: part, node: newFolder() }])
      }
      folder = folder.names.get(part) as FolderNode
    }
    return { folder, name }
  }

  #nodeAt(at: string): Node | undefined {
    if (at === this.#folder) return this.#top
    const { folder, name } = this.#place(at)
    return folder.names.get(name)
  }
}

function put(names: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) names.delete(name)
  else names.set(name, node)
}

function contentOf({ text, certain = '' }: FileNode, content: Content): string {
  // A byte that was changed in its place is there or not; a text that was appended may be there in part.
  const kept = text.startsWith(certain) ? certain : ''
  const isInPlace = kept !== certain && text.length === certain.length
  if (content === 'all') return text
  if (content === 'before' || isInPlace) return certain
  const length = text.length - kept.length
  return {
    none: kept,
    half: text.slice(0, kept.length + Math.floor(length / 2)),
    zeros: kept + '\0'.repeat(length),
  }[content]
}
