import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { need, type SessionInfo } from '../hosts/opencode/api.ts'
import { SessionTree } from '../hosts/opencode/conversation.ts'
import { MAIN_AGENT } from '../hosts/payload.ts'
import { attempt } from '../kernel/values.ts'
import { notedRoots, ROOTS_FILE_VARIABLE } from '../project/command-context.ts'

/** A sub-agent's stop reads as `SubagentStop` of the root conversation, as on every other host. */

export interface Agent {
  readonly session: string
  /** The marker's `cc_session_id`. */
  readonly root: string
  /** The marker's `agent_id`. */
  readonly agent: string
  readonly type: string | undefined
}

const MAX_FOLDERS = 20

export class Sessions extends SessionTree {
  /** In ms. */
  readonly births = new Map<string, number>()
  /** The last message of each session that the plugin did not write. */
  readonly prompts = new Map<string, string>()
  readonly #folders = new Map<string, Set<string>>()
  /** OpenCode reports the folder in which a shell starts, but not a change of folder (`project/command-context.ts`). */
  readonly #rootsFiles = new Map<string, string>()

  noteFolder(root: string, folder: string): void {
    const folders = this.#folders.get(root) ?? new Set()
    if (folders.size < MAX_FOLDERS) folders.add(folder)
    this.#folders.set(root, folders)
  }

  foldersOf(root: string): readonly string[] {
    const file = this.#rootsFiles.get(root)
    const noted = file === undefined ? [] : notedRoots(file)
    return [...(this.#folders.get(root) ?? []), ...noted.slice(0, MAX_FOLDERS)]
  }

  /** Undefined if it cannot be made. */
  rootsFileOf(root: string): string | undefined {
    return this.#rootsFiles.get(root) ?? attempt(() => this.#makeRootsFile(root))
  }

  #makeRootsFile(root: string): string {
    const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'postflight-roots-')), 'roots')
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
    this.#rootsFiles.set(root, file)
    return file
  }

  async identify(session: string): Promise<Agent> {
    const root = (await this.lineageOf(session)).at(-1) as string
    return { session, root, agent: root === session ? MAIN_AGENT : session, type: this.agentOf(session) }
  }

  async countBusyBelow(session: string): Promise<number> {
    const status = need(await this.client.session.status(), 'session.status')
    return Object.entries(status).filter(([id, { type }]) => type !== 'idle' && this.isBelow(id, session)).length
  }

  protected override note(info: SessionInfo): void {
    super.note(info)
    if (info.time !== undefined) this.births.set(info.id, info.time.created)
  }

  protected override forget(session: string): void {
    super.forget(session)
    this.#removeRootsFile(session)
    for (const known of [this.births, this.#folders, this.prompts]) known.delete(session)
  }

  dispose(): void {
    for (const root of this.#rootsFiles.keys()) this.#removeRootsFile(root)
  }

  #removeRootsFile(root: string): void {
    const file = this.#rootsFiles.get(root)
    // The system empties its temporary folder anyway.
    if (file !== undefined) attempt(() => rmSync(path.dirname(file), { recursive: true }))
    this.#rootsFiles.delete(root)
  }
}

/** `postflight create` needs the owner, which OpenCode does not pass. */
export function tellShell(env: Record<string, string>, agent: Agent, rootsFile: string | undefined): void {
  env.POSTFLIGHT_HOST_SESSION = agent.root
  env.POSTFLIGHT_AGENT = agent.agent
  if (rootsFile !== undefined) env[ROOTS_FILE_VARIABLE] = rootsFile
}
