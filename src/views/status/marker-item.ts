import { commandLine } from '../../kernel/command-line.ts'
import { unparsedMarker } from '../../kernel/phrases.ts'
import { inLine, oneLine } from '../../kernel/text.ts'
import { formatAge } from '../../kernel/time.ts'
import { type MarkerView, unparsedFaults } from '../../marker/marker-view.ts'
import { PROJECT_STATUS_TEXT as TEXT } from '../status-messages.ts'
import { type MarkerKind, VERDICT_TEXT } from '../verdict-messages.ts'
import type { LostMarker } from './lost-markers.ts'
import type { StatusItem } from './status-item.ts'

/** The markers of a project as items of `postflight status`. */

/** A session makes its first stop within this time (ms), or it works on. */
const FIRST_STOP_MS = 600_000

/**
 * True for a pending marker of which no stop was seen, although its session seems to have ended: it is not that of the
 * caller's shell, and some minutes are over. `seen`: the sessions that the journal knows from the hook.
 */
export function isSessionUnseen(
  { state, wait, continuations, age_ms: age, owner }: MarkerView,
  seen: ReadonlySet<unknown> | undefined,
  caller: string | undefined,
): boolean {
  const session = owner.host_session
  const isOfOther = session !== null && session !== caller
  const isIdle =
    state === 'pending' && wait === null && continuations.spent === 0 && age !== null && age > FIRST_STOP_MS
  return isOfOther && isIdle && seen?.has(session) === false
}

/** The item of a marker. `rootOption` is the `--root` that printed commands need. */
export function markerItem(view: MarkerView, rootOption: string | undefined, isUnseen: boolean): StatusItem {
  const { spent, limit } = view.continuations
  const clear = commandLine(['clear', view.task], rootOption)
  const adopt = commandLine(['adopt', view.task], rootOption)
  const kind = kindOf(view)
  const left = view.steps.filter(({ done }) => !done).map(({ name }) => name)
  const red = view.checks.find(({ failed }) => failed !== null)
  const faults = unparsedFaults(view)
  const problem = faults === undefined ? view.problems[0] : unparsedMarker(faults)
  const facts = [
    view.state === 'unreadable' ? problem : undefined,
    view.operation === null ? undefined : oneLine(view.operation, 60),
    kind === 'unchecked' ? TEXT.unchecked : undefined,
    kind === 'abandoned' ? TEXT.gaveUp(limit) : undefined,
    view.wait === null ? undefined : TEXT.waitsFor(view.wait.for),
    view.age_ms === null ? undefined : TEXT.age(formatAge(view.age_ms)),
    (kind === 'pending' || kind === 'unreadable') && spent !== null && spent > 0
      ? TEXT.blocked(spent, limit)
      : undefined,
    left.length === 0 ? undefined : TEXT.steps(left.length),
    red?.failed == null ? undefined : TEXT.failedCheck(red.run, red.failed),
    view.state === 'unreadable' ? undefined : TEXT.session(view.owner.host_session),
    isUnseen ? TEXT.unseen : undefined,
  ]
  return {
    kind,
    task: view.task,
    path: view.relative_path,
    host_session: view.owner.host_session,
    message: TEXT.item(
      kind,
      inLine(view.relative_path),
      facts.filter((fact) => fact !== undefined),
    ),
    sentence: VERDICT_TEXT.marker(view.task, kind, {
      blocked: spent,
      waitsFor: view.wait?.for,
      problem,
      checks: view.checks.map(({ run }) => run),
      failed: red?.failed == null ? undefined : { run: red.run, failure: red.failed },
      steps: left,
    }),
    fix: fixFor(view, kind, adopt, clear),
  }
}

function fixFor(view: MarkerView, kind: MarkerKind, adopt: string, clear: string): string {
  if (kind === 'unreadable')
    return unparsedFaults(view) === undefined ? TEXT.fixes.unreadable : TEXT.fixes.unparsed(clear)
  if (kind === 'bypassed') return TEXT.fixes.bypassed
  return kind === 'abandoned' || kind === 'unchecked'
    ? TEXT.fixes.abandoned(adopt, clear)
    : TEXT.fixes.pending(clear, adopt)
}

/** The item of a marker without a file. */
export function lostMarkerItem(lost: LostMarker, nowMs: number, rootOption: string | undefined): StatusItem {
  const { kind, task, relative, record, unproven } = lost
  const path = inLine(relative)
  const sessions = [...(record?.sessions ?? [])]
  const facts = [
    kind === 'unchecked' ? TEXT.unchecked : undefined,
    kind === 'removed' ? undefined : TEXT.fileGone,
    record === undefined ? undefined : TEXT.lastSeen(formatAge(Math.max(0, nowMs - record.lastMs))),
    unproven.length === 0 ? undefined : TEXT.unproven(unproven),
    record === undefined ? undefined : TEXT.session(sessions.at(-1) ?? null),
  ]
  return {
    kind,
    task,
    path,
    host_session: sessions.at(-1) ?? null,
    message: TEXT.item(
      kind,
      path,
      facts.filter((fact) => fact !== undefined),
    ),
    sentence: kind === 'removed' ? VERDICT_TEXT.removed(task, unproven) : VERDICT_TEXT.fileGone(task, kind, unproven),
    fix: TEXT.fixes.lost(commandLine(['clear', inLine(task)], rootOption)),
  }
}

function kindOf({ state, outcome, wait }: MarkerView): MarkerKind {
  if (state === 'abandoned') return outcome === 'unchecked' ? 'unchecked' : 'abandoned'
  return state === 'pending' && wait !== null ? 'waiting' : state
}
