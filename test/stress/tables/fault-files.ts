/** A project's files before and after a program, and the checks of them when it was stopped half-way. */

import fs from 'node:fs'
import path from 'node:path'
import { CHECKING_FILE } from '../../../src/kernel/files.ts'
import { parseMarker } from '../../../src/marker/marker.ts'
import { markerKey } from '../../../src/marker/stored-marker.ts'
import { isState, parseState } from '../../../src/run/machine/state-file.ts'
import { ABANDONED, CLAIMS, GUARD, LOCK, MARKER } from '../support/contention.ts'
import { jsonOf, linesOf } from '../support/files.ts'

export type Files = Readonly<Record<string, string>>

export function putFiles(folder: string, files: Files): void {
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    const target = path.join(folder, name)
    fs.mkdirSync(name.endsWith('/') ? target : path.dirname(target), { recursive: true })
    if (!name.endsWith('/')) fs.writeFileSync(target, text)
  }
  letTimePass(folder)
}

export function letTimePass(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const isTimed = entry.name.startsWith(LOCK) || entry.name === CHECKING_FILE || entry.parentPath.endsWith(CLAIMS)
    if (entry.isFile() && isTimed) fs.utimesSync(path.join(entry.parentPath, entry.name), 1e9, 1e9)
  }
}

/** The text with times, durations, and ids that are not in `known`, replaced: they differ in every run. */
export function withoutChance(text: string, known: string): string {
  return text
    .replace(/(pf|wf)_[A-Za-z0-9]{12}/g, (id, kind) => (known.includes(id) ? id : `${kind}_new`))
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'time')
    .replace(/("durations":\{)[^}]*/g, '$1')
    .replace(/(?:sess|workflow)_\d+(?:_[a-z0-9]{6})?/g, 'sess')
}

const lastName = (name: string): string => name.slice(name.lastIndexOf('/') + 1)
const isMarker = (name: string): boolean => lastName(name) === MARKER || lastName(name).startsWith(ABANDONED)
const isCopy = (name: string): boolean => lastName(name).startsWith('.postflight-unparsed')
const isLines = (name: string): boolean => ['journal.jsonl', 'history.jsonl'].includes(lastName(name))
/** A note about a marker that was given up: half a note counts as none. */
const isNote = (name: string): boolean => name.includes('/given-up/')
const isReport = (name: string): boolean => name.includes('/reports/')
const isBackup = (name: string): boolean => lastName(name).includes('.postflight-backup')

/** True for a file that a killed process may leave: it has no effect. */
export function isLitter(name: string): boolean {
  const last = lastName(name)
  // write-file-atomic adds a number to the name of the file.
  return last.startsWith(LOCK) || /\.tmp(?:\.\d+)?$/.test(last)
}

/** True for a file whose loss would be permanent: evidence, settings and the files of a run. */
const isEvidence = (name: string): boolean =>
  !name.endsWith('/') &&
  !isLitter(name) &&
  lastName(name) !== GUARD &&
  !isNote(name) &&
  !isReport(name) &&
  !name.includes(`${CLAIMS}/`) &&
  !['.gitignore', 'journal.jsonl', 'history.jsonl', 'state.json', 'prompt.md'].includes(lastName(name))

/**
 * The flaws of the files that a power cut left. As after a kill, but what only repeats or records may be lost or damaged: the
 * loop guard, the journal and the history, notes about markers that were given up, reports of sub-agents, `.gitignore` of
 * our own folders, a run's prompts (docs/design.md, "Power cuts").
 */
export function findCutFlaws(before: Files, after: Files, left: Files): string[] {
  const mayBeLost = (name: string): boolean =>
    [isLines, isNote, isReport].some((is) => is(name)) ||
    /^(?:\.postflight-loop-guard|\.gitignore|prompt(?:-\d+)?\.md)$/.test(lastName(name))
  const [was, would, is] = [before, after, left].map((files) =>
    Object.fromEntries(Object.entries(files).filter(([name]) => !mayBeLost(name))),
  ) as [Files, Files, Files]
  return findFileFlaws(was, would, is)
}

/**
 * The flaws of the files that a program left after a fault, compared with the files before it and with those that it leaves
 * without a fault. Each file reads as before or as after, and no file is missing that was there before and after.
 * `isSettled`: other programs ran since, so the marker may have ended.
 */
