import type { HostClient, Message, Part } from '../hosts/opencode/api.ts'
import { oneLine } from '../kernel/text.ts'
import { addToResult, factory, limitMemory, resultText, TEXT_TAG } from './factory.ts'

/** Some plugins replace `task`. */
const TOOLS = ['task', 'delegate_task', 'delegate', 'call_agent', 'call_omo_agent', 'background_task']
const ERROR_START = /^\W{0,4}(?:\w+ ){0,3}(?:error|failed|invalid|unknown|missing|cannot|not found)\b/i
const MAX_ERROR_LENGTH = 2_000

/**
 * Creates hooks that add advice to a failed delegation: how to repeat it, and which agents exist. The results of a
 * failed tool reach no hook in OpenCode 1.18.34, so the fix is added to the error in the messages of each request;
 * nothing is stored.
 */
export const createDelegateTaskRetryHook = factory('delegate-task retry', ({ client }) => {
  /** The same words in each request keep the provider's cache valid. */
  const fixes = new Map<string, string>()
  const fixOf = async (error: string): Promise<string | undefined> => {
    const failure = delegationFailureIn(error)
    return failure === undefined ? undefined : delegationFix(failure, await subAgentsOf(client))
  }
  const withFix = async (part: Part): Promise<Part> => {
    const { id = '', state } = part
    if (state?.error === undefined) return part
    const fix = fixes.get(id) ?? (await fixOf(state.error))
    if (fix === undefined) return part
    limitMemory(fixes.set(id, fix))
    return { ...part, state: { ...state, error: `${state.error}\n\n${fix}` } }
  }
  return {
    async 'tool.execute.after'({ tool }, output) {
      const said = TOOLS.includes(tool) ? resultText(output) : undefined
      if (said === undefined || said.length > MAX_ERROR_LENGTH || !ERROR_START.test(said)) return
      const fix = await fixOf(said)
      if (fix !== undefined) addToResult(output, fix)
    },
    async 'experimental.chat.messages.transform'(_input, { messages }) {
      for (const [location, message] of messages.entries()) {
        if (!message.parts.some(isFailedDelegation)) continue
        const parts = message.parts.map((part) => (isFailedDelegation(part) ? withFix(part) : part))
        messages[location] = { ...message, parts: await Promise.all(parts) } satisfies Message
      }
    },
  }
})

function isFailedDelegation({ type, tool = '', state }: Part): boolean {
  return type === 'tool' && TOOLS.includes(tool) && state?.status === 'error'
}

async function subAgentsOf(client: HostClient): Promise<string[]> {
  const { data = [] } = await client.app.agents()
  return data.filter(({ mode, hidden }) => mode !== 'primary' && hidden !== true).map(({ name }) => name)
}

