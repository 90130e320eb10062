import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { tryRemoveFile } from '../disk/write.ts'
import { MAIN_AGENT } from '../hosts/host.ts'
import { type HostClient, need, type SessionInfo } from '../hosts/opencode/api.ts'
import { notedRoots, ROOTS_FILE_VARIABLE } from '../project/roots-file.ts'

/**
 * Identifies agents, and tells their commands who they are. The host session of every agent is the conversation at the root, whatever session the agent runs in;
 * the agent is `main`, or the id of its own session. So a sub-agent's stop reads as `SubagentStop` of that agent, as on
 * every other host, and the same rules apply.
 */

export interface Agent {
  readonly session: string
  /** The session at the root: the marker's `cc_session_id`. */
  readonly root: string
  /** `main`, or its own session: the marker's `agent_id`. */
  readonly agent: string
  /** OpenCode's name of the agent, such as `general`; undefined until a message names it. */
  readonly type: string | undefined
}

/** The largest number of shell folders of one conversation that are searched. */
const MAX_FOLDERS = 20

/** The largest depth of sub-agents: the bound of every walk to the root. */
const MAX_DEPTH = 50

export class Sessions {
  readonly #client: HostClient
  readonly #rootsFiles: RootsFiles
  readonly #parents = new Map<string, string | undefined>()
  readonly #types = new Map<string, string>()
  readonly #births = new Map<string, number>()
  readonly #folders = new Map<string, Set<string>>()
  readonly #prompts = new Map<string, string>()

  constructor(client: HostClient, rootsFiles: RootsFiles) {
    this.#client = client
    this.#rootsFiles = rootsFiles
  }

  note({ id, parentID, time }: SessionInfo): void {
    this.#parents.set(id, parentID)
    if (time !== undefined) this.#births.set(id, time.created)
  }

  /** The time at which a session was created (ms since the epoch); undefined if it is unknown. */
  bornMs(session: string): number | undefined {
    return this.#births.get(session)
  }

  /** Notes a message to which a session answers and which the plugin did not write. */
  notePrompt(session: string, message: string): void {
    this.#prompts.set(session, message)
  }

  /** The last message to a session that the plugin did not write; undefined if none came since this process began. */
  promptOf(session: string): string | undefined {
    return this.#prompts.get(session)
  }

  noteType(session: string, type: string): void {
    this.#types.set(session, type)
  }

  /** Notes a folder in which a shell of the conversation ran: its markers may lie there. */
  noteFolder(root: string, folder: string): void {
    const folders = this.#folders.get(root) ?? new Set()
    if (folders.size < MAX_FOLDERS) folders.add(folder)
    this.#folders.set(root, folders)
  }

  /** The folders in which the shells of a conversation ran, and the roots that their commands named. */
  foldersOf(root: string): readonly string[] {
    return [...(this.#folders.get(root) ?? []), ...this.#rootsFiles.rootsOf(root).slice(0, MAX_FOLDERS)]
  }

  forget(session: string): void {
    for (const known of [this.#parents, this.#types, this.#births, this.#folders, this.#prompts]) known.delete(session)
    this.#rootsFiles.forget(session)
  }

  /** The agent of a session. @throws {Error} when OpenCode does not answer. */
  async identify(session: string): Promise<Agent> {
    let root = session
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const parent = await this.#parentOf(root)
      if (parent === undefined) break
      root = parent
    }
    return { session, root, agent: root === session ? MAIN_AGENT : session, type: this.#types.get(session) }
  }

  async #parentOf(session: string): Promise<string | undefined> {
    // A session that was created before this process has sent no event.
    if (!this.#parents.has(session)) {
      this.note(need(await this.#client.session.get({ path: { id: session } }), 'session.get'))
    }
    return this.#parents.get(session)
  }

  /** The number of busy sessions below one. @throws {Error} when OpenCode does not answer. */
  async countBusyBelow(session: string): Promise<number> {
    const status = need(await this.#client.session.status(), 'session.status')
    return Object.entries(status).filter(([id, { type }]) => type !== 'idle' && this.isBelow(id, session)).length
  }

  /** True when `ancestor` is known to be above `session`. */
  isBelow(session: string, ancestor: string): boolean {
    let current: string | undefined = session
    for (let depth = 0; depth < MAX_DEPTH && current !== undefined; depth++) {
      current = this.#parents.get(current)
      if (current === ancestor) return true
    }
    return false
  }
}

/**
 * The files in which commands note their roots (`project/roots-file.ts`), one for each conversation, in a temporary folder
 * of this instance. OpenCode says in which folder a shell starts, but not which folder its command changes to.
 */
export class RootsFiles {
  readonly #files = new Map<string, Promise<string | undefined>>()
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

  forget(root: string): void {
    const file = this.#known.get(root)
    if (file !== undefined) tryRemoveFile(file)
    this.#known.delete(root)
    this.#files.delete(root)
  }

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

/**
 * Puts the session, the agent and the file for roots into the environment of the agent's commands, so that
 * `postflight create` knows the owner: OpenCode does not do this itself.
 */
export function tellShell(env: Record<string, string>, agent: Agent, rootsFile: string | undefined): void {
  env.POSTFLIGHT_HOST_SESSION = agent.root
  env.POSTFLIGHT_AGENT = agent.agent
  if (rootsFile !== undefined) env[ROOTS_FILE_VARIABLE] = rootsFile
}
