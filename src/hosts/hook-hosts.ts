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
  /** True for a host that reads Claude Code's settings in a project. Sentences name Copilot CLI, the only one. */
  readonly readsClaudeSettings?: true
  /**
   * True for a host that sets CLAUDE_PROJECT_DIR for its hooks: entries that are shared find the project by it. Otherwise
   * they name a path of this machine, whatever variable of its own the host has.
   */
  readonly tellsProject: boolean
  readonly entries: (command: string) => SettingsEntry[]
  /**
   * What the user must do before the host runs the hook: in Codex's way, which `doctor` checks, or in Copilot's. The
   * sentences name these two.
   */
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
    entries: (command) => eventEntries(command, STOPS, 'Bash', 'task_complete'),
    trust: 'folder',
  },
  /** In Qwen Code 0.24.4 `Bash` matches the shell tool. */
  qwen: {
    title: 'Qwen Code',
    folder: '.qwen',
    file: 'settings.json',
    tellsProject: true,
    entries: (command) => eventEntries(command, STOPS, 'Bash', 'structured_output'),
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

/** The title of every host that `--host` takes, by its name there. */
export const HOST_TITLES: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  opencode: 'OpenCode',
  ...Object.fromEntries(Object.entries(HOOK_HOSTS).map(([name, { title }]) => [name, title])),
}

/** The host of that name; undefined for Claude Code, OpenCode and unknown ones. */
export function hookHost(name: string): HookHost | undefined {
  return Object.hasOwn(HOOK_HOSTS, name) ? HOOK_HOSTS[name as HookHostName] : undefined
}
