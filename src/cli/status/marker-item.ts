import { commandLine } from '../../core/command-line.ts'
import { PROJECT_STATUS_TEXT as TEXT } from '../../core/messages/status.ts'
import { oneLine } from '../../core/text.ts'
import { formatAge } from '../../core/time.ts'
import type { MarkerView } from '../marker-view.ts'
import type { StatusItem } from './status-item.ts'

/** The markers of a project as items of `postflight status`. */

/** The item of a marker. `rootOption` is the `--root` that printed commands need. */
export function markerItem(view: MarkerView, rootOption: string | undefined): StatusItem {
  const { spent, limit } = view.continuations
  const clear = commandLine(['clear', view.task], rootOption)
  const adopt = commandLine(['adopt', view.task], rootOption)
  const kind = kindOf(view)
  const left = view.steps.filter(({ done }) => !done).length
  const red = view.checks.find(({ failed }) => failed !== null)
  const facts = [
    view.state === 'unreadable' ? view.problems[0] : undefined,
    view.operation === null ? undefined : oneLine(view.operation, 60),
    kind === 'unchecked' ? TEXT.unchecked : undefined,
    kind === 'abandoned' ? TEXT.gaveUp(limit) : undefined,
    view.wait === null ? undefined : TEXT.waitsFor(view.wait.for),
    view.age_ms === null ? undefined : TEXT.age(formatAge(view.age_ms)),
    view.state === 'pending' && spent !== null && spent > 0 ? TEXT.blocked(spent, limit) : undefined,
    left === 0 ? undefined : TEXT.steps(left),
    red?.failed == null ? undefined : TEXT.failedCheck(red.run, red.failed),
    view.state === 'unreadable' ? undefined : TEXT.session(view.owner.host_session),
  ]
  return {
    kind,
    task: view.task,
    path: view.relative_path,
    host_session: view.owner.host_session,
    message: TEXT.item(
      kind,
      view.relative_path,
      facts.filter((fact) => fact !== undefined),
    ),
    fix:
      kind === 'unreadable'
        ? TEXT.fixes.unreadable
        : kind === 'bypassed'
          ? TEXT.fixes.bypassed
          : kind === 'abandoned' || kind === 'unchecked'
            ? TEXT.fixes.abandoned(adopt, clear)
            : TEXT.fixes.pending(clear, adopt),
  }
}

function kindOf({ state, outcome, wait }: MarkerView): StatusItem['kind'] {
  if (state === 'abandoned') return outcome === 'unchecked' ? 'unchecked' : 'abandoned'
  return state === 'pending' && wait !== null ? 'waiting' : state
}
