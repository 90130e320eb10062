/** Words for writing scripts of the model on OpenCode: its tools, and how an agent takes being held by the plugin. */

import { commandsIn, say } from '../claude-code/agents.ts'
import type { Reply, Script, Turn } from '../model.ts'

export { say }

/** The agent runs a command in its shell. */
export function bash(command: string, text?: string): Reply {
  return { ...(text !== undefined && { text }), tools: [{ name: 'bash', input: { command, description: 'work' } }] }
}

/** The agent hands work to sub-agents, one for each name, all at once, and waits for their reports. */
export function delegate(...actors: string[]): Reply {
  return { tools: actors.map((actor) => taskCall(actor)) }
}

/** The agent hands work to a sub-agent and goes on without waiting. */
export function delegateInBackground(actor: string): Reply {
  return { tools: [taskCall(actor, { background: true })] }
}

function taskCall(actor: string, further: object = {}) {
  const input = { description: `work of ${actor}`, prompt: `ACTOR:${actor} go`, subagent_type: 'general', ...further }
  return { name: 'task', input }
}

/** What a sub-agent's caller was given as its report. */
export function reportIn(toolResult: string | undefined): string | undefined {
  return /<task_result>\n([\s\S]*)\n<\/task_result>/.exec(toolResult ?? '')?.[1]
}

/** The reasons that this agent has been held for so far, as they reached the model. */
export function reasonsIn(turn: Turn | undefined): string[] {
  return (turn?.userTexts ?? []).filter((text) => /^This is continuation \d of 3/m.test(text))
}

/**
 * An agent that says its lines. When it is held it does what the reason tells it, word for word, and says its last
 * words, or what it was given to say then.
 */
export function dutiful(lines: readonly Reply[], afterwards?: Reply): Script {
  return whenHeld(lines, (reason, lastWords) => [bash(commandsIn(reason).join(' && ')), afterwards ?? lastWords])
}

/** An agent that says its lines and, however often it is held, only repeats its last words. */
export function stubborn(...lines: readonly Reply[]): Script {
  return whenHeld(lines, (_reason, lastWords) => [lastWords])
}

function whenHeld(lines: readonly Reply[], answer: (reason: string, lastWords: Reply) => Reply[]): Script {
  const left = [...lines]
  let lastWords: Reply = say('')
  let held = 0
  return (turn) => {
    const reasons = reasonsIn(turn)
    const reason = reasons.at(-1)
    if (reason !== undefined && reasons.length > held) left.unshift(...answer(reason, lastWords))
    held = reasons.length
    const reply = left.shift()
    if (reply !== undefined && (reply.tools ?? []).length === 0) lastWords = reply
    return reply
  }
}

/** The same script, but its turn number `index` is answered only when `event` has happened. */
export function waiting(index: number, event: (turn: Turn) => Promise<unknown>, script: Script): Script {
  return async (turn) => {
    if (turn.index === index) await event(turn)
    return typeof script === 'function' ? script(turn) : script[turn.index]
  }
}
