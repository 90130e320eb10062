import type { CommandContext, CommandResult } from '../../context.ts'
import type { StatusDocument } from '../../documents/workflow/status.ts'
import { jsonText, type Painter, type ReportOptions } from '../../report.ts'
import { paintPicture, type Screen } from '../../screen.ts'
import { status } from './status.ts'

/** `postflight workflow status --watch`: the picture again whenever it changes, until every run in it has ended. */

const INTERVAL_MS = 500

/** What is shown, and how. `contextNow` is asked each time: it holds the clock. */
export interface Watching {
  readonly contextNow: () => CommandContext
  readonly task: string | undefined
  readonly paint: Painter
  readonly options: ReportOptions
  readonly screen: Screen
}

/** Shows it until the runs have ended, it is stopped, or nobody reads any more. */
export async function watchStatus({ contextNow, task, paint, options, screen }: Watching): Promise<void> {
  let shown: string | undefined
  do {
    const result = status(contextNow(), paint, task)
    const picture = screen.isPainted && !options.json ? result.lines.join('\n') : news(result)
    if (picture !== shown) {
      if (!show(result, options, screen, shown === undefined)) return
      shown = picture
    }
    if (isOver(result)) return
  } while (await screen.pause(INTERVAL_MS))
}

/** With --json one document on each line; with --quiet nothing, which leaves the waiting. */
function show(result: CommandResult, options: ReportOptions, screen: Screen, isFirst: boolean): boolean {
  if (options.json) return screen.print(`${jsonText(result.data)}\n`)
  return options.quiet || paintPicture(screen, result.lines, isFirst)
}

/** What an age alone changes is no news where nothing is painted over. */
function news(result: CommandResult): string {
  return JSON.stringify(result.data, (name, value: unknown) => (name === 'age_ms' ? undefined : value))
}

/** One run, or every one, has ended; what cannot be read will not change by itself. */
function isOver({ data }: CommandResult<StatusDocument>): boolean {
  const runs = 'workflows' in data ? data.workflows : [data]
  return runs.every((run) => !('active' in run) || !run.active)
}
