import { REACTIVE_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import { cut } from '../../kernel/text.ts'
import { rulesFor } from '../../setup/reactive/reactive-match.ts'
import { DEFAULT_TIMEOUT_MS, type ReactiveRule } from '../../setup/reactive/reactive-rule.ts'
import { factory } from '../factory.ts'
import { RefusedCall } from '../safe-hook.ts'
import { type SpawnAnswer, spawnAgent } from '../spawn-agent/index.ts'
import { isSpawned } from '../spawn-agent/spawned.ts'
import { Findings } from './findings.ts'
import { WaitingCalls } from './waiting-calls.ts'

/** Options of the reactive sub-agents: the rules, in their order. */
export type ReactiveAgentOptions = readonly ReactiveRule[]

/** The word at the beginning of an analysis that refuses the call. Models like to put it in bold type. */
const REFUSES = /^\W*BLOCK(?:ED)?\b/

/** The maximum length, in characters, of the arguments in a sub-agent's prompt, and of an analysis. */
const ARGUMENTS_LIMIT = 20_000
const ANALYSIS_LIMIT = 20_000

/**
 * The hooks that let sub-agents analyse tool calls before they run. All rules that apply to a call start their
 * sub-agents at the same time. Their answers are added to the call's result, in the order of the rules, or refuse the
 * call. A rule without an answer adds a note. Calls of sub-agents are analysed too, but never those of sub-agents that
 * a rule or `spawnAgent` started.
 */
export const createReactiveAgentHook = factory('reactive sub-agent', ({ client }, rules: ReactiveAgentOptions) => {
  const calls = new WaitingCalls(client)
  const findings = new Findings()
  return {
    async event({ event }) {
      calls.onEvent(event)
    },
    async 'tool.execute.before'({ tool, sessionID, callID }, { args }) {
      findings.forget(sessionID, callID)
      const due = rulesFor(rules, tool, args)
      if (due.length === 0 || isSpawned(sessionID)) return
      const call = { tool, args: cut(JSON.stringify(args) ?? '', ARGUMENTS_LIMIT) }
      const { result: analyses, isInterrupted } = await calls.hold(sessionID, async (signal, lineage) => {
        if (lineage.some(isSpawned)) return []
        return Promise.all(due.map((rule) => analyse(client, rule, { session: sessionID, call, signal })))
      })
      if (isInterrupted) throw new RefusedCall(REACTIVE_TEXT.interrupted)
      const text = analyses.map((one) => one.text).join('\n\n')
      if (analyses.some(({ refuses }) => refuses)) throw new RefusedCall(text)
      if (text !== '') findings.keep(sessionID, callID, text)
    },
    async 'tool.execute.after'({ sessionID, callID }, output) {
      findings.addToResult(sessionID, callID, output)
    },
    async 'experimental.chat.messages.transform'(_input, { messages }) {
      findings.addToErrors(messages)
    },
  }
})

/** The text for the agent that made the call. */
interface Analysis {
  readonly text: string
  readonly refuses: boolean
}

async function analyse(
  client: object,
  rule: ReactiveRule,
  of: {
    readonly session: string
    readonly call: { readonly tool: string; readonly args: string }
    readonly signal: AbortSignal
  },
): Promise<Analysis> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, agent, model, tools, answer } = rule
  const task = REACTIVE_TEXT.task(of.call, timeoutMs / 1000, answer === 'block')
  const prompt = `${rule.prompt}\n\n${task}`
  const request = { parentID: of.session, prompt, agent, model, tools, timeoutMs, signal: of.signal }
  return analysisOf(rule, await spawnAgent(client, request))
}

function analysisOf({ tool, command, answer }: ReactiveRule, given: SpawnAnswer): Analysis {
  const rule = command === undefined ? tool : `${tool} ${command}`
  if ('why' in given) return { text: REACTIVE_TEXT.nothing(rule, given.why), refuses: false }
  const text = cut(given.text.trim(), ANALYSIS_LIMIT)
  const refuses = answer === 'block' && REFUSES.test(text)
  return { text: refuses ? REACTIVE_TEXT.refusal(rule, text) : REACTIVE_TEXT.analysis(rule, text), refuses }
}