export function findFileFlaws(before: Files, after: Files, left: Files, isSettled = false): string[] {
  const known = Object.values(before).join('\n')
  const plain = (text: string): string => withoutChance(text, known)
  const texts = (files: Files, wanted: (name: string) => boolean): string[] =>
    Object.entries(files).flatMap(([name, text]) => (wanted(name) ? [plain(text)] : []))
  const fromEither = (wanted: (name: string) => boolean) => [before, after].flatMap((files) => texts(files, wanted))
  const flaws: string[] = []
  const notes = [before, after, left]
    .flatMap((files) => Object.entries(files))
    .filter(([name]) => isMarker(name))
    .map(([, text]) => plain(`${markerKey(parseMarker(text))}\n`))

  for (const [name, text] of Object.entries(left)) {
    const allowed = (ok: boolean): void => {
      if (!ok) flaws.push(`${name} reads ${JSON.stringify(text.slice(0, 300))}`)
    }
    const last = lastName(name)
    if (name.endsWith('/') || isLitter(name)) continue
    if (last === GUARD) allowed(/^\d+\n$/.test(text))
    else if (name.includes(`${CLAIMS}/`)) allowed(/^(?:\.gitignore|[\w-]+\.(?:[1-9]|expired))$/.test(last))
    else if (isMarker(name)) allowed(fromEither(isMarker).includes(plain(text)))
    else if (isNote(name)) allowed(notes.some((note) => note.startsWith(plain(text))))
    else if (isCopy(name)) allowed(fromEither((one) => isMarker(one) || isCopy(one)).includes(plain(text)))
    else if (isBackup(name)) allowed(fromEither((one) => isBackup(one) || one.endsWith('settings.json')).includes(text))
    else if (last === 'state.json') allowed(isState(parseState(text)))
    else if (isLines(name)) flaws.push(...findLineFlaws(name, text, isSettled))
    else if (last === '.gitignore') allowed('*\n'.startsWith(text))
    else allowed(fromEither((one) => !isMarker(one)).includes(plain(text)))
  }

  flaws.push(...lostRuns(left))

  const kept = texts(left, isEvidence)
  for (const [name, text] of Object.entries(before)) {
    // An abandoned marker is renamed for the next one, and an ended run is moved aside for a new one.
    const hasMoved = !name.endsWith('/') && Object.values(left).includes(text)
    if (!isSettled && name in after && !(name in left) && !hasMoved) flaws.push(`${name} is gone`)
    if (isLines(name) && !Object.entries(left).some(([one, now]) => isLines(one) && now.startsWith(text)))
      flaws.push(`${name} lost lines`)
    const stays = texts(after, isEvidence).includes(plain(text))
    if (isEvidence(name) && stays && !kept.includes(plain(text))) flaws.push(`the content of ${name} is lost`)
  }
  return flaws
}

/** True for a run file. A killed process may leave a hidden one, which is none. */
export const isRunFile = (name: string): boolean => /\/running\/[^./][^/]*$/.test(name)

/** The flaws of active runs that have no run file: no hook would find them. */
function lostRuns(left: Files): string[] {
  return Object.entries(left).flatMap(([name, text]) => {
    if (!isStateFile(name)) return []
    const state = parseState(text)
    const isFound = (id: string): boolean =>
      Object.entries(left).some(([one, content]) => isRunFile(one) && content.includes(`"${id}"`))
    return isState(state) && state.active && !isFound(state.id ?? '')
      ? [`${name} is of a run without its run file`]
      : []
  })
}

const isStateFile = (name: string): boolean => name.endsWith('workflow/state.json') && !name.includes('/workflow-runs/')

/** The flaws of runs after a stop: a run file or an id that no active run has, and an active run that has none. */
export function findRunFlaws(left: Files): string[] {
  const states = Object.entries(left).flatMap(([name, text]) => (isStateFile(name) ? [parseState(text)] : []))
  const active = states.flatMap((state) => (isState(state) && state.active && state.id !== undefined ? [state.id] : []))
  const stale = Object.entries(left)
    .filter(([name]) => isRunFile(name) || name.endsWith('/workflow/id'))
    .filter(([, text]) => !active.some((id) => text.includes(id)))
  return [...lostRuns(left), ...stale.map(([name]) => `${name} is left of a run that is not active`)]
}

/** True when appended lines are complete, except for the one that the fault hit, which was the last one at that time. */
function findLineFlaws(name: string, text: string, isSettled: boolean): string[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const broken = linesOf(whole).filter((line) => jsonOf(line) === undefined)
  return broken.slice(isSettled ? 1 : 0).map((line) => `${name} holds ${line}`)
}

/** The files that show whether a command did its work: markers, copies, settings, a run's state. */
export function essentials(files: Files, known: string): Record<string, string> {
  const found = Object.entries(files).filter(
    ([name]) => isMarker(name) || name.endsWith('settings.json') || (isEvidence(name) && !isBackup(name)),
  )
  const state = Object.entries(files).find(([name]) => name.endsWith('workflow/state.json'))
  return Object.fromEntries(
    [...found, ...(state === undefined ? [] : [state])].map(([name, text]) => [name, withoutChance(text, known)]),
  )
}
