import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { type JournalLine, parseJournalLine } from '../../core/journal-entry.ts'
import { LOGS_TEXT } from '../../core/messages/commands.ts'
import { journalCut, KIND_NAMES } from '../../core/messages/files.ts'
import { oneLine } from '../../core/text.ts'
import { kindAt } from '../../io/fs/path-kind.ts'
import { journalPaths } from '../../io/journal.ts'
import { JOURNAL_PART_BYTES, readJournalPart } from '../../io/journal-tail.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../context.ts'
import type { LogsDocument } from '../documents/logs.ts'
import { jsonText } from '../report.ts'
import type { Screen } from '../screen.ts'

/** `postflight logs`: prints the journal for people. */

export interface LogsOptions {
  /** The number of last entries to print. */
  readonly count: number
}

const FOLLOW_INTERVAL_MS = 500

export function logs(context: CommandContext, options: LogsOptions): CommandResult<LogsDocument> {
  const { last, isEmpty } = lastEntries(context, options)
  return {
    exitCode: 0,
    data: { entries: last },
    lines: isEmpty ? [LOGS_TEXT.empty] : last.map(describeEntry),
  }
}

/** The last entries, and the position after them (in bytes). */
function lastEntries(
  context: CommandContext,
  { count }: LogsOptions,
): { readonly last: readonly JournalLine[]; readonly isEmpty: boolean; readonly end: number } {
  const { entries, end } = allEntries(context, requireRoot(context))
  return { last: count === 0 ? [] : entries.slice(-count), isEmpty: entries.length === 0, end }
}

/** The whole journal, and the position after it (in bytes). If the journal is too long, only its last part. */
export function allEntries(
  context: CommandContext,
  root: string,
): { readonly entries: readonly JournalLine[]; readonly end: number } {
  const { old, current } = readableJournal(root)
  const parts = [readJournal(old, 0), readJournal(current, 0)]
  if (parts.some(({ cut }) => cut)) context.note(`postflight: ${journalCut(JOURNAL_PART_BYTES)}`)
  return { entries: parts.flatMap(({ lines }) => parseLines(lines)), end: parts[1]?.end ?? 0 }
}

/**
 * Prints the last entries and then each new one, until it is stopped or the reader is gone. After a rotation it first
 * reads the rest of the old file.
 */
export async function followLogs(
  context: CommandContext,
  options: LogsOptions,
  screen: Screen,
  json: boolean,
): Promise<void> {
  const { old, current } = readableJournal(requireRoot(context))
  const { last, end } = lastEntries(context, options)
  let position = end
  const print = (entry: JournalLine): boolean => screen.print(`${json ? jsonText(entry) : describeEntry(entry)}\n`)
  const readNew = (): JournalLine[] => {
    const isRotated = sizeOf(current) < position
    const before = isRotated ? parseLines(readJournal(old, position).lines) : []
    const read = readJournal(current, isRotated ? 0 : position)
    position = read.end
    return [...before, ...parseLines(read.lines)]
  }
  if (!last.every(print)) return
  do {
    if (!readNew().every(print)) return
  } while (await screen.pause(FOLLOW_INTERVAL_MS))
}

/** The journal's files. Their folder must not be a link, which may lead out of the project. */
function readableJournal(root: string): ReturnType<typeof journalPaths> {
  const paths = journalPaths(root)
  const kind = kindAt(paths.folder)
  if (kind !== undefined && kind !== 'folder') refuse(paths.folder, KIND_NAMES[kind])
  return paths
}

function sizeOf(file: string): number {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false })
  return stats?.isFile() ? stats.size : 0
}

function readJournal(file: string, start: number) {
  const part = readJournalPart(file, start)
  return part.kind === 'unreadable' ? refuse(file, part.detail) : part
}

function refuse(file: string, detail: string): never {
  throw new PostflightError('file-unreadable', { path: file, detail })
}

function parseLines(lines: readonly string[]): JournalLine[] {
  return lines.map(parseJournalLine).filter((entry) => entry !== undefined)
}

function describeEntry(entry: JournalLine): string {
  const value = (name: string): string | undefined =>
    entry[name] === undefined ? undefined : oneLine(String(entry[name]), 200)
  const described = (name: string, say: (text: string) => string): string | undefined => {
    const text = value(name)
    return text === undefined ? undefined : say(text)
  }
  const facts = [
    value('task'),
    described('count', LOGS_TEXT.continuation),
    value('outcome'),
    described('host_session', LOGS_TEXT.session),
    described('agent', LOGS_TEXT.agent),
    value('marker_id'),
    value('detail'),
  ]
  const name = (value('event') ?? '').padEnd(14)
  return `${value('time') ?? ''}  ${name} ${facts.filter((fact) => fact !== undefined).join(' · ')}`
}
