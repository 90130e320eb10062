import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sleep } from '../disk/age.ts'
import { kindIfSeen } from '../disk/file-facts.ts'
import { HostRefusal, need } from '../hosts/opencode/api.ts'
import type { Manner, MessageLocation, SessionFacts } from '../hosts/opencode/conversation.ts'
import { isBusy, ownText, readLastTurn, SessionTree, sendPrompt } from '../hosts/opencode/conversation.ts'
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
  /** Where its shells started. */
  folders?: Set<string>
  /** OpenCode reports no change of folder (`project/command-context.ts`). */
  rootsFile?: string | undefined
  /** The id of its last answer that was judged. */
  judged?: string
  isBackground?: true
  step?: Step | undefined
  isPhase?: true
  /** Aborted when its turn may have ended. */
  bell?: AbortController
  deletion?: AbortController
  /** For the prompts to a sub-agent whose report is withheld. */
  interruption?: AbortController
}

export const CONVERSATION_DELETED = 'the conversation was deleted in OpenCode'

const LOOK_AGAIN_MS = 2_000

/** OpenCode writes the end of the turn after the idle event. */
const LOOK_SOON_MS = 50

const IDLE_LIMIT_MS = 10_000

const NOT_ANSWERED = 'the session became idle without an answer'

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
    // The system may empty its temporary folder while a server runs.
    if (kindIfSeen(facts.rootsFile ?? '') === undefined) facts.rootsFile = attempt(makeRootsFile)
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

  /** OpenCode ends a request after five minutes (1.18.34), so we wait for events. Polling covers missed ones. */
  async prompt(session: string, text: string, manner: Manner, signal: AbortSignal) {
    const before = (await readLastTurn(this.client, session)).answer?.id
    const facts = this.of(session)
    facts.bell = new AbortController()
    const wake = (): void => facts.bell?.abort()
    signal.addEventListener('abort', wake)
    try {
      await sendPrompt(this.client, session, { ...manner, parts: [ownText(text)] })
      let idle = false
      let idleSince: number | undefined
      for (;;) {
        const { signal: rung } = facts.bell
        await sleep(idle ? LOOK_SOON_MS : LOOK_AGAIN_MS, rung)
        facts.bell = new AbortController()
        idle ||= rung.aborted
        // A deleted session may stay busy forever, and sends no idle event (1.18.34).
        if (this.known.get(session) !== facts) throw new HostRefusal('session.promptAsync', { name: 'NotFoundError' })
        if (signal.aborted) {
          await this.client.session.abort({ path: { id: session } })
          return { kind: 'given-up' } as const
        }
        // A session stays busy for a moment after its idle event (1.18.34).
        const works = await isBusy(this.client, session)
        if (works && !idle) continue
        const { answer, ended, error } = await readLastTurn(this.client, session)
        const isNew = answer !== undefined && answer.id !== before
        // The end of a background sub-agent wakes it. A turn that failed ends the run.
        const willBeWoken = error === undefined && (await this.countBusyBelow(session)) > 0
        if (isNew && ended === 'well' && !willBeWoken) return { kind: 'answered', text: answer.text } as const
        if (works || willBeWoken) {
          // The idle event belonged to an earlier turn.
          idle = false
          idleSince = undefined
          continue
        }
        if (isNew && ended === 'failed') return { kind: 'failed', why: error ?? NOT_ANSWERED } as const
        idleSince ??= Date.now()
        if (Date.now() - idleSince > IDLE_LIMIT_MS) return { kind: 'failed', why: NOT_ANSWERED } as const
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  interruptBelow(session: string): void {
    for (const [id, { interruption }] of this.known) if (this.isBelow(id, session)) interruption?.abort()
  }

  ring(session: string): void {
    this.known.get(session)?.bell?.abort()
  }

  /** OpenCode does not interrupt the tool calls of a deleted conversation (1.18.34). */
  deletionOf(session: string): AbortSignal {
    const facts = this.of(session)
    facts.deletion ??= new AbortController()
    return facts.deletion.signal
  }

  protected override forget(session: string): void {
    const facts = this.of(session)
    removeRootsFile(facts)
    facts.deletion?.abort(CONVERSATION_DELETED)
    facts.bell?.abort()
    super.forget(session)
  }

  dispose(): void {
    for (const facts of this.known.values()) removeRootsFile(facts)
  }
}

function removeRootsFile({ rootsFile }: Facts): void {
  // The system empties its temporary folder anyway.
  if (rootsFile !== undefined) attempt(() => rmSync(path.dirname(rootsFile), { recursive: true }))
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
