import { shellWords } from '../kernel/text.ts'

/** Our entries in the settings of Claude Code and of hosts like it, and how they are recognised. */

/** A hook entry of ours: the event, and the group in its list. */
export interface SettingsEntry<Hook = HookCommand> {
  readonly event: string
  readonly group: HookGroup<Hook>
}

interface HookGroup<Hook> {
  readonly matcher?: string
  readonly hooks: readonly Hook[]
}

interface HookCommand {
  readonly type: 'command'
  readonly command: string
  readonly if?: string
  readonly timeout: number
}

/** In seconds, Claude Code's unit. The hook answers within 5. */
const TIMEOUT_SECONDS = 10

/** The command at the end of a main agent's work: the launcher looks for a definition of done too. */
function stopCommand(command: string): string {
  return `${command} Stop`
}

/**
 * The entries that `install` writes for Claude Code. `PostToolUse` of shell commands is for ownership; its `if` saves a
 * process for every other command (measured with 2.1.329: it filters compound commands too). `PostToolUse` of the tool
 * that starts sub-agents is for their reports. `PreToolUse` is for the tools by which an agent ends its turn, also those of
 * Copilot CLI, which reads the same file.
 */
export function claudeEntries(command: string): SettingsEntry[] {
  const hook = { type: 'command', command, timeout: TIMEOUT_SECONDS } as const
  return [
    { event: 'SubagentStop', group: { hooks: [hook] } },
    { event: 'Stop', group: { hooks: [{ ...hook, command: stopCommand(command) }] } },
    { event: 'SessionStart', group: { hooks: [{ ...hook, command: `${command} SessionStart` }] } },
    { event: 'PostToolUse', group: { matcher: 'Bash', hooks: [{ ...hook, if: 'Bash(*postflight*)' }] } },
    { event: 'PostToolUse', group: { matcher: 'Agent', hooks: [{ ...hook, command: `${command} Agent` }] } },
    {
      event: 'PreToolUse',
      group: {
        matcher: 'StructuredOutput|SubagentHandback|task_complete',
        hooks: [{ ...hook, command: stopCommand(command) }],
      },
    },
  ]
}

/**
 * The entries for a host with other events or another name of its shell tool. Without `if`, which such hosts ignore, the
 * hook starts after each shell command; the launcher answers at once where nothing is pending. `endingTool`: the tool by
 * which an agent ends its turn without an obeyed stop hook.
 */
export function eventEntries(
  command: string,
  stops: readonly string[],
  shellTool: string,
  endingTool?: string,
): SettingsEntry[] {
  const hook = { type: 'command', command, timeout: TIMEOUT_SECONDS } as const
  return [
    ...stops.map((event) => ({
      event,
      group: { hooks: [event === 'SubagentStop' ? hook : { ...hook, command: stopCommand(command) }] },
    })),
    { event: 'SessionStart', group: { hooks: [{ ...hook, command: `${command} SessionStart` }] } },
    { event: 'PostToolUse', group: { matcher: shellTool, hooks: [hook] } },
    ...(endingTool === undefined
      ? []
      : [
          {
            event: 'PreToolUse',
            group: { matcher: endingTool, hooks: [{ ...hook, command: stopCommand(command) }] },
          },
        ]),
  ]
}

/**
 * The command that starts the launcher at `file`, a word of the shell. Where the file is missing, it does nothing: shared
 * settings also reach people who have not installed the project's dependencies, and their stops are simply allowed.
 */
export function guardedCommand(file: string): string {
  return `[ ! -f ${file} ] || exec ${file}`
}

/** The same on Windows, which may have no POSIX shell. The last word marks the entry as ours, whatever the folder's name. */
export function guardedNodeCommand(file: string): string {
  return `node -e "${LOAD_IF_THERE}" ${file} postflight-hook`
}

/** With `-e`, Node's arguments begin with the file, as if Node had started it. */
const LOAD_IF_THERE = "require('fs').existsSync(process.argv[1])&&require(process.argv[1])"

/** The words of `guardedCommand`, with the event's name behind them. */
const GUARDED = /^\[ ! -f ([\s\S]+) \] \|\| exec \1(| [A-Za-z]+)$/

// What the last part of a command's path may be. Literals, so that a bundle that does not use them leaves them out.
const NODE = /(?:^|[/\\])node(?:\.exe)?$/
const LAUNCHER = /(?:^|[/\\])postflight-hook$/
const CLI = /(?:^|[/\\])postflight(?:\.js|\.cmd)?$/
const BUNDLE = /(?:^|[/\\])dist[/\\]hook\.js$/
const OWN_BUNDLE = /(?:^|[/\\])postflight[^/\\]*[/\\]dist[/\\]hook\.js$/

/** The words by which entries tell the launcher what to look for. */
const EVENT_WORDS: readonly string[] = ['Stop', 'SessionStart', 'Agent']

/**
 * True for a command in the form of ours, from any copy of this package: the launcher, the hook's bundle or `postflight
 * hook`, with or without Node, with or without the event's name. A command that does more, or only mentions one of these,
 * belongs to the user.
 */
export function isOurCommand(command: unknown): command is string {
  if (typeof command !== 'string') return false
  const [, guarded, event] = GUARDED.exec(command.trim()) ?? []
  const words = shellWords(guarded === undefined ? command : guarded + event)
  if (words === undefined) return false
  const [file = '', ...further] = withoutNode(words)
  if (EVENT_WORDS.includes(further.at(-1) ?? '')) further.pop()
  // On Windows `install` adds this word, so that a bundle is recognised whatever its folder's name.
  if (BUNDLE.test(file) && further.join(' ') === 'postflight-hook') return true
  if (CLI.test(file) && further.join(' ') === 'hook') return true
  return further.length === 0 && (LAUNCHER.test(file) || OWN_BUNDLE.test(file))
}

/** A command of ours without the word for its event. */
export function withoutEventWord(command: string): string {
  const word = EVENT_WORDS.find((one) => command.endsWith(` ${one}`))
  return word === undefined ? command : command.slice(0, -word.length - 1)
}

/** The words without Node and its option to load a file only where it exists. */
function withoutNode(words: readonly string[]): readonly string[] {
  if (words.length < 2 || !NODE.test(words[0] as string)) return words
  return words[1] === '-e' && words[2] === LOAD_IF_THERE ? words.slice(3) : words.slice(1)
}

/** The program that a command of ours starts, as it stands there, variables included: a file, or a name for the PATH. */
export function programOf(command: string): string | undefined {
  const [, guarded] = GUARDED.exec(command.trim()) ?? []
  return withoutNode(shellWords(guarded ?? command) ?? [])[0]
}

/** The file that a command of ours starts; undefined for a command that names none (`postflight hook`). */
export function fileOfCommand(command: string): string | undefined {
  const program = programOf(command)
  return program !== undefined && /[/\\]/.test(program) ? program : undefined
}

/** True for a command as `install` writes it: it does nothing where its file is missing. */
export function isGuardedCommand(command: string): boolean {
  return GUARDED.test(command.trim()) || command.includes(LOAD_IF_THERE)
}

/**
 * The settings of a host, besides Claude Code, which take our hook. They have the shape of Claude Code's: each event has a list of
 * groups, and each group a list of commands.
 */
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

/** The events of both kinds of stops. */
export const BOTH_STOPS = ['SubagentStop', 'Stop']
