import fs from 'node:fs'
import path from 'node:path'
import { isTouched, TOUCH_EVERY_MS } from '../../disk/age.ts'
import { makeFolders } from '../../disk/folders.ts'
import { sha256 } from '../../disk/ids.ts'
import { tryRemoveFile } from '../../disk/write.ts'
import { attempt, type Environment } from '../../kernel/values.ts'
import { stateFolder } from '../../project/home-folder.ts'

/** Several processes of OpenCode can open one conversation (1.18.34): each notes its id for the runs that it drives. */
export class DrivenRuns {
  readonly #environment: Environment
  readonly #here = new Map<string, NodeJS.Timeout>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  has(folder: string, session: string | undefined): boolean {
    return this.#here.has(folder) || attempt(() => isAlive(this.#fileOf(folder, session)), false)
  }

  add(folder: string, session: string): void {
    const note = (): void => attempt(() => fs.writeFileSync(this.#fileOf(folder, session), String(process.pid)))
    attempt(() => makeFolders(path.dirname(this.#fileOf(folder, session))))
    note()
    this.#here.set(folder, setInterval(note, TOUCH_EVERY_MS))
  }

  delete(folder: string, session: string): void {
    clearInterval(this.#here.get(folder))
    this.#here.delete(folder)
    attempt(() => tryRemoveFile(this.#fileOf(folder, session)))
  }

  #fileOf(folder: string, session: string | undefined): string {
    return path.join(stateFolder(this.#environment), 'driven', sha256(JSON.stringify([folder, session])))
  }
}

/** False, or throws, for a process that was killed: later its id may be another's. */
function isAlive(file: string): boolean {
  return isTouched(fs.statSync(file)) && process.kill(Number(fs.readFileSync(file, 'utf8')), 0)
}
