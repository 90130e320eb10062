import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { need } from '../hosts/opencode/api.ts'
import { type MessageLocation, type SessionFacts, SessionTree } from '../hosts/opencode/conversation.ts'
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

/** Of a loop in which stops are blocked (`guard/in-loop.ts`). */
export class Step {
  tools = 0
  provisional: MessageLocation | undefined
  /** Whether the next request is a compaction's, which ends with the last message of the conversation (1.18.34). */
  isCompacting = false
  /** A stop was allowed although a block had been predicted (a full disk): the next prediction would be the same. */
  wasAllowed = false
  /** Empty messages, which are removed once the loop has ended. */
  readonly withdrawn: MessageLocation[] = []
}

interface Facts extends SessionFacts {
  /** Its last message that the plugin did not write. */
  prompt?: string
  /** In which its shells started. */
  folders?: Set<string>
  /** OpenCode reports no change of folder (`project/command-context.ts`). */
  rootsFile?: string | undefined
  isBackground?: true
  step?: Step | undefined
}

export class Sessions extends SessionTree<Facts> {
  noteFolder(root: string, folder: string): void {
    const { folders = new Set() } = this.of(root)
    if (folders.size < MAX_FOLDERS) folders.add(folder)
    this.of(root).folders = folders
  }

  foldersOf(root: string): readonly string[] {
    const { folders = [], rootsFile } = this.of(root)
    const noted = rootsFile === undefined ? [] : notedRoots(rootsFile)
    return [...folders, ...noted.slice(0, MAX_FOLDERS)]
  }

  /** Undefined if it cannot be made. */
  rootsFileOf(root: string): string | undefined {
    const facts = this.of(root)
    facts.rootsFile ??= attempt(makeRootsFile)
    return facts.rootsFile
  }

  async identify(session: string): Promise<Agent> {
    const root = (await this.lineageOf(session)).at(-1) as string
    return { session, root, agent: root === session ? MAIN_AGENT : session, type: this.of(session).agent }
  }

  async countBusyBelow(session: string): Promise<number> {
    const status = need(await this.client.session.status(), 'session.status')
    return Object.entries(status).filter(([id, { type }]) => type !== 'idle' && this.isBelow(id, session)).length
  }

  protected override forget(session: string): void {
    const { rootsFile } = this.of(session)
    // The system empties its temporary folder anyway.
    if (rootsFile !== undefined) attempt(() => rmSync(path.dirname(rootsFile), { recursive: true }))
    super.forget(session)
  }

  dispose(): void {
    for (const session of this.known.keys()) this.forget(session)
  }
}

function makeRootsFile(): string {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'postflight-roots-')), 'roots')
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
  return file
}

/** `postflight create` needs the owner, which OpenCode does not pass. */
export function tellShell(env: Record<string, string>, agent: Agent, rootsFile: string | undefined): void {
  env.POSTFLIGHT_HOST_SESSION = agent.root
  env.POSTFLIGHT_AGENT = agent.agent
  if (rootsFile !== undefined) env[ROOTS_FILE_VARIABLE] = rootsFile
}
