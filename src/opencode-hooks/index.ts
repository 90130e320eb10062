/**
 * The hook factories, for other plugins of OpenCode: `postflight-guard/opencode/hooks`. Each takes the input of a plugin
 * and its options, and returns an object with only the hooks that it needs.
 */

export { createChatHeadersHook } from './chat-headers.ts'
export { createDelegateTaskRetryHook } from './delegate-task-retry.ts'
export type { FactoryHooks, HookContext } from './factory.ts'
export { createForegroundFallbackHook, type ForegroundFallbackOptions } from './foreground-fallback.ts'
export { createJsonErrorRecoveryHook, type JsonErrorRecoveryOptions } from './json-error-recovery.ts'
export { createPhaseReminderHook, type PhaseReminderOptions } from './phase-reminder.ts'
export { createPostReadNudgeHook, type PostReadNudgeOptions } from './post-read-nudge.ts'
export { createReactiveAgentHook, type ReactiveAgentOptions } from './reactive-agent.ts'
export { type SpawnAnswer, type SpawnRequest, spawnAgent } from './spawn-agent.ts'
