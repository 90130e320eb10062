import type { CommandContext, CommandResult } from './context.ts'
import type { Output, Painter } from './report.ts'

/** What the program needs to run a command. */
export interface ProgramPorts {
  readonly version: string
  readonly stdout: Output
  readonly stderr: Output
  /** Runs a command with the world and prints what it comes to. */
  readonly run: (
    action: (context: CommandContext, paint: Painter) => Promise<CommandResult> | CommandResult,
  ) => Promise<void>
  /** Prints the last `count` entries of the journal, then what comes. */
  readonly follow: (count: number) => Promise<void>
  /** Shows the status of a workflow, or of all, again whenever it changes, until the end. */
  readonly watch: (task: string | undefined) => Promise<void>
}
