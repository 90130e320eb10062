import { factory } from '../factory.ts'
import { HOOK_TEXT } from '../hook-texts.ts'
import { KnownSessions } from '../known-sessions.ts'
import { addToResult } from '../tool-result.ts'
import type { PostReadNudgeOptions } from './options.ts'

/** The number of reads between two nudges where the options name none. */
const DEFAULT_EVERY = 5

/**
 * The hooks that remind an agent to delegate after it has read some files. The text is added to the result of a read.
 * Only main conversations are nudged: a sub-agent reads because that is its task.
 */
export const createPostReadNudgeHook = factory(
  'post-read nudge',
  (
    { client },
    { every = DEFAULT_EVERY, agents, text = HOOK_TEXT.postReadNudge }: PostReadNudgeOptions | undefined = {},
  ) => {
    const sessions = new KnownSessions(client)
    const reads = new Map<string, number>()
    return {
      async event({ event }) {
        const deleted = sessions.noteEvent(event)
        if (deleted !== undefined) reads.delete(deleted)
      },
      async 'chat.message'(_input, { message }) {
        sessions.noteMessage(message)
      },
      async 'tool.execute.after'({ tool, sessionID }, output) {
        if (tool !== 'read') return
        const agent = sessions.agentOf(sessionID)
        if (agents !== undefined && (agent === undefined || !agents.includes(agent))) return
        if (!(await sessions.isMain(sessionID))) return
        const count = (reads.get(sessionID) ?? 0) + 1
        reads.set(sessionID, count)
        if (count % every === 0) addToResult(output, text)
      },
    }
  },
)