/** The wording of OpenCode 1.18.34 and of common plugins. */
const PATTERNS: readonly (readonly [keyof typeof DELEGATION_FIXES, RegExp])[] = [
  ['missing-argument', /missing key\s+at \["(\w+)"\]/i],
  ['wrong-argument', /expected .{1,80}, got .{0,200}?\s+at \["(\w+)"\]/is],
  ['wrong-argument', /SchemaError\(Expected object/],
  [
    'primary-agent',
    /(?:cannot|can't|not allowed to) (?:call|use|delegate to) (?:the )?primary agent:? ?["'`]?([\w-]+)?/i,
  ],
  ['unknown-agent', /(?:unknown|invalid|no such) (?:sub-?)?agent(?: type)?:? ?["'`]?([\w.@/-]*\w)?/i],
  ['unknown-agent', /agent ["'`]?([\w.@/-]+)["'`]? (?:was |is )?(?:not found|not a valid)/i],
  ['unknown-category', /(?:unknown|invalid|no such) category:? ?["'`]?([\w.-]*\w)?/i],
  [
    'unknown-skill',
    /skills?:? ?["'`]?([\w.:-]+)?["'`]? (?:was |were )?not found(?:: ?([\w.:-]*\w))?|(?:unknown|invalid) skills?:? ?["'`]?([\w.:-]*\w)?/i,
  ],
  ['unknown-task', /(?:session|task(?:_id)?) ["'`]?([\w-]+)["'`]? (?:was )?not found/i],
  [
    'both-given',
    /(category and subagent_type|subagent_type and category|or subagent_type, not both|mutually exclusive)/i,
  ],
  ['background', /(background) subagents require/i],
  ['depth', /(subagent depth) limit reached/i],
  ['refused', /(rejected permission|rule which prevents you from using)/i],
  ['model', /model not found:? ?["'`]?([\w./:-]*\w)?|ProviderModelNotFoundError/i],
  [
    'missing-argument',
    /(?:missing|required)(?: required)?(?: argument| parameter| field)?s?:? ?["'`]?(run_in_background|load_skills|subagent_type|category|prompt|description)/i,
  ],
  [
    'missing-argument',
    /["'`]?(run_in_background|load_skills|subagent_type|category|prompt|description)["'`]? (?:parameter |argument |field )?(?:is |was )?(?:missing|required|not (?:given|provided))/i,
  ],
  ['wrong-argument', /invalid (?:arguments?|parameters?|input)(?:.{0,80}["'`](\w+)["'`])?/is],
]

const OFFERED = /(?:available|valid|known|allowed)[^:\n]{0,40}:\s*([^\n]{1,500})/i
/** The sub-agent ran and failed at its work, so another call would not avoid it (1.18.34). */
const FAILED_AT_WORK = /^Subagent failed \(/
const MAX_INSPECTED = 2_000

export function delegationFailureIn(text: string) {
  if (FAILED_AT_WORK.test(text)) return undefined
  const error = text.slice(0, MAX_INSPECTED)
  for (const [kind, pattern] of PATTERNS) {
    const found = pattern.exec(error)
    if (found === null) continue
    return { kind, name: found.slice(1).find((one) => one !== undefined) ?? '', offered: OFFERED.exec(error)?.[1] }
  }
  return undefined
}

type DelegationFailure = Exclude<ReturnType<typeof delegationFailureIn>, undefined>

export function delegationFix({ kind, name, offered }: DelegationFailure, agents: readonly string[]): string {
  const fix: Fix = DELEGATION_FIXES[kind]
  return `${TEXT_TAG} ${fix(oneLine(name, 80), oneLine(offered ?? '', 500), agents.join(', '))}`
}

const AGAIN = 'Call the task tool again'
const ARGUMENTS = 'description (three to five words), prompt (the whole task) and subagent_type'

type Fix = (name: string, offered: string, agents: string) => string

const DELEGATION_FIXES = {
  'missing-argument': (name, _offered, agents) =>
    `${AGAIN} with the argument "${name}". The task tool needs ${ARGUMENTS}.${agentsThere(agents)}`,
  'wrong-argument': (name, _offered, agents) =>
    `${AGAIN} with ${name === '' ? 'other arguments' : `another value of "${name}"`}. The task tool needs ${ARGUMENTS}, each a string.${agentsThere(agents)}`,
  'unknown-agent': (name, _offered, agents) =>
    `Unknown agent${named(name)}.${agentsThere(agents)} ${AGAIN} with one of them as subagent_type.`,
  'primary-agent': (name, _offered, agents) =>
    `${name === '' ? 'This agent' : `"${name}"`} runs conversations of its own and cannot be a sub-agent.${agentsThere(agents)} ${AGAIN} with one of them as subagent_type.`,
  'unknown-category': (name, offered) =>
    `Unknown category${named(name)}.${namesThere('Categories', offered)} Use one of those, or name an agent as subagent_type instead.`,
  'unknown-skill': (name, offered) =>
    `Unknown skill${named(name)}.${namesThere('Skills', offered)} Repeat the call with one of those, or without a skill.`,
  'unknown-task': (name) =>
    `Unknown task${named(name)}, so it cannot be continued. ${AGAIN} without its id, and put what the sub-agent must know into the prompt.`,
  'both-given': () => 'Give either category or subagent_type, not both, and repeat the call.',
  background: () => `${AGAIN} without the argument "background", and wait for the result.`,
  depth: () =>
    'A sub-agent may not start another one here. Do this part of the work yourself, or name it in your report.',
  refused: (_name, _offered, agents) =>
    `The user does not allow this delegation: do not repeat it as it is.${agentsThere(agents)} Use another agent, or do the work yourself.`,
  model: (_name, _offered, agents) =>
    `The model of this agent is not available here.${agentsThere(agents)} ${AGAIN} with another agent, or do the work yourself.`,
} satisfies Record<string, Fix>

function named(name: string): string {
  return name === '' ? '' : ` "${name}"`
}

function agentsThere(agents: string): string {
  return agents === '' ? '' : ` Agents: ${agents}.`
}

function namesThere(what: string, offered: string): string {
  return offered === '' ? '' : ` ${what}: ${offered}${offered.endsWith('.') ? '' : '.'}`
}
