import type { HostClient, ToolOutput } from '../../hosts/opencode/api.ts'
import { ownText, readLastTurn, sendPrompt } from '../../hosts/opencode/conversation.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { Guard } from './guard.ts'

/** For `opencode serve` and the terminal interface. */
export function createIdleGuard(client: HostClient, sessions: Sessions, guard: Guard) {
  /** Leaves errors, interruptions, refused tools and compactions to the user. */
  return async (agent: Agent): Promise<void> => {
    const { session } = agent
    const { manner, answer, ended } = await readLastTurn(client, session)
    if (ended !== 'well' || manner === undefined || answer === undefined) return
    const facts = sessions.of(session)
    // After an error OpenCode sends the idle event twice (1.18.34).
    if (facts.judged === answer.id) return
    facts.judged = answer.id
    const { reason } = await guard.stop(agent, await sessions.countBusyBelow(session))
    if (reason !== undefined) await sendPrompt(client, session, { ...manner, parts: [ownText(reason)] })
  }
}

/** In the output of a `task` (1.18.34). */
const TASK_RESULT = /(<task_result>\n)([\s\S]*)(\n<\/task_result>)/

/** OpenCode 1.18.34 waits for the plugin before the caller sees a `task` result, but not when a sub-agent is idle. */
export function createSubAgentGuard(client: HostClient, sessions: Sessions, guard: Guard) {
  async function taskEnded(session: string, output: ToolOutput): Promise<void> {
    const agent = await sessions.identify(session)
    const found = TASK_RESULT.exec(output.output)
    const first = found?.[2] ?? output.output
    const { text, notices } = await hold(agent, first)
    const report = [text, ...notices].filter((part) => part !== '').join('\n\n')
    if (report === first) return
    output.output =
      found === null ? report : output.output.replace(TASK_RESULT, (_all, open, _text, close) => open + report + close)
  }

  /** Joins the texts of a blocked sub-agent, because its last one is often "Done.". */
  async function hold(agent: Agent, text: string, ...unwanted: AbortSignal[]) {
    const { session } = agent
    const notices: string[] = []
    let report = text
    const interruption = new AbortController()
    sessions.of(session).interruption = interruption
    const signal = AbortSignal.any([interruption.signal, ...unwanted])
    for (;;) {
      const stop = await guard.stop(agent, 0)
      notices.push(...stop.notices)
      if (stop.reason === undefined) break
      const { manner } = await readLastTurn(client, session)
      if (manner === undefined) break
      const answer = await sessions.prompt(session, stop.reason, manner, signal)
      if (answer.kind !== 'answered') break
      report = joinReports(report, answer.text)
    }
    return { text: report, notices }
  }

  return { taskEnded, hold }
}

export type SubAgentGuard = ReturnType<typeof createSubAgentGuard>

export function joinReports(earlier: string, later: string): string {
  const [one, other] = [earlier.trim(), later.trim()]
  if (one === '' || other.includes(one)) return later
  return other === '' || one.includes(other) ? earlier : `${one}\n\n${other}`
}
