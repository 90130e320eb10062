/**
 * The hook factories, for other plugins of OpenCode: `postflight-guard/opencode/hooks`. Each takes the input of a plugin
 * and its options, and returns an object with only the hooks that it needs.
 */

export { createChatHeadersHook } from './chat-headers/index.ts'
export { createDelegateTaskRetryHook } from './delegate-task-retry/index.ts'
export type { FactoryHooks } from './factory.ts'
export { createForegroundFallbackHook } from './foreground-fallback/index.ts'
export type { ForegroundFallbackOptions } from './foreground-fallback/options.ts'
export type { HookContext } from './hook-context.ts'
export { createJsonErrorRecoveryHook } from './json-error-recovery/index.ts'
export type { JsonErrorRecoveryOptions } from './json-error-recovery/options.ts'
export { createPhaseReminderHook } from './phase-reminder/index.ts'
export type { PhaseReminderOptions } from './phase-reminder/options.ts'
export { createPostReadNudgeHook } from './post-read-nudge/index.ts'
export type { PostReadNudgeOptions } from './post-read-nudge/options.ts'
export { createReactiveAgentHook, type ReactiveAgentOptions } from './reactive-agent/index.ts'
export { type SpawnAnswer, type SpawnRequest, spawnAgent } from './spawn-agent/index.ts'
