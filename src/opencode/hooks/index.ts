/**
 * The hook factories, for other plugins of OpenCode: `postflight-guard/opencode/hooks`. Each takes the input of a plugin
 * and its options, and returns an object with only the hooks that it needs.
 */

export type { HookContext } from './context.ts'
export { createPostReadNudgeHook } from './post-read-nudge/index.ts'
export type { PostReadNudgeOptions } from './post-read-nudge/options.ts'
export { createReactiveAgentHook, type ReactiveAgentOptions } from './reactive-agent/index.ts'
export { type SpawnAnswer, type SpawnRequest, spawnAgent } from './spawn-agent/index.ts'
