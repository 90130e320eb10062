/** Helpers for scripts of the model: what an agent says and does, and how it answers a block. */

import { call, commandsIn, NEVER, say, waiting, whenHeld } from '../agents.ts'
import type { Reply, Script, ToolCall, Turn } from '../model.ts'

export { call, commandsIn, NEVER, say, waiting }

export function bash(command: string): Reply {
  return call('Bash', { command })
}

export function inBackground(command: string, description: string): Reply {
  return call('Bash', { command, description, run_in_background: true })
}

export function useSkill(skill: string): Reply {
  return call('Skill', { skill, args: 'now' })
}

/** A turn in which the agent hands work to sub-agents, one for each name, all at once, and waits for their reports. */
export function delegate(...actors: string[]): Reply {
  return { tools: actors.map((actor) => agentCall(actor, { run_in_background: false })) }
}

export function delegateInBackground(actor: string): Reply {
  return { tools: [agentCall(actor, { run_in_background: true })] }
}

/** A call of the tool that starts a sub-agent; its prompt contains the word by which the model recognizes the actor. */
export function agentCall(actor: string, further: Record<string, unknown>): ToolCall {
  const input = { description: `work of ${actor}`, subagent_type: 'general-purpose', prompt: `ACTOR:${actor} go` }
  return { name: 'Agent', input: { ...input, ...further } }
}

/** The report of a sub-agent that its caller got, in the result of the tool that started it. */
export function reportIn(toolResult: string | undefined): string | undefined {
  const framed = /The report follows:\n([\s\S]*?)\nagentId: /.exec(toolResult ?? '')?.[1]
  return framed?.replace(/^ {2}/gm, '')
}

const FEEDBACK = 'Stop hook feedback:\n'

export function reasonsIn(turn: Turn | undefined): string[] {
  return (turn?.userTexts ?? [])
    .filter((text) => text.startsWith(FEEDBACK))
    .map((text) => text.slice(FEEDBACK.length).trimEnd())
}

/** The prompts of workflows that this agent got so far, as they reached the model: the context of a block. */
export function promptsIn(turn: Turn | undefined): string[] {
  return (turn?.reminders ?? []).flatMap((text) => {
    const found = /^Stop hook additional context: ([\s\S]*)/m.exec(text.trim())
    return found === null ? [] : [String(found[1])]
  })
}

/**
 * The script of an agent that says its lines. When it is blocked, it follows the reason word for word and repeats its last
 * words.
 */
export function dutiful(...lines: readonly Reply[]): Script {
  return whenHeld(reasonsIn, lines, (reason, lastWords) => [bash(commandsIn(reason).join(' && ')), lastWords])
}

/** The script of an agent that says its lines and only repeats its last words, however often it is blocked. */
export function stubborn(...lines: readonly Reply[]): Script {
  return whenHeld(reasonsIn, lines, (_reason, lastWords) => [lastWords])
}
