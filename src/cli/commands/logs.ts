import * as z from 'zod/mini'
import { oneLine } from '../../kernel/text.ts'
import { requireRoot } from '../../project/command-context.ts'
import { allEntries, entriesAfter } from '../../project/journal-entries.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import * as field from '../../views/documents.ts'
import { jsonText, processScreen } from '../../views/print.ts'
import { type Declaration, numberOf, type Run } from '../command.ts'

const WHOLE_NUMBER = numberOf('-n', 0, Number.POSITIVE_INFINITY, 'takes a whole number')

export const declaration = {
  free: true,
  description: 'print the journal',
  examples: ['logs -n 50', 'logs --follow'],
  declare: (command) =>
    command
      .option('-n, --count <number>', 'number of entries to print, from the end', WHOLE_NUMBER, 20)
      .option('--follow', 'keep printing new entries until Ctrl-C', false),
} satisfies Declaration

const known = (description: string) => z.optional(field.described(z.unknown(), description))

export const journalEntryDocument = () =>
  z.looseObject({
    time: known('When it was written (ISO 8601).'),
    event: field.text('What happened.'),
    outcome: known('How the marker ended.'),
    marker_id: known("The marker's id."),
    replaces: known('The id of the marker that it replaces.'),
    keeps: known('The id of the marker that is kept as abandoned, because its checks were not run.'),
    settles: known('The ids of the abandoned markers that were removed (clear, adopt).'),
    task: known('Name of the task folder.'),
    host_session: known("The host's id for the conversation."),
    agent: known('"main" or the id of a sub-agent.'),
    count: known('The number of blocked stops, this one included.'),
    checks: known('The commands of its checks: those that it has (create), or those that passed (clear).'),
    detail: known('Details in words.'),
  })

export const document = () => field.object({ entries: field.list(journalEntryDocument()) })

const FOLLOW_INTERVAL_MS = 500

export const run: Run<typeof declaration, typeof document> = async (context, _given, options, { stdout, json }) => {
  const root = requireRoot(context)
  const { entries, end } = allEntries(context, root)
  const last = options.count === 0 ? [] : entries.slice(-options.count)
  if (options.follow) {
    const screen = processScreen(stdout, json)
    const print = (entry: JournalLine): boolean => screen.print(`${json ? jsonText(entry) : describeEntry(entry)}\n`)
    let read: ReturnType<typeof entriesAfter> = { entries: last, end }
    while (read.entries.every(print) && (await screen.pause(FOLLOW_INTERVAL_MS))) read = entriesAfter(root, read.end)
    return 0
  }
  return { data: { entries: last }, lines: entries.length === 0 ? ['the journal is empty'] : last.map(describeEntry) }
}

function describeEntry(entry: JournalLine): string {
  const value = (name: string, say = (text: string): string => text): string | undefined => {
    const given = entry[name]
    if (given === undefined) return undefined
    return say(oneLine(typeof given === 'string' ? given : JSON.stringify(given), 200))
  }
  const facts = [
    value('task'),
    value('count', (count) => `blocked stop ${count}`),
    value('outcome'),
    value('host_session', (session) => `session ${session}`),
    value('agent', (agent) => `agent ${agent}`),
    value('marker_id'),
    value('detail'),
  ]
  const name = (value('event') ?? '').padEnd(14)
  return `${value('time') ?? ''}  ${name} ${facts.filter((fact) => fact !== undefined).join(' · ')}`
}
