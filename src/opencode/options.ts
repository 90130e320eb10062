import * as z from 'zod/mini'
import type { Hooks } from '../hosts/opencode/api.ts'
import { readBy } from '../kernel/schema-faults.ts'
import { oneLine, suggestion } from '../kernel/text.ts'
import { known } from '../kernel/values.ts'
import { createChatHeadersHook } from '../opencode-hooks/chat-headers.ts'
import { createDelegateTaskRetryHook } from '../opencode-hooks/delegate-task-retry.ts'
import type { HookContext } from '../opencode-hooks/factory.ts'
import { createForegroundFallbackHook, FOREGROUND_FALLBACK } from '../opencode-hooks/foreground-fallback.ts'
import { createJsonErrorRecoveryHook, JSON_ERROR_RECOVERY } from '../opencode-hooks/json-error-recovery.ts'
import { createPhaseReminderHook, PHASE_REMINDER } from '../opencode-hooks/phase-reminder.ts'
import { createPostReadNudgeHook, POST_READ_NUDGE } from '../opencode-hooks/post-read-nudge.ts'
import { createReactiveAgentHook } from '../opencode-hooks/reactive-agent.ts'
import { REACTIVE_RULES } from '../setup/reactive/reactive-rule.ts'

/** `isOptional`: also `true`, for an object without options. */
function option<T>(schema: z.ZodMiniType<T>, create: (context: HookContext, value: T) => Hooks, isOptional = false) {
  return (given: unknown) => {
    const value = isOptional && given === true ? {} : given
    if (isOptional && (typeof value !== 'object' || value === null)) {
      return { path: [], detail: 'it must be true, false or an object' }
    }
    const read = readBy(schema, value, 'option', 1)
    return 'value' in read ? (context: HookContext) => create(context, read.value) : read.faults[0]
  }
}

/** In the order of docs/opencode-hooks.md, "The order of the texts", after guard and workflow. */
const FACTORIES: Readonly<Record<string, ReturnType<typeof option>>> = {
  reactive: option(REACTIVE_RULES, createReactiveAgentHook),
  jsonErrorRecovery: option(JSON_ERROR_RECOVERY, createJsonErrorRecoveryHook, true),
  delegateTaskRetry: option(z.boolean(), createDelegateTaskRetryHook),
  postReadNudge: option(POST_READ_NUDGE, createPostReadNudgeHook, true),
  phaseReminder: option(PHASE_REMINDER, createPhaseReminderHook, true),
  chatHeaders: option(z.boolean(), createChatHeadersHook),
  foregroundFallback: option(FOREGROUND_FALLBACK, createForegroundFallbackHook),
}

const DEFAULTS = { guard: true, workflow: true, phaseReminder: true }

/** A bad switch keeps its default, a bad factory stays off. */
export function readOptions(given: Readonly<Record<string, unknown>> = {}) {
  const values: Readonly<Record<string, unknown>> = { ...DEFAULTS, ...known(given) }
  const names = ['guard', 'workflow', ...Object.keys(FACTORIES)]
  const problems = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => `postflight-guard: unknown option "${oneLine(name, 80)}"${suggestion(name, names)}.`)
  const isOn = (name: 'guard' | 'workflow'): boolean => {
    const { [name]: value } = values
    if (typeof value === 'boolean') return value
    problems.push(`postflight-guard: option "${name}" must be true or false; the default is used.`)
    return true
  }
  const switches = { guard: isOn('guard'), workflow: isOn('workflow') }
  const created: ((context: HookContext) => Hooks)[] = []
  for (const [name, read] of Object.entries(FACTORIES)) {
    const { [name]: value = false } = values
    if (value === false) continue
    const result = read(value)
    if (typeof result === 'function') created.push(result)
    else {
      const path = oneLine([name, ...result.path].join('.'), 120)
      const detail = oneLine(result.detail, 200)
      problems.push(`postflight-guard: option "${path}" is invalid, so ${name} stays off: ${detail}.`)
    }
  }
  return { ...switches, createHooks: (context: HookContext) => created.map((create) => create(context)), problems }
}
