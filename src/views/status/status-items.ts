import { doneMarkerFix } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { inLine, oneLine, unparsedMarker } from '../../kernel/text.ts'
import { formatAge } from '../../kernel/time.ts'
import { type MarkerView, unparsedFaults } from '../../marker/marker-view.ts'
import { isSessionFolderName } from '../../project/task-folders.ts'
import * as field from '../documents.ts'
import {
  type MarkerKind,
  STATUS_KINDS,
  type StatusKind,
  PROJECT_STATUS_TEXT as TEXT,
  VERDICT_TEXT,
} from '../status-messages.ts'
import type { LostMarker } from './lost-markers.ts'

export const statusItemDocument = () =>
  field.object({
    kind: field.oneOf(Object.keys(STATUS_KINDS) as StatusKind[]),
    task: field.optional(field.task),
    path: field.text('The file or folder, relative to the root.'),
    host_session: field.optionalText("The host's id for the conversation that it belongs to."),
    message: field.text('The unfinished item, in one line.'),
    sentence: field.text('The same as a sentence, as --github prints it.'),
    fix: field.optionalText('What to do about it.'),
  })

export type StatusItem = field.DocumentOf<typeof statusItemDocument>

const FIRST_STOP_MS = 600_000

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

export interface MarkerLocation {
  readonly root: string
  readonly rootOption: string | undefined
}

export function markerItem(view: MarkerView, location: MarkerLocation, isUnseen: boolean): StatusItem {
  const { spent, limit } = view.continuations
  const kind = markerKindOf(view)
  const left = view.steps.filter(({ done }) => !done).map(({ name }) => name)
  const [failed] = view.checks.flatMap(({ run, failed }) => (failed === null ? [] : { run, failure: failed }))
  const faults = unparsedFaults(view)
  const problem = faults === undefined ? view.problems[0] : unparsedMarker(faults)
  const facts = [
    view.state === 'unreadable' && problem,
    view.operation !== null && oneLine(view.operation, 60),
    kind === 'unchecked' && TEXT.unchecked,
    kind === 'abandoned' && TEXT.gaveUp(limit),
    view.wait !== null && TEXT.waitsFor(view.wait.for),
    view.age_ms !== null && TEXT.age(formatAge(view.age_ms)),
    (kind === 'pending' || kind === 'unreadable') && spent !== null && spent > 0 && TEXT.blocked(spent, limit),
    left.length > 0 && TEXT.steps(left.length),
    failed !== undefined && TEXT.failedCheck(failed.run, failed.failure),
    view.state !== 'unreadable' && TEXT.session(view.owner.host_session),
    isUnseen && TEXT.unseen,
  ]
  return {
    kind,
    task: view.task,
    path: view.relative_path,
    host_session: view.owner.host_session,
    message: TEXT.item(kind, inLine(view.relative_path), facts),
    sentence: VERDICT_TEXT.marker(view.task, kind, {
      blocked: spent,
      waitsFor: view.wait?.for,
      problem,
      checks: view.checks.map(({ run }) => run),
      failed,
      steps: left,
    }),
    fix: markerFixFor(view, kind, location),
  }
}

export function markerFixFor(view: MarkerView, kind: MarkerKind, { root, rootOption }: MarkerLocation): string {
  const clear = commandLine(['clear', view.task], rootOption)
  if (kind === 'unreadable')
    return unparsedFaults(view) === undefined ? TEXT.fixes.unreadable : TEXT.fixes.unparsed(clear)
  if (kind === 'bypassed') return TEXT.fixes.bypassed
  const adopt = commandLine(['adopt', view.task], rootOption)
  const isOver = kind === 'abandoned' || kind === 'unchecked'
  if (isSessionFolderName(view.task)) return doneMarkerFix(root, rootOption, { task: view.task, isOver })
  return isOver ? TEXT.fixes.abandoned(adopt, clear) : TEXT.fixes.pending(clear, adopt)
}

export function lostMarkerItem(lost: LostMarker, nowMs: number, rootOption: string | undefined): StatusItem {
  const { kind, task, relative, record, unproven } = lost
  const path = inLine(relative)
  const session = [...(record?.sessions ?? [])].at(-1) ?? null
  const facts = [
    kind === 'unchecked' && TEXT.unchecked,
    kind !== 'removed' && TEXT.fileGone,
    record !== undefined && TEXT.lastSeen(formatAge(Math.max(0, nowMs - record.lastMs))),
    unproven.length > 0 && TEXT.unproven(unproven),
    record !== undefined && TEXT.session(session),
  ]
  return {
    kind,
    task,
    path,
    host_session: session,
    message: TEXT.item(kind, path, facts),
    sentence: kind === 'removed' ? VERDICT_TEXT.removed(task, unproven) : VERDICT_TEXT.fileGone(task, kind, unproven),
    fix: TEXT.fixes.lost(commandLine(['clear', inLine(task)], rootOption)),
  }
}

function markerKindOf({ state, outcome, wait }: MarkerView): MarkerKind {
  if (state === 'abandoned') return outcome === 'unchecked' ? 'unchecked' : 'abandoned'
  return state === 'pending' && wait !== null ? 'waiting' : state
}

export function annotation({ kind, path, sentence }: StatusItem): string {
  return annotationLine('error', kind, path, sentence)
}

export function annotationLine(level: 'error' | 'warning', kind: string, path: string, sentence: string): string {
  return `::${level} title=${property(`postflight ${kind}`)},file=${property(path)}::${escaped(sentence)}`
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
