import { messageOf } from '../kernel/errors.ts'
import { type CommandResult, findCommandRoot } from '../project/command-context.ts'
import { frame, openLiveScreen } from '../views/live-view.ts'
import { jsonText, type Output, printable, processScreen } from '../views/print.ts'
import type { Outcome, Surroundings } from './command.ts'
import type { Invocation } from './commands/command-list.ts'

/** Repeats a command until nothing more can change (`isOver` of its result), or a person ends it. */

const INTERVAL_MS = 500

export async function watch(
  { command, arguments: [task] }: Invocation,
  surroundings: Surroundings,
  run: () => Promise<Outcome>,
  terminal: Output,
): Promise<Outcome> {
  const { stdout, json, quiet, contextNow } = surroundings
  const context = contextNow()
  const onTerminal = stdout.isTTY === true && context.environment.TERM !== 'dumb' && !json && !quiet
  // None of these commands prints its own output.
  const inspect = run as () => Promise<CommandResult>
  let result = await inspect()
  if (!onTerminal && result.isOver === undefined) {
    context.note('postflight: printed once: --watch needs a terminal, and no --json or --quiet')
    return result
  }
  // Another task may begin, so the view of all stays on the terminal.
  const isOver = (): boolean => result.isOver === true && (task !== undefined || !onTerminal)
  if (!onTerminal || !isOver()) {
    const words = task === undefined ? command : `${command} ${task}`
    const view = { command: words, root: findCommandRoot(context), paint: context.paint }
    const screen = onTerminal ? liveScreen(terminal, view, surroundings) : pipeScreen(surroundings)
    // On a terminal a later failure is shown, because it may pass.
    const failed = (error: unknown): CommandResult => {
      if (!onTerminal) throw error
      return { ...result, lines: [`${context.paint.red('✗')} ${messageOf(error)}`] }
    }
    try {
      while (screen.show(result) && !isOver() && (await screen.pause(INTERVAL_MS))) {
        result = await inspect().catch(failed)
      }
    } finally {
      screen.close()
    }
  }
  if (onTerminal && !isOver()) return 0
  // The last picture of what is over stays.
  if (onTerminal) terminal.write(`${printable(result.lines.join('\n'), true)}\n`)
  return result.exitCode ?? 0
}

function liveScreen(terminal: Output, view: Parameters<typeof frame>[1], { contextNow }: Surroundings) {
  const screen = openLiveScreen(terminal)
  let shown: string | undefined
  let changedAt = ''
  const show = ({ lines }: CommandResult): boolean => {
    // A higher age or duration is not a change.
    const picture = lines.join('\n').replace(/\d+ (?:s|min|h|days)\b/g, '')
    // In local time, like the person's other clocks.
    if (picture !== shown) changedAt = new Date(contextNow().nowMs).toTimeString().slice(0, 8)
    shown = picture
    return screen.paint(frame(screen.size(), view, lines, changedAt))
  }
  return { ...screen, show }
}

const GROWING: readonly string[] = ['age_ms', 'duration_ms']

/** Prints what changed, without a terminal. */
function pipeScreen({ stdout, json, quiet }: Surroundings) {
  const { print, pause } = processScreen(stdout, json)
  let shown: string | undefined
  const show = ({ data, lines }: CommandResult): boolean => {
    const picture = JSON.stringify(data, (name, one: unknown) => (GROWING.includes(name) ? undefined : one))
    if (picture === shown) return true
    const text = json ? jsonText(data) : `${shown === undefined ? '' : '\n'}${lines.join('\n')}`
    shown = picture
    return (quiet && !json) || print(`${text}\n`)
  }
  return { show, pause, close: () => {} }
}
