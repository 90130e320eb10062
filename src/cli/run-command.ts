import type { CommandContext, CommandResult } from '../project/command-context.ts'
import { type Output, type Painter, painterFor, printResult, processScreen } from '../views/print.ts'
import { WATCH_TEXT } from '../views/watch/watch.ts'
import type { Documents } from './documents.ts'
import type { CommandName, GlobalOptions, Invocation } from './invocation.ts'
import type { Watched } from './watch-command.ts'

/** Runs the command of an invocation. Each command is loaded only when it runs. */

/** What commands see of the process. */
export interface World {
  /** A command's context, with the current time. */
  readonly contextNow: (rootOption: string | undefined) => CommandContext
  readonly stdout: Output
  /** Where a view that stays open moves the cursor. What it shows it cleans itself. */
  readonly terminalOutput: Output
}

const markers = () => import('./commands/marker-commands.ts')
const settings = () => import('./commands/settings-commands.ts')
const definitions = () => import('./commands/workflow/definition-commands.ts')
const steering = () => import('./commands/workflow/steering-commands.ts')
const runs = () => import('./commands/workflow/run-commands.ts')

type Run<Name extends CommandName> = (
  context: CommandContext,
  paint: Painter,
  invocation: Invocation<Name>,
) => Promise<CommandResult<Documents[Name]>>

const COMMANDS: { readonly [Name in CommandName]: Run<Name> } = {
  create: async (context, _, { arguments: [task, slug], options }) =>
    (await markers()).create(context, task, slug, options),
  clear: async (context, _, { arguments: [task], options }) => (await markers()).clear(context, task, options),
  status: async (context, paint, { options }) =>
    (await import('./commands/status.ts')).projectStatus(context, paint, options),
  statusline: async (context) => (await import('./commands/statusline.ts')).statusline(context),
  report: async (context, paint, { arguments: [task], options }) =>
    (await import('./commands/report.ts')).report(context, paint, task, options),
  completion: async (_context, _paint, { arguments: [shell] }) =>
    (await import('./commands/completion.ts')).completion(shell),
  complete: async (context, _, { arguments: [request] }) =>
    (await import('./commands/completion.ts')).complete(context, request),
  inspect: async (context, paint, { arguments: [task], options }) =>
    (await markers()).inspect(context, paint, task, options),
  step: async (context, _, { arguments: [task, step], options }) =>
    (await markers()).step(context, task, step, options),
  wait: async (context, _, { arguments: [task], options }) => {
    const { announceRunWait } = await import('../run/store/run-wait.ts')
    return (await markers()).wait(context, task, options, announceRunWait)
  },
  bypass: async (context, _, { arguments: [task], options }) => (await markers()).bypass(context, task, options),
  adopt: async (context, _, { arguments: [task], options }) => (await markers()).adopt(context, task, options),
  explain: async (context, paint, { options }) =>
    (await import('./commands/explain.ts')).explain(context, paint, options),
  logs: async (context, _, { options }) => (await markers()).logs(context, options),
  init: async (context, _, { options }) => (await settings()).init(context, options),
  install: async (context, _, { options }) => (await settings()).install(context, options),
  uninstall: async (context, _, { options }) => (await settings()).uninstall(context, options),
  doctor: async (context, paint) => (await import('./commands/doctor.ts')).doctor(context, paint),
  'workflow validate': async (context, paint, { arguments: [file] }) =>
    (await definitions()).validate(context, paint, file),
  'workflow start': async (context, _, { arguments: [task, slug], options }) =>
    (await definitions()).start(context, task, slug, options),
  'workflow status': async (context, paint, { arguments: [task] }) => (await runs()).status(context, paint, task),
  'workflow next': async (context, _, { arguments: [task], options }) => (await runs()).next(context, task, options),
  'workflow stop': async (context, paint, { arguments: [task], options }) =>
    (await runs()).stop(context, paint, task, options),
  'workflow approve': async (context, paint, { arguments: [task], options }) =>
    (await steering()).approve(context, paint, task, options),
  'workflow reject': async (context, paint, { arguments: [task], options }) =>
    (await steering()).reject(context, paint, task, options),
  'workflow retry': async (context, paint, { arguments: [task], options }) =>
    (await steering()).retry(context, paint, task, options),
  'workflow skip': async (context, paint, { arguments: [task], options }) =>
    (await steering()).skip(context, paint, task, options),
  'workflow check': async (context, _, { arguments: [task], options }) =>
    (await import('./commands/workflow/check.ts')).check(context, task, options),
  'workflow resume': async (context, paint, { arguments: [task], options }) =>
    (await import('./commands/workflow/resume.ts')).resume(context, paint, task, options),
  'workflow abort': async (context, paint, { arguments: [task] }) => (await runs()).abort(context, paint, task),
  'workflow history': async (context, _, { arguments: [task] }) => (await runs()).history(context, task),
  'workflow simulate': async (context, _, { arguments: [file], options }) =>
    (await definitions()).simulate(context, file, options),
  'workflow graph': async (context, _, { arguments: [target] }) => (await definitions()).graph(context, target),
}

/** Runs a command, prints its result, and returns the exit code. */
export async function runCommand(invocation: Invocation, options: GlobalOptions, world: World): Promise<0 | 1> {
  const { stdout } = world
  const contextNow = (): CommandContext => world.contextNow(options.root)
  // A question would end up in the middle of the document.
  const context = options.json ? { ...contextNow(), terminal: undefined } : contextNow()
  const { NO_COLOR, TERM } = context.environment
  if (invocation.command === 'logs' && invocation.options.follow) {
    const { followLogs } = await import('./commands/logs.ts')
    await followLogs(context, invocation.options, processScreen(stdout, options.json), options.json)
    return 0
  }
  const paint = await painterFor(stdout, NO_COLOR)
  if ('watch' in invocation.options && invocation.options.watch) {
    const isPainted = stdout.isTTY === true && TERM !== 'dumb' && !options.json && !options.quiet
    if (isPainted) {
      const { watchCommand } = await import('./watch-command.ts')
      return watchCommand(invocation as Watched, contextNow, paint, world.terminalOutput)
    }
    if (invocation.command === 'workflow status') {
      const { watchStatus } = await import('./commands/workflow/status-watch.ts')
      const [task] = invocation.arguments
      return watchStatus({ contextNow, task, paint, options, screen: processScreen(stdout, options.json) })
    }
    context.note(WATCH_TEXT.notATerminal)
  }
  const result = await resultOf(invocation, context, paint)
  printResult(result, options, stdout)
  return result.exitCode
}

function resultOf<Name extends CommandName>(
  invocation: Invocation<Name>,
  context: CommandContext,
  paint: Painter,
): Promise<CommandResult<Documents[Name]>> {
  return COMMANDS[invocation.command](context, paint, invocation)
}
