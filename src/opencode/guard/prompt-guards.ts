import type { HostClient, ToolOutput } from '../../hosts/opencode/api.ts'
import { ownText, readLastTurn, sendPrompt, type Turns } from '../../hosts/opencode/conversation.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { Guard } from './guard.ts'

/** For `opencode serve` and the terminal interface. */
export class IdleGuard {
  readonly #client: HostClient
  readonly #sessions: Sessions
  readonly #guard: Guard
  /** After an error OpenCode sends the idle event twice (1.18.34). */
  readonly #seen = new Map<string, string>()

  constructor(client: HostClient, sessions: Sessions, guard: Guard) {
    this.#client = client
    this.#sessions = sessions
    this.#guard = guard
  }

  /** Leaves errors, interruptions, refused tools and compactions to the user. */
  async answer(agent: Agent): Promise<void> {
    const { session } = agent
    const { manner, answer, ended } = await readLastTurn(this.#client, session)
    if (ended !== 'well' || manner === undefined || answer === undefined) return
    if (this.#seen.get(session) === answer.id) return
    this.#seen.set(session, answer.id)
    const { reason } = await this.#guard.stop(agent, await this.#sessions.countBusyBelow(session))
    if (reason !== undefined) await sendPrompt(this.#client, session, { ...manner, parts: [ownText(reason)] })
  }

  forget(session: string): void {
    this.#seen.delete(session)
  }
}

/** In the output of a `task` (1.18.34). */
const TASK_RESULT = /(<task_result>\n)([\s\S]*)(\n<\/task_result>)/

interface Report {
  readonly text: string
  readonly notices: readonly string[]
}

/**
 * OpenCode 1.18.34 waits for the plugin before the caller sees a `task` result, but not for a prompt on the sub-agent's
 * idle event.
 */
export class SubAgentGuard {
  readonly #client: HostClient
  readonly #sessions: Sessions
  readonly #guard: Guard
  readonly #turns: Turns
  readonly #held = new Set<string>()
  readonly #interrupted = new Set<string>()

  constructor(client: HostClient, sessions: Sessions, guard: Guard, turns: Turns) {
    this.#client = client
    this.#sessions = sessions
    this.#guard = guard
    this.#turns = turns
  }

  async taskEnded(session: string, output: ToolOutput): Promise<void> {
    const agent = await this.#sessions.identify(session)
    const found = TASK_RESULT.exec(output.output)
    const first = found?.[2] ?? output.output
    const { text, notices } = await this.hold(agent, first)
    const report = [text, ...notices].filter((part) => part !== '').join('\n\n')
    if (report === first) return
    output.output =
      found === null ? report : output.output.replace(TASK_RESULT, (_all, open, _text, close) => open + report + close)
  }

  /** Joins the texts of a blocked sub-agent, because its last one is often "Done.". */
  async hold(agent: Agent, text: string): Promise<Report> {
    const { session } = agent
    const notices: string[] = []
    let report = text
    this.#held.add(session)
    try {
      for (;;) {
        const stop = await this.#guard.stop(agent, 0)
        notices.push(...stop.notices)
        if (stop.reason === undefined) break
        const { manner } = await readLastTurn(this.#client, session)
        if (manner === undefined) break
        const answer = await this.#turns.prompt(session, stop.reason, manner, () => this.#interrupted.has(session))
        if (answer.kind !== 'answered') break
        report = joinReports(report, answer.text)
      }
    } finally {
      this.#held.delete(session)
      this.#interrupted.delete(session)
    }
    return { text: report, notices }
  }

  interrupted(session: string): void {
    for (const value of this.#held) {
      if (!this.#sessions.isBelow(value, session)) continue
      this.#interrupted.add(value)
      this.#turns.ring(value)
    }
  }
}

export function joinReports(earlier: string, later: string): string {
  const [one, other] = [earlier.trim(), later.trim()]
  if (one === '' || other.includes(one)) return later
  return other === '' || one.includes(other) ? earlier : `${one}\n\n${other}`
}
