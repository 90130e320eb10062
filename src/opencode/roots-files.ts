import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { tryRemoveFile } from '../io/fs/write.ts'
import { notedRoots } from '../io/roots-file.ts'

/**
 * The files in which commands note their roots (`io/roots-file.ts`), one for each conversation, in a temporary folder of
 * this instance. OpenCode tells in which folder a shell starts, not where its command goes from there.
 */
export class RootsFiles {
  readonly #files = new Map<string, string>()
  #folder: string | undefined
  #made = 0

  /** The file of a conversation, made on first use; undefined where it cannot be made. */
  fileOf(root: string): string | undefined {
    const known = this.#files.get(root)
    if (known !== undefined) return known
    try {
      this.#folder ??= fs.mkdtempSync(path.join(os.tmpdir(), 'postflight-roots-'))
      this.#made += 1
      const file = path.join(this.#folder, `${this.#made}`)
      fs.writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
      this.#files.set(root, file)
      return file
    } catch {
      return undefined
    }
  }

  /** The roots in which the conversation's commands changed markers. */
  rootsOf(root: string): readonly string[] {
    const file = this.#files.get(root)
    return file === undefined ? [] : notedRoots(file)
  }

  /** Forgets a conversation that was deleted. */
  forget(root: string): void {
    const file = this.#files.get(root)
    if (file !== undefined) tryRemoveFile(file)
    this.#files.delete(root)
  }

  /** Removes all files. */
  remove(): void {
    try {
      if (this.#folder !== undefined) fs.rmSync(this.#folder, { recursive: true, force: true })
    } catch {
      // The system empties its temporary folder.
    }
    this.#folder = undefined
    this.#files.clear()
  }
}
