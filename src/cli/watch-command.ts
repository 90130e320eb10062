import { type CommandContext, findCommandRoot } from '../project/command-context.ts'
import type { StatusDocument } from '../views/documents/workflow/status.ts'
import type { Output, Painter } from '../views/print.ts'
import { type View, WATCH_TEXT, watchView } from '../views/watch/watch.ts'
import { inspect } from './commands/inspect.ts'
import { projectStatus } from './commands/status.ts'
import { isOver, statusOrWait } from './commands/workflow/status-watch.ts'
import type { Invocation } from './invocation.ts'

/** The commands with `--watch` as views of a terminal. */

export type Watched = Invocation<'status' | 'inspect' | 'workflow status'>

/**
 * Shows a command until the user ends it. The view of one task's run also ends with the run. `contextNow` holds the
 * clock.
 */
export function watchCommand(
  invocation: Watched,
  contextNow: () => CommandContext,
  paint: Painter,
  stdout: Output,
): Promise<0 | 1> {
  const title = WATCH_TEXT.title(
    [invocation.command, ...invocation.arguments].filter((word) => word !== undefined).join(' '),
    findCommandRoot(contextNow()),
  )
  // In local time, like the person's other clocks.
  const clock = (): string => new Date(contextNow().nowMs).toTimeString().slice(0, 8)
  return watchView({ title, paint, clock, ...lookOf(invocation, contextNow, paint) }, stdout)
}

function lookOf(invocation: Watched, contextNow: () => CommandContext, paint: Painter): Pick<View, 'look' | 'isOver'> {
  switch (invocation.command) {
    case 'status':
      return { look: () => projectStatus(contextNow(), paint, invocation.options) }
    case 'inspect':
      return { look: () => inspect(contextNow(), paint, invocation.arguments[0], invocation.options) }
    case 'workflow status': {
      const [task] = invocation.arguments
      return {
        look: () => statusOrWait(contextNow(), paint, task),
        isOver: (result) => task !== undefined && isOver({ ...result, data: result.data as StatusDocument }),
      }
    }
  }
}
