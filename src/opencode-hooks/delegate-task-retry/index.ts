import type { HostClient, Message, Part } from '../../hosts/opencode/api.ts'
import { factory } from '../factory.ts'
import { HOOK_TEXT } from '../hook-texts.ts'
import { addToResult, resultText } from '../tool-result.ts'
import { delegationFailureIn } from './patterns.ts'

/** The tool that hands work to a sub-agent, and similar tools of other plugins. */
const TASK = 'task'
const OTHER_TOOLS = ['delegate_task', 'delegate', 'call_agent', 'call_omo_agent', 'background_task']

/** The beginning of an error in the output of a tool that does not fail. */
const LOOKS_FAILED = /^\W{0,4}(?:\w+ ){0,3}(?:error|failed|invalid|unknown|missing|cannot)\b/i

/** The length of an output above which it is a report. */
const MAX_ERROR_LENGTH = 2_000

/** The largest number of failures whose fix is remembered. */
const MAX_KNOWN = 1_000

/**
 * The hooks that add advice to a failed delegation: how to repeat it, and which agents exist. The results of a failed
 * tool reach no hook in OpenCode 1.18.34, so the fix is added to the error in the messages of each request; nothing is
 * stored.
 */
export const createDelegateTaskRetryHook = factory('delegate-task retry', ({ client }) => {
  /** The fix by the id of the failed part. The same words in each request keep the provider's cache valid. */
  const fixes = new Map<string, string>()

  const fixOf = async (error: string): Promise<string | undefined> => {
    const failure = delegationFailureIn(error)
    return failure === undefined ? undefined : HOOK_TEXT.delegationFix(failure, await subAgentsOf(client))
  }
  const mended = async (part: Part): Promise<Part> => {
    const { id = '', state } = part
    if (state?.error === undefined) return part
    const fix = fixes.get(id) ?? (await fixOf(state.error))
    if (fix === undefined) return part
    fixes.set(id, fix)
    const [oldest] = fixes.keys()
    if (fixes.size > MAX_KNOWN && oldest !== undefined) fixes.delete(oldest)
    return { ...part, state: { ...state, error: `${state.error}\n\n${fix}` } }
  }
  return {
    async 'tool.execute.after'({ tool }, output) {
      const said = OTHER_TOOLS.includes(tool) ? resultText(output) : undefined
      if (said === undefined || said.length > MAX_ERROR_LENGTH || !LOOKS_FAILED.test(said)) return
      const fix = await fixOf(said)
      if (fix !== undefined) addToResult(output, fix)
    },
    async 'experimental.chat.messages.transform'(_input, { messages }) {
      for (const [place, message] of messages.entries()) {
        if (!message.parts.some(isFailedDelegation)) continue
        const parts = message.parts.map((part) => (isFailedDelegation(part) ? mended(part) : part))
        messages[place] = { ...message, parts: await Promise.all(parts) } satisfies Message
      }
    },
  }
})

function isFailedDelegation({ type, tool = '', state }: Part): boolean {
  return type === 'tool' && (tool === TASK || OTHER_TOOLS.includes(tool)) && state?.status === 'error'
}

/** The agents that work can be handed to. */
async function subAgentsOf(client: HostClient): Promise<string[]> {
  const { data = [] } = await client.app.agents()
  return data.filter(({ mode, hidden }) => mode !== 'primary' && hidden !== true).map(({ name }) => name)
}
