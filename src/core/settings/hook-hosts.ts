import { eventEntries, type SettingsEntry } from './hook-entries.ts'

/**
 * The hosts, besides Claude Code, whose settings take our hook. Their files have the shape of Claude Code's: each event has
 * a list of groups, and each group a list of commands.
 */

/** A host's settings. */
export interface HookHost {
  readonly title: string
  /** The folder of the settings, in the project and in the user's home. */
  readonly folder: string
  /** The variable that names the user's folder instead. */
  readonly folderVariable?: string
  readonly file: string
  /** True for a host that reads Claude Code's settings in a project. */
  readonly readsClaudeSettings?: true
  /** False if a hook cannot find the project's folder: then entries name a path of this machine. */
  readonly tellsProject: boolean
  readonly entries: (command: string) => SettingsEntry[]
  /** What the user must do before the host runs the hook. */
  readonly trust?: 'hooks' | 'folder'
}

const STOPS = ['SubagentStop', 'Stop']

/** The hosts by their names in `--host`. */
export const HOOK_HOSTS = {
  /** Codex 0.169.0 gives its hooks no variable of its own. */
  codex: {
    title: 'Codex CLI',
    folder: '.codex',
    folderVariable: 'CODEX_HOME',
    file: 'hooks.json',
    tellsProject: false,
    entries: (command) => eventEntries(command, STOPS, 'Bash'),
    trust: 'hooks',
  },
  /** Copilot 1.0.102 reads Claude Code's settings in a trusted folder, but not those of the user. */
  copilot: {
    title: 'Copilot CLI',
    folder: '.copilot',
    folderVariable: 'COPILOT_HOME',
    file: 'hooks/postflight-guard.json',
    readsClaudeSettings: true,
    tellsProject: true,
    entries: (command) => eventEntries(command, STOPS, 'Bash'),
    trust: 'folder',
  },
  /** In Qwen Code 0.24.4 `Bash` matches the shell tool. */
  qwen: {
    title: 'Qwen Code',
    folder: '.qwen',
    file: 'settings.json',
    tellsProject: true,
    entries: (command) => eventEntries(command, STOPS, 'Bash'),
  },
  /** In droid 0.225.2 a sub-agent is a session that stops with `Stop`, and the answer to `SubagentStop` is ignored. */
  droid: {
    title: 'Factory droid',
    folder: '.factory',
    file: 'settings.json',
    tellsProject: true,
    entries: (command) => eventEntries(command, ['Stop'], 'Execute'),
  },
} as const satisfies Readonly<Record<string, HookHost>>

export type HookHostName = keyof typeof HOOK_HOSTS

/** The host of that name; undefined for Claude Code, OpenCode and unknown ones. */
export function hookHost(name: string): HookHost | undefined {
  return Object.hasOwn(HOOK_HOSTS, name) ? HOOK_HOSTS[name as HookHostName] : undefined
}
