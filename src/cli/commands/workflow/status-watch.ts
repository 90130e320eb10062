import { asPostflightError } from '../../../kernel/error-messages.ts'
import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import type { StatusDocument } from '../../../views/documents/workflow/status.ts'
import type { Painter, Screen } from '../../../views/print.ts'
import { jsonText, type PrintOptions } from '../../../views/print.ts'
import { WATCH_TEXT } from '../../../views/watch/watch.ts'
import { status } from './status.ts'

/**
 * `postflight workflow status --watch` without a terminal: prints the picture whenever it changes, until every run in it has
 * ended.
 */

const INTERVAL_MS = 500

/** The runs to show, and how. `contextNow` is called each time, because it holds the clock. */
export interface Watching {
  readonly contextNow: () => CommandContext
  readonly task: string | undefined
  readonly paint: Painter
  readonly options: PrintOptions
  readonly screen: Screen
}

/** Shows the picture until the runs have ended, it is stopped, or the reader is gone. Returns the last exit code of `status`. */
export async function watchStatus({ contextNow, task, paint, options, screen }: Watching): Promise<0 | 1> {
  let shown: string | undefined
  let result: ReturnType<typeof status>
  do {
    result = statusOrWait(contextNow(), paint, task)
    const picture = withoutTimes(result)
    if (picture !== shown) {
      if (!show(result, options, screen, shown === undefined)) return result.exitCode
      shown = picture
    }
    if (isOver(result)) return result.exitCode
  } while (await screen.pause(INTERVAL_MS))
  return result.exitCode
}

/** The errors of a run that has not begun. */
const NOT_BEGUN: readonly string[] = ['root-none', 'task-unknown', 'workflow-none']

/** The result of `status`; without a run, that it is waited for: it may begin yet. */
export function statusOrWait(
  context: CommandContext,
  paint: Painter,
  task: string | undefined,
): CommandResult<StatusDocument> {
  try {
    return status(context, paint, task)
  } catch (error) {
    if (!NOT_BEGUN.includes(asPostflightError(error).code)) throw error
    return { exitCode: 0, data: { workflows: [] }, lines: [WATCH_TEXT.waits(task)] }
  }
}

/** Prints one document a line with --json, and nothing with --quiet, which only waits. */
function show(result: CommandResult, options: PrintOptions, screen: Screen, isFirst: boolean): boolean {
  if (options.json) return screen.print(`${jsonText(result.data)}\n`)
  return options.quiet || screen.print(`${isFirst ? '' : '\n'}${result.lines.join('\n')}\n`)
}

/** The fields that grow with each second. */
const GROWING: readonly string[] = ['age_ms', 'duration_ms']

/** The result without ages and durations: a change in those alone is not printed. */
function withoutTimes(result: CommandResult): string {
  return JSON.stringify(result.data, (name, value: unknown) => (GROWING.includes(name) ? undefined : value))
}

/** True when every run shown has ended, and there is one. A run that cannot be read counts as ended. */
export function isOver({ data }: CommandResult<StatusDocument>): boolean {
  const runs = 'workflows' in data ? data.workflows : [data]
  return runs.length > 0 && runs.every((run) => !('active' in run) || !run.active)
}
