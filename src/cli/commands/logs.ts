import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { parseJournalLine } from '../../core/journal-entry.ts'
import { oneLine } from '../../core/text.ts'
import { kindAt, readSmallBytes } from '../../io/file-access.ts'
import { journalPaths } from '../../io/journal.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../context.ts'

/** `postflight logs`: the journal, readable. */

export interface LogsOptions {
  /** How many of the last entries. */
  readonly count: number
}

type Entry = Readonly<Record<string, unknown>>

const FOLLOW_INTERVAL_MS = 500

/** It is rotated at 1 MiB, so a longer one (bytes) is none of ours. */
const JOURNAL_MAX_BYTES = 16_777_216

export function logs(context: CommandContext, options: LogsOptions): CommandResult {
  const { old, current } = readableJournal(requireRoot(context))
  const entries = [old, current].flatMap((file) => parseLines(readJournal(file)))
  const last = options.count === 0 ? [] : entries.slice(-options.count)
  return {
    exitCode: 0,
    data: { entries: last },
    lines: entries.length === 0 ? ['the journal is empty'] : last.map(describeEntry),
  }
}

/** Calls `print` with every entry that comes, until `stopped` resolves. Rotation is followed. */
export async function followLogs(
  context: CommandContext,
  print: (line: string, entry: Entry) => void,
  stopped: Promise<void>,
): Promise<void> {
  const { current } = readableJournal(requireRoot(context))
  let position = sizeOf(current)
  const look = (): void => {
    const size = sizeOf(current)
    if (size < position) position = 0
    if (size === position) return
    const text = readJournal(current, position)
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    position += Buffer.byteLength(whole)
    for (const entry of parseLines(whole)) print(describeEntry(entry), entry)
  }
  const timer = setInterval(look, FOLLOW_INTERVAL_MS)
  await stopped
  clearInterval(timer)
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

function readJournal(file: string, from = 0): string {
  const read = readSmallBytes(file, JOURNAL_MAX_BYTES)
  if (read.kind === 'absent') return ''
  if (read.kind === 'unreadable') return refuse(file, read.detail)
  if (!read.whole) return refuse(file, `larger than ${JOURNAL_MAX_BYTES} bytes`)
  return read.bytes.subarray(from).toString('utf8')
}

function refuse(file: string, detail: string): never {
  throw new PostflightError('file-unreadable', { path: file, detail })
}

function parseLines(text: string): Entry[] {
  return text
    .split('\n')
    .map(parseJournalLine)
    .filter((entry) => entry !== undefined)
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
