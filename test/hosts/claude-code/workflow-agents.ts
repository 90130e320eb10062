/** Helpers for workflows on the real client: an agent that follows prompts, and the state of the run. */

import { PROMPT_PLACE } from '../agents.ts'
import { placeOf, WORK } from '../four-phases.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, reasonsIn, say } from './agents.ts'

export const START = bash('postflight workflow start 7 flow --definition flow.yaml')

/**
 * The script of an agent that says its lines. To each prompt of the hook it answers with `answer`, then it ends its turn.
 * `answered` is the number of blocks that its conversation holds from before.
 */
export function follower(
  lines: readonly Reply[],
  answer: (reason: string, turn: Turn) => readonly Reply[],
  answered = 0,
): Script {
  const left = [...lines]
  let seen = answered
  return (turn: Turn) => {
    const reasons = reasonsIn(turn)
    const reason = reasons.at(-1)
    if (reason !== undefined && reasons.length > seen) left.push(...answer(reason, turn))
    seen = reasons.length
    return left.shift()
  }
}

/** The script of an agent that says its lines, then does the work of each prompt of the four phases. */
export function worker(...lines: readonly Reply[]): Script {
  return follower(lines, (reason) => [replyTo(reason), say('Done.')])
}

function replyTo(reason: string): Reply {
  const work = WORK[placeOf(reason) ?? '']
  return work === undefined ? say('I do not know how') : bash(work)
}

export function attemptsIn(turn: Turn | undefined): string[] {
  return reasonsIn(turn).flatMap((reason) => {
    const found = new RegExp(`^Workflow .* ${PROMPT_PLACE}`).exec(reason)
    return found === null ? [] : [found.slice(1).filter(Boolean).join(' ')]
  })
}
