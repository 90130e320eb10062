/** Helpers for scripts of the model on any host: an agent's lines, and its answer to a block. */

import type { Reply, Script, Turn } from './model.ts'

/** The place in the first line of a workflow's prompt, for a pattern: its phase, its step if it has one, and its attempt. */
export const PROMPT_PLACE = String.raw`phase "(\w+)"(?:, step (\d+) of \d+(?:: .*)?)?, attempt (\d+) of`

/** The place of a workflow's prompt as text: `plan 1`, `execute step 2 1`; undefined for other texts. */
export function promptPlace(text: string, workflow: string, flags = ''): string | undefined {
  const found = new RegExp(`^Workflow "${workflow}".*${PROMPT_PLACE}`, flags).exec(text)
  if (found === null) return undefined
  const [, phase, step, attempt] = found
  return `${phase}${step === undefined ? '' : ` step ${step}`} ${attempt}`
}

/** A turn in which the agent says something. Without a tool call in the same turn it stops. */
export function say(text: string): Reply {
  return { text }
}

export function call(name: string, input: Record<string, unknown>, written?: string): Reply {
  return { tools: [{ name, input, ...(written !== undefined && { written }) }] }
}

/** The commands that a reason tells the agent to run: one for each remaining step, then `clear`. */
export function commandsIn(reason: string): string[] {
  const tick = /^Tick each one when it is done: (.+) <number>$/m.exec(reason)?.[1]
  const steps = [...reason.matchAll(/^ {2}(\d+)\. /gm)].map((found) => `${tick} ${found[1]}`)
  const clear = /^When everything is done, clear the marker: (.+)$/m.exec(reason)?.[1]
  if (clear === undefined) throw new Error(`the reason names no command that clears the marker:\n${reason}`)
  return [...steps, clear]
}

/** A turn, or what makes one from the result of the tool before. */
export type Line = Reply | ((lastToolResult: string) => Reply)

/**
 * The script of an agent that says its lines and answers each block with `answer`. `reasonsIn` finds in a turn the reasons
 * of its blocks so far, as the host shows them, of which `held` were there before.
 */
export function whenHeld(
  reasonsIn: (turn: Turn) => readonly string[],
  lines: readonly Line[],
  answer: (reason: string, lastWords: Reply) => readonly Line[],
  held = 0,
): Script {
  const left = [...lines]
  let seen = held
  let lastWords: Reply = say('')
  return (turn) => {
    const reasons = reasonsIn(turn)
    const reason = reasons.at(-1)
    if (reason !== undefined && reasons.length > seen) left.unshift(...answer(reason, lastWords))
    seen = reasons.length
    const line = left.shift()
    const reply = typeof line === 'function' ? line(turn.lastToolResult ?? '') : line
    if (reply !== undefined && (reply.tools ?? []).length === 0) lastWords = reply
    return reply
  }
}

/** The same script, whose turn number `index` waits for `event`. */
export function waiting(index: number, event: (turn: Turn) => Promise<unknown>, script: Script): Script {
  return async (turn) => {
    if (turn.index === index) await event(turn)
    return answerOf(script, turn)
  }
}

export function answerOf(script: Script, turn: Turn): ReturnType<Extract<Script, (turn: Turn) => unknown>> {
  return typeof script === 'function' ? script(turn) : script[turn.index]
}

export const NEVER = new Promise<never>(() => {})
