/** Words for writing scripts of the model on OpenCode: its tools, and how an agent takes being held by the plugin. */

import { commandsIn, say, waiting, whenHeld } from '../agents.ts'
import type { Reply, Script, Turn } from '../model.ts'

export { say, waiting }

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
  return whenHeld(reasonsIn, lines, (reason, lastWords) => [
    bash(commandsIn(reason).join(' && ')),
    afterwards ?? lastWords,
  ])
}

/** An agent that says its lines and, however often it is held, only repeats its last words. */
export function stubborn(...lines: readonly Reply[]): Script {
  return whenHeld(reasonsIn, lines, (_reason, lastWords) => [lastWords])
}
