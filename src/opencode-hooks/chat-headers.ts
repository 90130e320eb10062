import { isOwnMessage } from '../hosts/opencode/conversation.ts'
import { factory, limitMemory } from './factory.ts'

/**
 * Creates hooks that mark the requests that answer a message of this plugin with `x-initiator: agent`, so that GitHub
 * Copilot does not charge them as the user's. Titles are left alone. OpenCode 1.18.34 itself marks child sessions and
 * compactions.
 */
export const createChatHeadersHook = factory('chat headers', ({ client }) => {
  const known = new Map<string, boolean>()
  const isOwn = async (session: string, messageID: string): Promise<boolean> => {
    const seen = known.get(messageID)
    if (seen !== undefined) return seen
    const { data } = await client.session.message({ path: { id: session, messageID } })
    if (data === undefined) return false
    const own = isOwnMessage(data.parts)
    limitMemory(known.set(messageID, own))
    return own
  }
  return {
    async 'chat.headers'({ sessionID, agent, model, message }, { headers }) {
      if (model.providerID !== 'github-copilot' || agent === 'title') return
      if (await isOwn(sessionID, message.id)) headers['x-initiator'] = 'agent'
    },
  }
})
