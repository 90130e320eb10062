import { messageOf } from '../../kernel/error-messages.ts'
import type { CommandResult } from '../../project/command-context.ts'
import { fill } from '../layout.ts'
import type { Painter } from '../painter.ts'
import type { Output } from '../print.ts'
import { printable } from '../printable.ts'
import { WATCH_TEXT } from '../view-messages.ts'
import { openLiveScreen } from './live-screen.ts'

/** Keeps the result of a command on the screen, until `q` or Ctrl-C. */

const INTERVAL_MS = 500

/** A command whose result is watched. */
export interface View {
  /** The first row: the command and its project. */
  readonly title: string
  /** Runs the command. */
  readonly look: () => CommandResult
  /** True when nothing more can change; the last picture then stays on the screen. */
  readonly isOver?: (result: CommandResult) => boolean
  readonly paint: Painter
  /** The time as people read it. */
  readonly clock: () => string
}

/**
 * Shows the view until the user ends it, which is exit code 0, or until it is over.
 * @throws what the first look throws. A later failure is shown, because it may pass.
 */
export async function watchView(view: View, stdout: Output): Promise<0 | 1> {
  let result = view.look()
  if (view.isOver?.(result) !== true) {
    const screen = openLiveScreen(stdout)
    try {
      let changedAt = view.clock()
      let shown = result.lines
      do {
        result = lookAgain(view, result)
        if (withoutTimes(result.lines) !== withoutTimes(shown)) changedAt = view.clock()
        shown = result.lines
        const picture = {
          head: view.paint.bold(printable(view.title, true)),
          lines: shown.map((line) => printable(line, true)),
          foot: view.paint.dim(WATCH_TEXT.foot(changedAt)),
          more: WATCH_TEXT.more,
        }
        if (!screen.paint(fill(screen.size(), picture)) || view.isOver?.(result) === true) break
      } while (await screen.pause(INTERVAL_MS))
    } finally {
      screen.close()
    }
    if (view.isOver?.(result) !== true) return 0
  }
  stdout.write(`${printable(result.lines.join('\n'), true)}\n`)
  return result.exitCode
}

/** The lines as one text. A higher age or duration is not a change. */
function withoutTimes(lines: readonly string[]): string {
  return lines.join('\n').replace(/\d+ (?:s|min|h|days)\b/g, '')
}

function lookAgain({ look, paint }: View, before: CommandResult): CommandResult {
  try {
    return look()
  } catch (error) {
    return { ...before, lines: [`${paint.red('✗')} ${messageOf(error)}`] }
  }
}
