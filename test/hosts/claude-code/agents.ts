/** Words for writing scripts of the model: what an agent says and does, and how it takes being held by the guard. */

import type { Reply, Script, ToolCall, Turn } from '../model.ts'

/** The agent says something. Without a tool call in the same turn it stops. */
export function say(text: string): Reply {
  return { text }
}

/** The agent runs a command in its shell. */
export function bash(command: string): Reply {
  return { tools: [{ name: 'Bash', input: { command } }] }
}

/** The agent uses a skill of the project. */
export function useSkill(skill: string): Reply {
  return { tools: [{ name: 'Skill', input: { skill, args: 'now' } }] }
}

/** The agent hands work to sub-agents, one for each name, all at once, and waits for their reports. */
export function delegate(...actors: string[]): Reply {
  return { tools: actors.map((actor) => agentCall(actor, { run_in_background: false })) }
}

/** The agent hands work to a sub-agent and goes on without waiting. */
export function delegateInBackground(actor: string): Reply {
  return { tools: [agentCall(actor, { run_in_background: true })] }
}

/** A call of the tool that starts a sub-agent; its prompt holds the word by which the model knows the actor. */
export function agentCall(actor: string, further: Record<string, unknown>): ToolCall {
  const input = { description: `work of ${actor}`, subagent_type: 'general-purpose', prompt: `ACTOR:${actor} go` }
  return { name: 'Agent', input: { ...input, ...further } }
}

/** What a sub-agent's caller was given as its report, in the result of the tool that started it. */
export function reportIn(toolResult: string | undefined): string | undefined {
  const framed = /The report follows:\n([\s\S]*?)\nagentId: /.exec(toolResult ?? '')?.[1]
  return framed?.replace(/^ {2}/gm, '')
}

const FEEDBACK = 'Stop hook feedback:\n'

/** The reasons that this agent has been held for so far, as they reached the model. */
export function reasonsIn(turn: Turn | undefined): string[] {
  return (turn?.userTexts ?? [])
    .filter((text) => text.startsWith(FEEDBACK))
    .map((text) => text.slice(FEEDBACK.length).trimEnd())
}

/** The commands that a reason tells the agent to run: one for each step that remains, then the one that clears. */
export function commandsIn(reason: string): string[] {
  const tick = /^Tick each one when it is done: (.+) <number>$/m.exec(reason)?.[1]
  const steps = [...reason.matchAll(/^ {2}(\d+)\. /gm)].map((found) => `${tick} ${found[1]}`)
  const clear = /^When everything is done, clear the marker: (.+)$/m.exec(reason)?.[1]
  if (clear === undefined) throw new Error(`the reason names no command that clears the marker:\n${reason}`)
  return [...steps, clear]
}

/**
 * An agent that says its lines. When it is held it does what the reason tells it, word for word, and repeats its last
 * words.
 */
export function dutiful(...lines: readonly Reply[]): Script {
  return whenHeld(lines, (reason, lastWords) => [bash(commandsIn(reason).join(' && ')), lastWords])
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
