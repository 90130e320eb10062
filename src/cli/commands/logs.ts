import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { parseJournalLine } from '../../core/journal-entry.ts'
import { journalCut } from '../../core/messages.ts'
import { oneLine } from '../../core/text.ts'
import { kindAt } from '../../io/file-access.ts'
import { journalPaths } from '../../io/journal.ts'
import { JOURNAL_PART_BYTES, readJournalPart } from '../../io/journal-reading.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../context.ts'
import { jsonText } from '../report.ts'
import type { Screen } from '../screen.ts'

/** `postflight logs`: the journal, readable. */

export interface LogsOptions {
  /** How many of the last entries. */
  readonly count: number
}

/** What was printed, and where the journal goes on from there (bytes). */
export interface LogsResult extends CommandResult {
  readonly end: number
}

type Entry = Readonly<Record<string, unknown>>

const FOLLOW_INTERVAL_MS = 500

export function logs(context: CommandContext, options: LogsOptions): LogsResult {
  const { old, current } = readableJournal(requireRoot(context))
  const parts = [readJournal(old, 0), readJournal(current, 0)]
  if (parts.some(({ cut }) => cut)) context.note(`postflight: ${journalCut(JOURNAL_PART_BYTES)}`)
  const entries = parts.flatMap(({ lines }) => parseLines(lines))
  const last = options.count === 0 ? [] : entries.slice(-options.count)
  return {
    exitCode: 0,
    data: { entries: last },
    lines: entries.length === 0 ? ['the journal is empty'] : last.map(describeEntry),
    end: parts[1]?.end ?? 0,
  }
}

/**
 * Prints every entry that comes after `start` (bytes), until it is stopped or nobody reads any more. Rotation is
 * followed: what came before it lies in the old file.
 */
export async function followLogs(context: CommandContext, start: number, screen: Screen, json: boolean): Promise<void> {
  const { old, current } = readableJournal(requireRoot(context))
  let position = start
  const comeIn = (): Entry[] => {
    const isRotated = sizeOf(current) < position
    const before = isRotated ? parseLines(readJournal(old, position).lines) : []
    const { lines, end } = readJournal(current, isRotated ? 0 : position)
    position = end
    return [...before, ...parseLines(lines)]
  }
  do {
    for (const entry of comeIn()) {
      if (!screen.print(`${json ? jsonText(entry) : describeEntry(entry)}\n`)) return
    }
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

function parseLines(lines: readonly string[]): Entry[] {
  return lines.map(parseJournalLine).filter((entry) => entry !== undefined)
}

function describeEntry(entry: Entry): string {
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
