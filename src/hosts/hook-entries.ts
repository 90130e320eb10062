import { shellWords } from '../kernel/text.ts'

export interface SettingsEntry<Hook = HookCommand> {
  readonly event: string
  readonly group: { readonly matcher?: string; readonly hooks: readonly Hook[] }
}

type HookCommand = Readonly<{ type: 'command'; command: string; if?: string; timeout: number }>

/** Claude Code takes seconds. The hook answers within 5. */
const TIMEOUT_SECONDS = 10

function entryOf(event: string, command: string, matcher?: string, condition?: string): SettingsEntry {
  const filter = condition !== undefined && { if: condition }
  const hook: HookCommand = { type: 'command', command, timeout: TIMEOUT_SECONDS, ...filter }
  return { event, group: { ...(matcher !== undefined && { matcher }), hooks: [hook] } }
}

/** The `if` saves a process for other commands; it filters compound ones too (2.1.329). Copilot CLI reads this file. */
export function claudeEntries(command: string): SettingsEntry[] {
  const shell = (event: string): SettingsEntry => entryOf(event, command, 'Bash', 'Bash(*postflight*)')
  return [
    entryOf('SubagentStop', command),
    entryOf('Stop', `${command} Stop`),
    entryOf('SessionStart', `${command} SessionStart`),
    shell('PostToolUse'),
    entryOf('PostToolUse', `${command} Agent`, 'Agent|Skill'),
    // For a command that failed there is no `PostToolUse` (2.1.330). Clients before 2.0.56 ignore settings with this event.
    shell('PostToolUseFailure'),
    entryOf('PreToolUse', `${command} Stop`, 'StructuredOutput|SubagentHandback|task_complete'),
  ]
}

/** `shell` and `ending`: tools. Such hosts ignore `if`; the launcher exits at once if nothing is pending. */
export function eventEntries(command: string, stops: readonly string[], shell: string, ending: readonly string[] = []) {
  return [
    ...stops.map((event) => entryOf(event, event === 'SubagentStop' ? command : `${command} Stop`)),
    entryOf('SessionStart', `${command} SessionStart`),
    entryOf('PostToolUse', command, shell),
    ...ending.map((tool) => entryOf('PreToolUse', `${command} Stop`, tool)),
  ]
}

/** Does nothing without the file: shared settings also reach people who did not install it. */
export function guardedCommand(file: string): string {
  return `[ ! -f ${file} ] || exec ${file}`
}

/** For Windows, which may have no POSIX shell. */
export function guardedNodeCommand(file: string): string {
  return `node -e "${LOAD_IF_THERE}" ${file} postflight-hook`
}

/** With `-e`, Node's arguments begin with the file. */
const LOAD_IF_THERE = "require('fs').existsSync(process.argv[1])&&require(process.argv[1])"

const GUARDED = /^\[ ! -f ([\s\S]+) \] \|\| exec \1(| [A-Za-z]+)$/

// Literals, so that a bundler can drop unused ones.
const NODE = /(?:^|[/\\])node(?:\.exe)?$/
const LAUNCHER = /(?:^|[/\\])postflight-hook$/
const CLI = /(?:^|[/\\])postflight(?:\.js|\.cmd)?$/
const BUNDLE = /(?:^|[/\\])dist[/\\]hook\.js$/
const OWN_BUNDLE = /(?:^|[/\\])postflight[^/\\]*[/\\]dist[/\\]hook\.js$/

const EVENT_WORDS: readonly string[] = ['Stop', 'SessionStart', 'Agent']

/** Two paths of 4,096 bytes fit. `GUARDED` takes quadratic time. */
const MAX_COMMAND = 10_000

/** A command that does more belongs to the user. */
export function isOurCommand(command: unknown): command is string {
  if (typeof command !== 'string' || command.length > MAX_COMMAND) return false
  const [, guarded, event] = GUARDED.exec(command.trim()) ?? []
  const words = shellWords(guarded === undefined ? command : guarded + event)
  if (words === undefined) return false
  const [file = '', ...further] = withoutNode(words)
  if (EVENT_WORDS.includes(further.at(-1) ?? '')) further.pop()
  // `install` adds this word on Windows, so that any folder name works.
  if (BUNDLE.test(file) && further.join(' ') === 'postflight-hook') return true
  if (CLI.test(file) && further.join(' ') === 'hook') return true
  return further.length === 0 && (LAUNCHER.test(file) || OWN_BUNDLE.test(file))
}

export function withoutEventWord(command: string): string {
  const word = EVENT_WORDS.find((one) => command.endsWith(` ${one}`))
  return word === undefined ? command : command.slice(0, -word.length - 1)
}

function withoutNode(words: readonly string[]): readonly string[] {
  const named = words.findIndex((word, index) => index > 0 && !word.startsWith('-'))
  if (words[0] === 'npx' && named > 0) return words.slice(named)
  if (words.length < 2 || !NODE.test(words[0] as string)) return words
  return words[1] === '-e' && words[2] === LOAD_IF_THERE ? words.slice(3) : words.slice(1)
}

export function programOf(command: string): string | undefined {
  const [, guarded] = GUARDED.exec(command.trim()) ?? []
  return withoutNode(shellWords(guarded ?? command) ?? [])[0]
}

export function fileOfCommand(command: string): string | undefined {
  const program = programOf(command)
  return program !== undefined && /[/\\]/.test(program) ? program : undefined
}

export function isGuardedCommand(command: string): boolean {
  return GUARDED.test(command.trim()) || command.includes(LOAD_IF_THERE)
}

/** What a client accepts besides JSON; `mark`: U+FEFF at the start. Otherwise it ignores the file. */
export type Syntax = readonly ('comments' | 'trailing commas' | 'mark')[]
export const CLAUDE_SYNTAX: Syntax = ['mark']
/** 1.18.34. */
export const OPENCODE_SYNTAX: Syntax = ['comments', 'trailing commas', 'mark']

export type HookLocation = Readonly<{ event: string; group: number; hook: number }>

export interface HookHost {
  readonly title: string
  readonly folder: string
  readonly folderVariable?: string
  readonly file: string
  readonly accepts: Syntax
  /** Beside its `file`, with events at the top. The first one that exists replaces the events that it lists (droid 0.225.2). */
  readonly hooksFiles?: readonly string[]
  /** A folder of the project. The host reads all JSON files below it, and those beside its `file` and below (1.0.102). */
  readonly projectHooks?: string
  /** Messages name Copilot CLI, the only one. */
  readonly readsClaudeSettings?: true
  readonly readsMainCheckout?: true
  /** Whether hooks get CLAUDE_PROJECT_DIR. */
  readonly tellsProject: boolean
  readonly entries: (command: string) => SettingsEntry[]
  /** Where its `offSwitch` may be too. */
  readonly projectSettings?: string
  readonly offSwitch?: 'disableAllHooks' | 'hooksDisabled'
  /** If the host runs the hook only once the user trusts it, or its folder. */
  readonly trust?: {
    readonly note: string
    /** Whether hooks in the user's own settings need no trust. */
    readonly onlyInProjects?: true
    /** For `doctor`, if the host's folder has a file that says which hooks are trusted. */
    readonly record?: {
      readonly file: string
      readonly trusts: (text: string, settings: string, hook: HookLocation) => boolean
      readonly untrusted: (settings: string, events: readonly string[]) => string
      readonly advice: string
    }
  }
}

export const BOTH_STOPS = ['SubagentStop', 'Stop']
