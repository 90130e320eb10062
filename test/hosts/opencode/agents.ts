/** Helpers for scripts of the model on OpenCode: its tools, and how an agent answers a block. */

import { call, commandsIn, say, waiting, whenHeld } from '../agents.ts'
import type { Reply, Script, Turn } from '../model.ts'

export { call, say, waiting }

export function bash(command: string, text?: string): Reply {
  return { ...(text !== undefined && { text }), tools: [{ name: 'bash', input: { command, description: 'work' } }] }
}

export function read(...names: string[]): Reply {
  return { tools: names.map((name) => ({ name: 'read', input: { filePath: name } })) }
}

/** A turn in which the agent hands work to sub-agents, one for each name, all at once, and waits for their reports. */
export function delegate(...actors: string[]): Reply {
  return { tools: actors.map((actor) => taskCall(actor)) }
}

export function delegateInBackground(actor: string): Reply {
  return { tools: [taskCall(actor, { background: true })] }
}

function taskCall(actor: string, further: object = {}) {
  const input = { description: `work of ${actor}`, prompt: `ACTOR:${actor} go`, subagent_type: 'general', ...further }
  return { name: 'task', input }
}

export function reportIn(toolResult: string | undefined): string | undefined {
  return /<task_result>\n([\s\S]*)\n<\/task_result>/.exec(toolResult ?? '')?.[1]
}

export function reasonsIn(turn: Turn | undefined): string[] {
  return (turn?.userTexts ?? []).filter((text) => /^Blocked stop \d of 3/m.test(text))
}

/**
 * The script of an agent that says its lines. When it is blocked, it follows the reason word for word and says its last
 * words, or other words that the test chose.
 */
export function dutiful(lines: readonly Reply[], afterwards?: Reply): Script {
  return whenHeld(reasonsIn, lines, (reason, lastWords) => [
    bash(commandsIn(reason).join(' && ')),
    afterwards ?? lastWords,
  ])
}

/** The script of an agent that says its lines and only repeats its last words, however often it is blocked. */
export function stubborn(...lines: readonly Reply[]): Script {
  return whenHeld(reasonsIn, lines, (_reason, lastWords) => [lastWords])
}
