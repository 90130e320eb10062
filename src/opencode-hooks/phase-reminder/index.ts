import { retryWhileLocked } from '../../disk/lock.ts'
import { isOwnMessage, ownText } from '../../hosts/opencode/conversation.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { factory } from '../factory.ts'
import type { PhaseReminderOptions } from './options.ts'
import { placeInRun } from './place-in-run.ts'
import { TitleWait } from './title-wait.ts'

/**
 * The hooks that remind the agent that drives a workflow of the run's position. While the run is active, the reminder
 * comes before the last message of the user in every request. It is sent, not stored. Our own messages get no reminder:
 * they already name the position.
 */
export const createPhaseReminderHook = factory(
  'phase reminder',
  ({ client, findRoots }, { agents, text }: PhaseReminderOptions | undefined = {}) => {
    /** Sessions whose next request is for a compaction, which must not repeat the reminder in its summary. */
    const compacting = new Set<string>()
    const titles = new TitleWait(client)
    return {
      async event({ event: { type, properties } }) {
        if (type === 'session.deleted' && properties?.info !== undefined) compacting.delete(properties.info.id)
      },
      async 'chat.headers'({ sessionID, agent }) {
        if (agent === 'title') titles.noteTitle(sessionID)
      },
      async 'experimental.session.compacting'({ sessionID }) {
        compacting.add(sessionID)
      },
      async 'experimental.chat.messages.transform'(_input, { messages }) {
        const session = messages.at(-1)?.info.sessionID
        if (session === undefined || compacting.delete(session)) return
        const asked = messages.findLast(({ info }) => info.role === 'user')
        if (asked?.info.role !== 'user' || isOwnMessage(asked.parts)) return
        if (agents !== undefined && !agents.includes(asked.info.agent)) return
        const { runs } = await retryWhileLocked(() => findActiveRuns(findRoots(session)))
        const own = runs.filter(({ state }) => state.hostSession === session)
        if (own.length === 0) return
        const reminder = own.map(({ folder, state }) => placeInRun(folder, state, text)).join('\n')
        await titles.settled(session, messages)
        const place = messages.indexOf(asked)
        if (place !== -1) messages[place] = { ...asked, parts: [ownText(reminder), ...asked.parts] }
      },
    }
  },
)
