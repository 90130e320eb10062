import { codexSettings } from './codex.ts'
import { copilotSettings } from './copilot.ts'
import { droidSettings } from './droid.ts'
import type { HookHost } from './hook-entries.ts'
import { qwenCodeSettings } from './qwen-code.ts'

export const HOOK_HOSTS = {
  codex: codexSettings,
  copilot: copilotSettings,
  qwen: qwenCodeSettings,
  droid: droidSettings,
} as const satisfies Readonly<Record<string, HookHost>>

export type HookHostName = keyof typeof HOOK_HOSTS

export const HOST_TITLES: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  opencode: 'OpenCode',
  ...Object.fromEntries(Object.entries(HOOK_HOSTS).map(([name, { title }]) => [name, title])),
}

export function hookHost(name: string): HookHost | undefined {
  return Object.hasOwn(HOOK_HOSTS, name) ? HOOK_HOSTS[name as HookHostName] : undefined
}

/** `doctor` advises to remove the hook from their settings. */
export const UNSUPPORTED_HOSTS = [
  {
    title: 'Gemini CLI',
    folder: '.gemini',
    file: 'settings.json',
    isInProjects: true,
    why: 'its events have other names, and a missing hook makes it prompt the model again and again',
  },
  {
    title: 'Kimi Code',
    folder: '.kimi-code',
    file: 'config.toml',
    isInProjects: false,
    why: 'it ignores the answer, so no stop is blocked',
  },
] as const
