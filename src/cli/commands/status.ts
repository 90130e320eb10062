import fs from 'node:fs'
import path from 'node:path'
import * as z from 'zod/mini'
import { doneFinding } from '../../done/done-finding.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { unsearchable } from '../../kernel/error-messages.ts'
import { messageOf, PostflightError } from '../../kernel/errors.ts'
import { DONE_PATH, SPECS_FOLDER, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { counted, inLine, oneLine } from '../../kernel/text.ts'
import { shortCommand } from '../../marker/check-messages.ts'
import { expectedFault, isInVerdict, type MarkerRecord, markerRecords } from '../../marker/marker-record.ts'
import { type MarkerView, viewMarkers } from '../../marker/marker-view.ts'
import { type CommandContext, findCommandRoot } from '../../project/command-context.ts'
import { journalFiles } from '../../project/journal.ts'
import { wholeMarkerEntries } from '../../project/journal-entries.ts'
import { sessionsOfHook } from '../../project/journal-entry.ts'
import { parseTaskReference, withoutCompletion } from '../../project/task-folder.ts'
import { foldersHolding, isMeant, listTaskFolders } from '../../project/task-folders.ts'
import * as field from '../../views/documents.ts'
import { checkTwice, lostMarkers } from '../../views/status/lost-markers.ts'
import type { CompletedRun } from '../../views/status/run-items.ts'
import type { StatusItem } from '../../views/status/status-items.ts'
import * as status from '../../views/status/status-items.ts'
import { type Declaration, idOf, type Run, remoteOption, repeatable, WATCH } from '../command.ts'
import { sharedDocument } from '../workflow/shared-status.ts'

/** With `--exit-code` it is a verdict for CI. */

export const declaration = {
  free: true,
  description: 'show what is unfinished in the project, and what to do (the same as `postflight` alone)',
  examples: [
    'status',
    'status --watch',
    'status --exit-code --github --expect 259',
    'status --shared --exit-code',
    'status --json',
  ],
  declare: (command) =>
    command
      .option('--exit-code', 'exit with 1 unless everything is done (for CI)', false)
      .option('--session <id>', 'only what belongs to this session of the host', idOf('--session'))
      .option(
        ...repeatable(
          '--expect <task>',
          'also exit with 1 unless a marker of this task was made and cleared, or its workflow completed',
        ),
      )
      .addOption(
        remoteOption('--shared [remote]', 'show the shared runs in a git remote instead (default: origin)', ''),
      )
      .option('--github', 'print annotations for GitHub Actions', false)
      .option(...WATCH),
} satisfies Declaration

export const document = () => z.union([projectDocument(), sharedDocument()])

const projectDocument = () => {
  const item = status.statusItemDocument()
  return field.object({
    root: field.optionalText('The folder that holds specs/; null if there is none.'),
    clean: field.flag(
      'True if nothing is pending, abandoned or unfinished. With --exit-code, the exit code is 1 if not.',
    ),
    cleared: field.count(
      'The number of markers that were cleared, by the journal: those of --session, or those of the last 24 hours.',
    ),
    checks_passed: field.texts('A check that passed for one of them.'),
    completed: field.count('The number of workflows that were completed without skips.'),
    items: field.list(item),
    done: field.optionalObject(
      'Whether specs/done.yaml has effect on this machine; null if there is none. It is not in the verdict.',
      {
        standing: field.oneOf(['trusted', 'untrusted', 'changed', 'unreadable', 'missing']),
        message: field.text('The standing as a sentence; what is wrong in the file if it is invalid.'),
        fix: field.optionalText('What to do about it.'),
      },
    ),
    ended: field.described(
      field.list(item),
      'The runs that a person aborted, and those that continue elsewhere, until `clear` accepts them. They do not count.',
    ),
  })
}

export const run: Run<typeof declaration, typeof document> = async (context, _given, options) => {
  if (options.shared !== undefined) {
    const { shared, exitCode, ...others } = options
    const other = Object.entries(others).find(([, value]) => (Array.isArray(value) ? value.length > 0 : value))
    if (other !== undefined) throw new PostflightError('shared-alone', { option: `--${other[0]}` })
    const { sharedStatus } = await import('../workflow/shared-status.ts')
    return sharedStatus(context, shared, exitCode)
  }
  const { session } = options
  const expect = options.expect.map((task) => withoutCompletion(task).replace(/^specs\//, ''))
  for (const task of expect) parseTaskReference(task)
  const root = findCommandRoot(context)
  const location = root ?? context.cwd
  const found = root === undefined ? NOTHING : await inspectProject(context, root, session)
  const items = [...found.items, ...expectedItems(expect, location, session, found)]
  const done = root === undefined ? null : ((await doneFinding(context, root)) ?? null)
  const clean = items.length === 0
  const isVerdict = options.exitCode || expect.length > 0
  const result = {
    exitCode: isVerdict && !clean ? 1 : 0,
    data: {
      root: root ?? null,
      clean,
      cleared: found.cleared.length,
      checks_passed: passedIn(found.cleared),
      completed: found.completed.length,
      items,
      done,
      ended: found.ended,
    },
  } as const
  const summary = root === undefined ? 'no marker was made: no specs/ folder here' : cleanSummary(root, session, found)
  const warnings = done === null || done.standing === 'trusted' ? [] : [done]
  if (options.github) {
    const warningLines = warnings.map(({ message, fix }) => {
      const sentence = fix === null ? message : `${message} → ${fix}`
      return status.annotation({ kind: 'done', path: DONE_PATH, sentence }, 'warning')
    })
    // Annotations are for programs, so --quiet keeps them.
    const essential = [...items.map((item) => status.annotation(item)), ...warningLines]
    return { ...result, lines: clean ? [summary, ...essential] : essential, essential }
  }
  const isFirst = clean && !isVerdict && !options.watch && found.records.length + found.completed.length === 0
  const notes = [...warnings, ...(isFirst ? await unwiredNotes(context, root) : [])]
  const lines = [
    ...(clean ? [summary] : linesOf(items, context)),
    ...notes.flatMap(({ message, fix }) => withFix(`${context.paint.yellow('!')} ${message}`, fix)),
    ...(found.ended.length === 0 ? [] : ['ended', ...linesOf(found.ended, context)]),
  ]
  return { ...result, lines }
}

function passedIn(cleared: readonly MarkerRecord[]): string[] {
  return [...new Set(cleared.flatMap(({ passed }) => passed))]
}

function cleanSummary(root: string, session: string | undefined, { records, cleared, completed }: Found): string {
  const location = session === undefined ? oneLine(root, 300) : `session ${oneLine(session, 120)}`
  if (records.length + completed.length === 0) {
    const period = session === undefined ? ' in the last 24 h' : ''
    return `no marker was made by \`postflight create\` in ${location}${period}, none is pending`
  }
  return [
    ...(records.length === 0 ? [] : [clearedText(cleared)]),
    ...(completed.length === 0 ? [] : [`${counted(completed.length, 'workflow')} completed`]),
    `none pending in ${location}`,
  ].join(', ')
}

function clearedText(cleared: readonly MarkerRecord[]): string {
  if (cleared.length === 0) return 'nothing was cleared'
  const text = `${cleared.length} cleared`
  const commands = passedIn(cleared).map(shortCommand).join(', ')
  if (commands === '') return text
  const { length } = cleared.filter(({ passed }) => passed.length > 0)
  return length < cleared.length
    ? `${text}, ${length} of them with checks (passed: ${commands})`
    : `${text} (checks passed: ${commands})`
}

/** For a new project: nothing was ever recorded here. */
async function unwiredNotes(context: CommandContext, root: string | undefined) {
  if (root !== undefined && fs.existsSync(journalFiles(root).current)) return []
  const { isWired } = await import('../../setup/install/unwired.ts')
  if (isWired(context, root ?? context.cwd)) return []
  const message = 'no settings file of a host starts the hook, so stops are probably not blocked here'
  return [{ message, fix: commandLine(['init'], context.rootOption) }]
}

type Found = Awaited<ReturnType<typeof inspectProject>>

const NOTHING: Found = { items: [], ended: [], completed: [], records: [], cleared: [] }

async function inspectProject(context: CommandContext, root: string, session: string | undefined) {
  const { rootOption, nowMs } = context
  const isRecent = (record: MarkerRecord): boolean => isInVerdict(record, session, nowMs)
  const { markers, problems, journal, lost } = checkTwice(root, () => {
    const view = viewMarkers(root, nowMs)
    const journal = readRecords(root)
    // The note may be the only trace of a marker that was given up.
    const lost = lostMarkers(context, root, journal.records, view).filter(({ kind, record }) =>
      record === undefined || (kind !== 'removed' && session === undefined) ? true : isRecent(record),
    )
    return { ...view, journal, lost }
  })
  const records = journal.records.filter(isRecent)
  const runs = await runsIn(context, root)
  const runItems = runs.filter((run) => run.kind !== 'completed')
  const openRuns = runItems.filter((item) => !isDecided(item))
  const isUnseen = (view: MarkerView): boolean => status.isSessionUnseen(view, journal.sessions, context.session)
  const items = [...markers.map((view) => status.markerItem(view, { root, rootOption }, isUnseen(view))), ...openRuns]
  return {
    items: [
      ...items.filter((item) => isOf(item, session)),
      ...lost.map((one) => status.lostMarkerItem(one, nowMs, rootOption)),
      ...problems.map((problem) => unsearched(root, problem.path, unsearchable(problem.path, problem.detail))),
      ...journal.items,
    ],
    ended: runItems.filter((item) => isDecided(item) && isOf(item, session)),
    completed: runs.filter((run) => run.kind === 'completed'),
    records,
    cleared: records.filter(({ end }) => end === 'cleared'),
  }
}

async function runsIn(context: CommandContext, root: string) {
  const folders = foldersHolding(listTaskFolders(root).folders, WORKFLOW_FOLDER)
  if (folders.length === 0) return []
  // The code of runs takes 5 ms to load.
  const { runItems } = await import('../../views/status/run-items.ts')
  return runItems(context, folders)
}

function isDecided({ kind }: StatusItem): boolean {
  return kind === 'aborted' || kind === 'moved'
}

/** An unreadable journal is an item: it may say that a marker was removed by hand. */
function readRecords(root: string) {
  try {
    const lines = wholeMarkerEntries(root)
    return { records: markerRecords(lines), sessions: sessionsOfHook(lines), items: [] }
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return { records: [], sessions: undefined, items: [unsearched(root, journalFiles(root).current, messageOf(error))] }
  }
}

function unsearched(root: string, location: string, what: string): StatusItem {
  const message = inLine(what)
  const relative = inLine(path.relative(root, location))
  const sentence = status.problemSentence(message)
  return { kind: 'unsearched', task: null, path: relative, host_session: null, message, sentence, fix: null }
}

function isOf({ kind, host_session }: StatusItem, session: string | undefined): boolean {
  return session === undefined || host_session === session || kind === 'unreadable' || kind === 'unusable'
}

function expectedItems(
  tasks: readonly string[],
  location: string,
  session: string | undefined,
  { items, records, completed }: Found,
): StatusItem[] {
  return [...new Set(tasks)].flatMap((word): StatusItem[] => {
    const reference = parseTaskReference(word)
    if (items.some(({ task }) => task !== null && isMeant({ task }, reference))) return []
    const fault = expectedFault(records.filter((record) => isMeant(record, reference)))
    if (fault === undefined) return []
    const isOfSession = (run: CompletedRun): boolean => session === undefined || run.host_session === session
    if (fault.kind === 'not-made' && completed.some((run) => isOfSession(run) && isMeant(run, reference))) return []
    const sentence = expectedSentence(word, fault, session, location)
    const message = `expected: ${sentence}`
    return [{ kind: 'expected', task: word, path: SPECS_FOLDER, host_session: null, message, sentence, fix: null }]
  })
}

type ExpectedFault = NonNullable<ReturnType<typeof expectedFault>>

function expectedSentence(task: string, fault: ExpectedFault, session: string | undefined, location: string): string {
  const name = `Task ${/^\d+$/.test(task) ? Number(task) : `"${oneLine(task, 120)}"`}`
  if (fault.kind === 'not-cleared') return `${name}: its marker was not cleared.`
  if (fault.kind === 'not-checked') {
    return `${name}: its marker was cleared, but without its checks (${status.quotedCommands(fault.checks)}).`
  }
  const inSession = session === undefined ? '' : ` by session ${oneLine(session, 120)}`
  return `${name}: no marker was made${inSession}, and no workflow completed, in ${oneLine(location, 300)}.`
}

const GOES_ON: readonly StatusItem['kind'][] = ['pending', 'waiting', 'running', 'bypassed']

function linesOf(items: readonly StatusItem[], context: CommandContext): string[] {
  return items.flatMap(({ kind, message, fix }) => withFix(`${markOf(kind, context)} ${message}`, fix))
}

function withFix(line: string, fix: string | null): string[] {
  return fix === null ? [line] : [line, `  → ${fix}`]
}

function markOf(kind: StatusItem['kind'], { paint }: CommandContext): string {
  if (kind === 'aborted' || kind === 'moved') return paint.dim('○')
  return GOES_ON.includes(kind) ? paint.yellow('●') : paint.red('✗')
}
