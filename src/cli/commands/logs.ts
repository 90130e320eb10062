import { oneLine } from '../../kernel/text.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../../project/command-context.ts'
import { allEntries, entriesAfter } from '../../project/journal-entries.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import type { LogsDocument } from '../../views/documents/logs.ts'
import type { Screen } from '../../views/print.ts'
import { jsonText } from '../../views/print.ts'
import { LOGS_TEXT } from '../command-messages.ts'

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
  const { last, end } = lastEntries(context, options)
  const root = requireRoot(context)
  let position = end
  const print = (entry: JournalLine): boolean => screen.print(`${json ? jsonText(entry) : describeEntry(entry)}\n`)
  const readNew = (): readonly JournalLine[] => {
    const { entries, end } = entriesAfter(root, position)
    position = end
    return entries
  }
  if (!last.every(print)) return
  do {
    if (!readNew().every(print)) return
  } while (await screen.pause(FOLLOW_INTERVAL_MS))
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
