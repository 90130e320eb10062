import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { type JournalLine, parseJournalLine } from '../../core/journal-entry.ts'
import { journalCut } from '../../core/messages/files.ts'
import { oneLine } from '../../core/text.ts'
import { kindAt } from '../../io/fs/path-kind.ts'
import { journalPaths } from '../../io/journal.ts'
import { JOURNAL_PART_BYTES, readJournalPart } from '../../io/journal-tail.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../context.ts'
import type { LogsDocument } from '../documents/logs.ts'
import { jsonText } from '../report.ts'
import type { Screen } from '../screen.ts'

/** `postflight logs`: the journal, readable. */

export interface LogsOptions {
  /** How many of the last entries. */
  readonly count: number
}

const FOLLOW_INTERVAL_MS = 500

export function logs(context: CommandContext, options: LogsOptions): CommandResult<LogsDocument> {
  const { last, isEmpty } = lastEntries(context, options)
  return {
    exitCode: 0,
    data: { entries: last },
    lines: isEmpty ? ['the journal is empty'] : last.map(describeEntry),
  }
}

/** The last entries, and where the journal goes on from there (bytes). */
function lastEntries(
  context: CommandContext,
  { count }: LogsOptions,
): { readonly last: readonly JournalLine[]; readonly isEmpty: boolean; readonly end: number } {
  const { old, current } = readableJournal(requireRoot(context))
  const parts = [readJournal(old, 0), readJournal(current, 0)]
  if (parts.some(({ cut }) => cut)) context.note(`postflight: ${journalCut(JOURNAL_PART_BYTES)}`)
  const entries = parts.flatMap(({ lines }) => parseLines(lines))
  return { last: count === 0 ? [] : entries.slice(-count), isEmpty: entries.length === 0, end: parts[1]?.end ?? 0 }
}

/**
 * Prints the last entries, then every one that comes, each on one line, until it is stopped or nobody reads any more.
 * Rotation is followed: what came before it lies in the old file.
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
  const comeIn = (): JournalLine[] => {
    const isRotated = sizeOf(current) < position
    const before = isRotated ? parseLines(readJournal(old, position).lines) : []
    const read = readJournal(current, isRotated ? 0 : position)
    position = read.end
    return [...before, ...parseLines(read.lines)]
  }
  if (!last.every(print)) return
  do {
    if (!comeIn().every(print)) return
  } while (await screen.pause(FOLLOW_INTERVAL_MS))
}

/** The journal's files, in a folder of our own: a link of that name leads to somebody else's. */
function readableJournal(root: string): ReturnType<typeof journalPaths> {
  const paths = journalPaths(root)
  const kind = kindAt(paths.folder)
  if (kind !== undefined && kind !== 'folder') refuse(paths.folder, kind)
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
  const facts = [
    value('task'),
    entry.count === undefined ? undefined : `continuation ${value('count')}`,
    value('outcome'),
    entry.host_session === undefined ? undefined : `session ${value('host_session')}`,
    entry.agent === undefined ? undefined : `agent ${value('agent')}`,
    value('marker_id'),
    value('detail'),
  ]
  const name = (value('event') ?? '').padEnd(14)
  return `${value('time') ?? ''}  ${name} ${facts.filter((fact) => fact !== undefined).join(' · ')}`
}
