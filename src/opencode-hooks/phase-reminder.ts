import * as z from 'zod/mini'
import { sleep } from '../disk/age.ts'
import { retryWhileLocked } from '../disk/lock.ts'
import type { HostClient, Message } from '../hosts/opencode/api.ts'
import { isOwnMessage, ownText } from '../hosts/opencode/conversation.ts'
import { oneLine } from '../kernel/text.ts'
import { type TaskFolder, taskWord } from '../project/task-folder.ts'
import { currentPhase, currentWork, isInStep, stepResultFile } from '../run/machine/position.ts'
import type { WorkflowState } from '../run/machine/state.ts'
import { findActiveRuns } from '../run/store/active-runs.ts'
import { factory, limitMemory, TEXT_TAG } from './factory.ts'

/** Options of the phase reminder. */
export interface PhaseReminderOptions {
  /** The agents that are reminded (the agent of the conversation that drives a run, whichever it is). */
  readonly agents?: readonly string[] | undefined
  /** The advice after the run's phase, step and artifact. */
  readonly text?: string | undefined
}

export const PHASE_REMINDER: z.ZodMiniType<PhaseReminderOptions> = z.strictObject({
  agents: z.optional(z.array(z.string())),
  text: z.optional(z.string()),
})

/**
 * Creates hooks that remind the agent that drives a workflow of the run's position. While the run is active, the
 * reminder comes before the last message of the user in every request. It is sent, not stored. Our own messages get no
 * reminder: they already name the position.
 */
export const createPhaseReminderHook = factory(
  'phase reminder',
  ({ client, findRoots }, { agents, text }: PhaseReminderOptions | undefined = {}) => {
    const compacting = new Set<string>()
    const titles = createTitleEvents(client)
    return {
      async 'chat.headers'({ sessionID, agent }) {
        if (agent === 'title') titles.noteTitle(sessionID)
      },
      async 'experimental.session.compacting'({ sessionID }) {
        limitMemory(compacting.add(sessionID))
      },
      async 'experimental.chat.messages.transform'(_input, { messages }) {
        const session = messages.at(-1)?.info.sessionID
        if (session === undefined || compacting.delete(session)) return
        const asked = messages.findLast(({ info }) => info.role === 'user')
        if (asked?.info.role !== 'user' || isOwnMessage(asked.parts)) return
        if (agents !== undefined && !agents.includes(asked.info.agent)) return
        const { runs } = await retryWhileLocked(() => findActiveRuns(findRoots(session), { payload: { session } }))
        if (runs.length === 0) return
        const reminder = runs.map(({ folder, state }) => locationInRun(folder, state, text)).join('\n')
        await titles.titleRequested(session, messages)
        const location = messages.indexOf(asked)
        if (location !== -1) messages[location] = { ...asked, parts: [ownText(reminder), ...asked.parts] }
      },
    }
  },
)

export function locationInRun(folder: TaskFolder, state: WorkflowState, advice: string | undefined): string {
  const phase = currentPhase(state)
  const steps = dueSteps(state)
  const ofPhase = phase.artifact === undefined ? [] : [phase.artifact]
  const due = steps.length === 0 ? ofPhase : steps.map((step) => stepResultFile(phase, step))
  const files = due.map((file) => oneLine(`${folder.path}/${file}`, 500)).join(', ')
  const numbers = steps.map((step) => step + 1).join(', ')
  const inStep = steps.length === 0 ? '' : `, step${steps.length === 1 ? '' : 's'} ${numbers} of ${state.totalSteps}`
  const location = `phase "${oneLine(phase.id, 80)}"${inStep}.${files === '' ? '' : ` It must produce ${files}.`}`
  const workflow = `The workflow "${oneLine(state.name, 100)}" of task ${oneLine(taskWord(folder), 80)}`
  return `${TEXT_TAG} ${workflow} is in ${location} ${advice ?? 'Do not work ahead of this phase, and do not skip it.'}`
}

function dueSteps(state: WorkflowState): number[] {
  if (!isInStep(state)) return []
  return state.inWork.length > 0 ? state.inWork.map(({ step }) => step) : [currentWork(state).step]
}

const LONGEST_DELAY_MS = 1_000
const DEFAULT_TITLE = /^New session - \d/

/** OpenCode 1.18.34 makes the title from the same list: text that is added too early also reaches the title. */
function createTitleEvents(client: HostClient) {
  /** Aborted when OpenCode asks for the title of the session. */
  const titles = new Map<string, AbortController>()

  function titleOf(session: string): AbortController {
    const title = titles.get(session) ?? new AbortController()
    limitMemory(titles.set(session, title))
    return title
  }

  async function titleRequested(session: string, messages: readonly Message[]): Promise<void> {
    const isLater = messages.some(({ info }) => info.role === 'assistant')
    if (isLater || titleOf(session).signal.aborted) return
    const { data } = await client.session.get({ path: { id: session } })
    if (DEFAULT_TITLE.test(data?.title ?? '')) await sleep(LONGEST_DELAY_MS, titleOf(session).signal)
  }

  return { noteTitle: (session: string) => titleOf(session).abort(), titleRequested }
}
