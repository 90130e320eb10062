import { messageOf } from '../kernel/errors.ts'
import { type CommandContext, type CommandResult, findCommandRoot } from '../project/command-context.ts'
import { frame, openLiveScreen } from '../views/live-view.ts'
import { jsonText, type Output, printable, processScreen } from '../views/print.ts'
import type { Outcome, Surroundings } from './command.ts'
import type { Invocation } from './commands/command-list.ts'

/** Inspects again and again, until nothing more can change (`isOver` of the result), or a person ends it. */

const INTERVAL_MS = 500

type Inspect = () => Promise<CommandResult>

export async function watch(
  invocation: Invocation,
  surroundings: Surroundings,
  run: () => Promise<Outcome>,
  terminal: Output,
): Promise<Outcome> {
  const { stdout, json, quiet, contextNow } = surroundings
  // None of these commands prints its own output.
  const inspect = run as Inspect
  const context = contextNow()
  if (stdout.isTTY === true && context.environment.TERM !== 'dumb' && !json && !quiet) {
    return watchOnTerminal(invocation, contextNow, inspect, terminal)
  }
  const result = await inspect()
  if (result.isOver !== undefined) return printChanges(result, inspect, surroundings)
  context.note('postflight: printed once: --watch needs a terminal, and no --json or --quiet')
  return result
}

/** The last picture of what is over stays. A later failure is shown, because it may pass. */
async function watchOnTerminal(
  { command, arguments: [task] }: Invocation,
  contextNow: () => CommandContext,
  inspect: Inspect,
  terminal: Output,
): Promise<0 | 1> {
  const context = contextNow()
  const { paint } = context
  const words = task === undefined ? command : `${command} ${task}`
  const root = findCommandRoot(context)
  // In local time, like the person's other clocks.
  const clock = (): string => new Date(contextNow().nowMs).toTimeString().slice(0, 8)
  // Another task may begin, so the view of all stays.
  const isOver = (result: CommandResult): boolean => task !== undefined && result.isOver === true
  let result = await inspect()
  if (!isOver(result)) {
    const screen = openLiveScreen(terminal)
    try {
      let changedAt = clock()
      while (
        screen.paint(frame(screen.size(), { command: words, root, paint }, result.lines, changedAt)) &&
        !isOver(result) &&
        (await screen.pause(INTERVAL_MS))
      ) {
        const failed = (error: unknown) => ({ ...result, lines: [`${paint.red('✗')} ${messageOf(error)}`] })
        const next = await inspect().catch(failed)
        if (withoutTimes(next.lines) !== withoutTimes(result.lines)) changedAt = clock()
        result = next
      }
    } finally {
      screen.close()
    }
    if (!isOver(result)) return 0
  }
  terminal.write(`${printable(result.lines.join('\n'), true)}\n`)
  return result.exitCode ?? 0
}

/** A higher age or duration is not a change. */
function withoutTimes(lines: readonly string[]): string {
  return lines.join('\n').replace(/\d+ (?:s|min|h|days)\b/g, '')
}

const GROWING: readonly string[] = ['age_ms', 'duration_ms']

/** Without a terminal. Also ends if it is stopped, or the reader is gone. */
async function printChanges(first: CommandResult, inspect: Inspect, { stdout, json, quiet }: Surroundings) {
  const screen = processScreen(stdout, json)
  let shown: string | undefined
  let result = first
  for (;;) {
    const picture = JSON.stringify(result.data, (name, one: unknown) => (GROWING.includes(name) ? undefined : one))
    if (picture !== shown) {
      const text = json ? jsonText(result.data) : `${shown === undefined ? '' : '\n'}${result.lines.join('\n')}`
      if ((json || !quiet) && !screen.print(`${text}\n`)) break
      shown = picture
    }
    if (result.isOver === true || !(await screen.pause(INTERVAL_MS))) break
    result = await inspect()
  }
  return result.exitCode ?? 0
}
