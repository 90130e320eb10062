import type { AdoptOptions } from './commands/adopt.ts'
import type { BypassOptions } from './commands/bypass.ts'
import type { ClearOptions } from './commands/clear.ts'
import type { CreateOptions } from './commands/create.ts'
import type { ExplainOptions } from './commands/explain.ts'
import type { InitOptions } from './commands/init.ts'
import type { InspectOptions } from './commands/inspect.ts'
import type { InstallOptions, UninstallOptions } from './commands/install.ts'
import type { LogsOptions } from './commands/logs.ts'
import type { ReportOptions } from './commands/report.ts'
import type { ProjectStatusOptions } from './commands/status.ts'
import type { StepOptions } from './commands/step.ts'
import type { WaitOptions } from './commands/wait.ts'
import type { ApproveOptions, RejectOptions } from './commands/workflow/approve.ts'
import type { PhaseCheckOptions } from './commands/workflow/check.ts'
import type { NextOptions } from './commands/workflow/next.ts'
import type { ResumeOptions } from './commands/workflow/resume.ts'
import type { RunStepOptions } from './commands/workflow/retry.ts'
import type { SimulateOptions } from './commands/workflow/simulate.ts'
import type { StartOptions } from './commands/workflow/start.ts'
import type { StopOptions } from './commands/workflow/stop.ts'
import type { CompletionRequest } from './completion/request.ts'

/** A parsed command line: the command, with its arguments and options. */

/** The arguments and options that each command takes, by its name. */
interface CommandInputs {
  create: Input<[task: string, slug: string | undefined], CreateOptions>
  clear: Input<[task: string | undefined], ClearOptions>
  status: Input<[], ProjectStatusOptions & Watchable>
  statusline: Input<[], NoOptions>
  report: Input<[task: string | undefined], ReportOptions>
  completion: Input<[shell: string], NoOptions>
  complete: Input<[request: CompletionRequest], NoOptions>
  inspect: Input<[task: string | undefined], InspectOptions & Watchable>
  step: Input<[task: string, step: string], StepOptions>
  wait: Input<[task: string], WaitOptions>
  bypass: Input<[task: string | undefined], BypassOptions>
  adopt: Input<[task: string], AdoptOptions>
  explain: Input<[], ExplainOptions>
  logs: Input<[], LogsOptions & { readonly follow: boolean }>
  init: Input<[], InitOptions>
  install: Input<[], InstallOptions>
  uninstall: Input<[], UninstallOptions>
  doctor: Input<[], NoOptions>
  'workflow validate': Input<[definition: string], NoOptions>
  'workflow start': Input<[task: string, slug: string | undefined], StartOptions>
  'workflow status': Input<[task: string | undefined], Watchable>
  'workflow next': Input<[task: string], NextOptions>
  'workflow stop': Input<[task: string], StopOptions>
  'workflow approve': Input<[task: string], ApproveOptions>
  'workflow reject': Input<[task: string], RejectOptions>
  'workflow retry': Input<[task: string], RunStepOptions>
  'workflow skip': Input<[task: string], RunStepOptions>
  'workflow check': Input<[task: string], PhaseCheckOptions>
  'workflow resume': Input<[task: string], ResumeOptions>
  'workflow abort': Input<[task: string], NoOptions>
  'workflow history': Input<[task: string], NoOptions>
  'workflow graph': Input<[target: string], NoOptions>
  'workflow simulate': Input<[definition: string], SimulateOptions>
}

interface Input<Arguments extends readonly unknown[], Options extends object> {
  readonly arguments: Arguments
  readonly options: Options
}

/** Options of a command that can stay on the screen. */
interface Watchable {
  readonly watch: boolean
}

type NoOptions = Readonly<Record<string, never>>

export type CommandName = keyof CommandInputs

/** A command out of `Name`, with its arguments and options. */
export type Invocation<Name extends CommandName = CommandName> = {
  [One in Name]: CommandInputs[One] & { readonly command: One }
}[Name]

/** The options that every command takes. */
export interface GlobalOptions {
  readonly root: string | undefined
  readonly json: boolean
  readonly quiet: boolean
}
