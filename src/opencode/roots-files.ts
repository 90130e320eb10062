import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { tryRemoveFile } from '../disk/write.ts'
import { notedRoots } from '../project/roots-file.ts'

/**
 * The files in which commands note their roots (`project/roots-file.ts`), one for each conversation, in a temporary folder
 * of this instance. OpenCode says in which folder a shell starts, but not which folder its command changes to.
 */
export class RootsFiles {
  readonly #files = new Map<string, Promise<string | undefined>>()
  /** The files that exist. */
  readonly #known = new Map<string, string>()
  #folder: Promise<string> | undefined
  #made = 0

  /** The file of a conversation, made on first use; undefined where it cannot be made. */
  fileOf(root: string): Promise<string | undefined> {
    const file = this.#files.get(root) ?? this.#make(root)
    this.#files.set(root, file)
    return file
  }

  async #make(root: string): Promise<string | undefined> {
    try {
      this.#folder ??= mkdtemp(path.join(os.tmpdir(), 'postflight-roots-'))
      this.#made += 1
      const file = path.join(await this.#folder, `${this.#made}`)
      await writeFile(file, '', { flag: 'wx', mode: 0o600 })
      this.#known.set(root, file)
      return file
    } catch {
      return undefined
    }
  }

  /** The roots in which the conversation's commands changed markers. */
  rootsOf(root: string): readonly string[] {
    const file = this.#known.get(root)
    return file === undefined ? [] : notedRoots(file)
  }

  /** Forgets a conversation that was deleted. */
  forget(root: string): void {
    const file = this.#known.get(root)
    if (file !== undefined) tryRemoveFile(file)
    this.#known.delete(root)
    this.#files.delete(root)
  }

  /** Removes all files. */
  async remove(): Promise<void> {
    try {
      if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true })
    } catch {
      // The system empties its temporary folder anyway.
    }
    this.#folder = undefined
    this.#known.clear()
    this.#files.clear()
  }
}
