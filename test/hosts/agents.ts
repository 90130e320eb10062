/** Words for writing scripts of the model on any host: what an agent says, and how it takes being held. */

import type { Reply, Script, Turn } from './model.ts'

/** The agent says something. Without a tool call in the same turn it stops. */
export function say(text: string): Reply {
  return { text }
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
 * An agent that says its lines and, each time it is held, does what `answer` says. `reasonsIn` finds in a turn why it
 * has been held so far, as the host tells it.
 */
export function whenHeld(
  reasonsIn: (turn: Turn) => readonly string[],
  lines: readonly Reply[],
  answer: (reason: string, lastWords: Reply) => Reply[],
): Script {
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
