import fs from 'node:fs'
import path from 'node:path'
import { makeFolders } from '../../disk/folders.ts'
import { sha256 } from '../../disk/ids.ts'
import { tryRemoveFile } from '../../disk/write.ts'
import { attempt, type Environment } from '../../kernel/values.ts'
import { stateFolder } from '../../project/home-folder.ts'

const TOUCH_EVERY_MS = 2_000
/** Later, the id may be another process's. */
const SILENT_MS = 15_000

/** Several processes of OpenCode can open one conversation (1.18.34): each notes its id for the runs that it drives. */
export class DrivenRuns {
  private readonly environment: Environment
  private readonly here = new Map<string, NodeJS.Timeout>()

  constructor(environment: Environment) {
    this.environment = environment
  }

  has(folder: string, session: string | undefined): boolean {
    return this.here.has(folder) || attempt(() => isAlive(this.fileOf(folder, session)), false)
  }

  add(folder: string, session: string): void {
    const note = (): void => attempt(() => fs.writeFileSync(this.fileOf(folder, session), String(process.pid)))
    attempt(() => makeFolders(path.dirname(this.fileOf(folder, session))))
    note()
    this.here.set(folder, setInterval(note, TOUCH_EVERY_MS))
  }

  delete(folder: string, session: string): void {
    clearInterval(this.here.get(folder))
    this.here.delete(folder)
    attempt(() => tryRemoveFile(this.fileOf(folder, session)))
  }

  private fileOf(folder: string, session: string | undefined): string {
    return path.join(stateFolder(this.environment), 'driven', sha256(JSON.stringify([folder, session])))
  }
}

/** False, or throws, for a process that was killed. */
function isAlive(file: string): boolean {
  const isFresh = Math.abs(Date.now() - fs.statSync(file).mtimeMs) <= SILENT_MS
  return isFresh && process.kill(Number(fs.readFileSync(file, 'utf8')), 0)
}
