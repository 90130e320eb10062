import * as z from 'zod/mini'
import { type SessionFacts, SessionTree } from '../hosts/opencode/conversation.ts'
import { addToResult, factory, TEXT_TAG } from './factory.ts'

/** Options of the post-read nudge. */
export interface PostReadNudgeOptions {
  /** The number of file reads before each nudge (5). */
  readonly every?: number | undefined
  /** The agents that are nudged (all that run a main conversation). */
  readonly agents?: readonly string[] | undefined
  /** The text. */
  readonly text?: string | undefined
}

export const POST_READ_NUDGE: z.ZodMiniType<PostReadNudgeOptions> = z.strictObject({
  every: z.optional(z.int().check(z.minimum(1))),
  agents: z.optional(z.array(z.string())),
  text: z.optional(z.string()),
})

const DEFAULT_TEXT = `${TEXT_TAG} You have read several files in the main conversation. If further reading or the change itself can be described in a few sentences, hand it to a sub-agent with the task tool: then its reading stays out of this context.`

/**
 * Creates hooks that remind an agent to delegate after it has read some files. The text is added to the result of a
 * read. Only main conversations are nudged: a sub-agent reads because that is its task.
 */
export const createPostReadNudgeHook = factory(
  'post-read nudge',
  ({ client }, { every = 5, agents, text = DEFAULT_TEXT }: PostReadNudgeOptions | undefined = {}) => {
    const sessions = new SessionTree<SessionFacts & { reads?: number }>(client)
    return {
      async event({ event }) {
        sessions.noteEvent(event)
      },
      async 'experimental.chat.messages.transform'(_input, { messages }) {
        sessions.noteAgent(messages)
      },
      async 'tool.execute.after'({ tool, sessionID }, output) {
        if (tool !== 'read') return
        const facts = sessions.of(sessionID)
        if (agents !== undefined && !agents.includes(facts.agent ?? '')) return
        if (!(await sessions.isMain(sessionID))) return
        facts.reads = (facts.reads ?? 0) + 1
        if (facts.reads % every === 0) addToResult(output, text)
      },
    }
  },
)
