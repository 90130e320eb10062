import type { SettingsEntry } from '../../hosts/hook-entries.ts'
import { DEFAULT_TIMEOUT_MS, REACTIVE_HOOK_TEXT, type ReactiveRule } from './reactive-rule.ts'

/**
 * Reactive rules as Claude Code's own hooks of type `agent`. Measured with 2.1.329: such a hook is an agent with the
 * tools and permissions of the session. It answers `{ ok, reason }`, and only the reason of `ok: false` reaches the
 * agent: from a `PreToolUse` hook instead of the call, and from a `PostToolUse` hook after the result of the call,
 * which stays.
 */

export interface AgentHook {
  readonly type: 'agent'
  readonly prompt: string
  readonly if?: string
  readonly model?: string
  /** In seconds. */
  readonly timeout: number
  /** Its beginning identifies our hooks. */
  readonly statusMessage: string
}

const TOOLS: Readonly<Record<string, string>> = {
  bash: 'Bash',
  read: 'Read',
  edit: 'Edit',
  write: 'Write',
  glob: 'Glob',
  grep: 'Grep',
  webfetch: 'WebFetch',
  websearch: 'WebSearch',
  task: 'Agent',
  skill: 'Skill',
  todowrite: 'TodoWrite',
}

export function claudeTool(tool: string): string | undefined {
  if (/^[A-Z]|^mcp__/.test(tool)) return tool
  return Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined
}

export const TOOL_NAMES: readonly string[] = Object.keys(TOOLS)

export interface Omission {
  readonly rule: number
  readonly field: 'agent' | 'model' | 'tools'
  readonly value: string
}

/** Their tools must be known (see `claudeTool`). */
export function reactiveEntries(rules: readonly ReactiveRule[]): SettingsEntry<AgentHook>[] {
  return rules.map((rule) => {
    const { tool, command, prompt, model, tools, timeoutMs = DEFAULT_TIMEOUT_MS, answer = 'context' } = rule
    const matcher = claudeTool(tool) ?? tool
    const name = claudeModel(model)
    const event = answer === 'block' ? 'PreToolUse' : 'PostToolUse'
    const hook: AgentHook = {
      type: 'agent',
      prompt: `${prompt}\n\n${REACTIVE_HOOK_TEXT.task(
        answer,
        tools?.map((one) => claudeTool(one) ?? one),
      )}\n\n$ARGUMENTS`,
      // Only a star matches other characters there.
      ...(command !== undefined && { if: `${matcher}(${command.replaceAll('?', '*')})` }),
      ...(name !== undefined && { model: name }),
      timeout: Math.ceil(timeoutMs / 1000),
      statusMessage: REACTIVE_HOOK_TEXT.status(command === undefined ? tool : `${tool} ${command}`),
    }
    return { event, group: { matcher, hooks: [hook] } }
  })
}

/** `tools` becomes a request in the prompt, which limits nothing. */
export function omissionsOf(rules: readonly ReactiveRule[]): Omission[] {
  return rules.flatMap(({ agent, model, tools }, index) => {
    const rule = index + 1
    return [
      ...(agent === undefined ? [] : [{ rule, field: 'agent' as const, value: agent }]),
      ...(model === undefined || claudeModel(model) !== undefined
        ? []
        : [{ rule, field: 'model' as const, value: model }]),
      ...(tools === undefined ? [] : [{ rule, field: 'tools' as const, value: tools.join(', ') }]),
    ]
  })
}

function claudeModel(model: string | undefined): string | undefined {
  return /^anthropic\/(\S+)$/.exec(model ?? '')?.[1]
}

export function isReactiveHook(hook: unknown): boolean {
  const { type, statusMessage } = (hook ?? {}) as { readonly type?: unknown; readonly statusMessage?: unknown }
  return (
    type === 'agent' && typeof statusMessage === 'string' && statusMessage.startsWith(REACTIVE_HOOK_TEXT.status(''))
  )
}
