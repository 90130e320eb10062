import fs from 'node:fs'
import path from 'node:path'
import * as z from 'zod/mini'
import { errorCode, errorText } from '../../disk/file-facts.ts'
import { readEnd } from '../../disk/read.ts'
import type { JudgedDone } from '../../done/arm.ts'
import { ruleName } from '../../done/done-rules.ts'
import { hasDoneFile } from '../../done/trust-store.ts'
import { anyHost, eventTimeMs, exemptionOf, parsePayload } from '../../hosts/all-hosts.ts'
import { mayGetWork, type Occasion, occasionOf, type Payload } from '../../hosts/payload.ts'
import { unsearchable } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { DONE_PATH } from '../../kernel/files.ts'
import { inLine, stripControl } from '../../kernel/text.ts'
import { CONTINUATION_LIMIT, isSpent } from '../../marker/loop-guard.ts'
import { markerDisplayPath } from '../../marker/stored-marker.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { findHookLocation } from '../../project/root.ts'
import type { SearchProblem } from '../../project/task-folder.ts'
import { eachRunFile } from '../../run/store/run-file.ts'
import type { HookAnswer } from '../../stop/answer.ts'
import { answerToStart, NOTHING_DONE, printedAnswer } from '../../stop/answer-for.ts'
import { NO_RUNS, predictStop } from '../../stop/answer-stop.ts'
import { countContinuations, observeUnfinished, sessionBirthMs } from '../../stop/observe-stop.ts'
import type { PlannedMarker } from '../../stop/plan.ts'
import { RULES, type Rule } from '../../stop/rules.ts'
import * as field from '../../views/documents.ts'
import type { Declaration, Run } from '../command.ts'

export const declaration = {
  free: true,
  description: "show the hook's answer to a payload, and why; writes nothing",
  examples: ['explain --payload payload.json', 'explain --payload payload.json --json'],
  notes: [`  $ echo '{"hook_event_name":"Stop","session_id":"SESSION_ID"}' | postflight explain --payload -`],
  declare: (command) =>
    command.option('--payload <file>', 'the payload file, "-" for stdin (default: an empty payload)'),
} satisfies Declaration

export const document = () => {
  const letteredRows = Object.values(RULES).flatMap(({ row }) => (typeof row === 'string' ? row : []))
  const marker = field.object({
    path: field.text("The marker's path, relative to its root."),
    rule: field.optional(
      field.oneOf(Object.keys(RULES) as Rule[]),
      'The rule that decides; null if the marker cannot be read.',
    ),
    row: field.optional(z.union([z.number(), field.oneOf(letteredRows)]), "The rule's row in the table."),
    answer: field.oneOf(['allow', 'block']),
    why: field.text('The rule in words.'),
    continuations_spent: field.optionalCount(
      'The number of stops that it has blocked; null if the marker cannot be read.',
    ),
  })
  const run = field.object({
    path: field.text('The task folder, relative to its root.'),
    answer: field.described(
      field.oneOf(['allow', 'driver']),
      '"driver": the answer comes from the driver of the workflow.',
    ),
    why: field.text('The reason in words.'),
  })
  const sequence = { terminalSequence: z.optional(field.text("A notification for the user's terminal.")) }
  const answer = z.union([
    field.object(sequence),
    field.object({ decision: z.literal('block'), reason: field.text('The message to the agent.'), ...sequence }),
    field.object({
      hookSpecificOutput: field.object({
        hookEventName: z.literal('PreToolUse'),
        permissionDecision: z.literal('deny'),
        permissionDecisionReason: field.text('The message to the agent.'),
      }),
      ...sequence,
    }),
    field.object({ systemMessage: field.text('The message to the user.'), ...sequence }),
    field.object({ additionalContext: field.text('The message to the agent, on Copilot CLI.') }),
    field.object({
      hookSpecificOutput: field.object({
        hookEventName: field.text('The event.'),
        additionalContext: field.text('The message to the agent.'),
      }),
      systemMessage: z.optional(field.text('The message to the user.')),
    }),
  ])
  const rule = field.object({
    name: field.text("The rule's name, or its patterns."),
    due: field.flag('Whether files changed since the session began and since the rule was last proven.'),
    changed: field.texts('A changed file, relative to the root; at most five.'),
  })
  return field.object({
    payload: field.object({
      event: field.text('The event that the payload names.'),
      host_session: field.optionalText("The host's id for the conversation."),
      agent: field.optionalText('The sub-agent that stops; null: the main conversation, or not known.'),
    }),
    roots: field.texts('A folder that holds specs/.'),
    why: field.optionalText('Why no marker is judged; null if markers are judged.'),
    markers: field.list(marker),
    done: field.described(
      field.objects({
        path: field.text('The definition of done, relative to its root.'),
        why: field.text('What the hook does about it.'),
        rules: field.list(rule),
      }),
      'The definitions of done of the roots.',
    ),
    runs: field.list(run),
    problems: field.list(field.searchProblem),
    answer: field.described(answer, 'What the hook would print.'),
  })
}

type ExplainDocument = field.DocumentOf<typeof document>

export const run: Run<typeof declaration, typeof document> = async (context, _given, options) => {
  const text = options.payload === undefined ? '' : await readPayload(context, options.payload)
  const payload = parsePayload(text, context.nowMs, readEnd)
  const { environment, cwd, rootOption, paint } = context
  const script = path.join(context.packageFolder, 'bin', 'postflight.js')
  const location = findHookLocation({ option: rootOption, payloadCwd: payload.cwd, environment, cwd }, script)
  const { roots } = location
  const { why, done, activeRuns, answer, alerts, notices, plan, ...predicted } = await predict(
    context,
    payload,
    location,
  )
  const markers = plan.map(describe)
  const notified = anyHost('showsNotice', payload, environment)
  const problems = [...location.problems, ...predicted.problems]
  const runs = activeRuns.map((one) => describeRun(one, mayGetWork(payload) && answer.kind !== 'block'))
  const isOpen = runs.some((one) => one.answer === 'driver')
  const kind = answer.kind === 'context' && answer.context === undefined ? 'notice' : answer.kind
  const [session] = plan.flatMap((one) => (one.kind === 'unreadable' ? [] : (one.marker.hostSession ?? [])))
  return {
    data: {
      payload: { event: payload.event, host_session: payload.session ?? null, agent: payload.agent ?? null },
      roots,
      why: why ?? null,
      markers,
      done: done.map(({ path, why, rules }) => ({ path, why, rules })),
      runs,
      problems,
      answer: JSON.parse(printedAnswer({ answer, alerts }, payload, environment)),
    },
    lines: [
      ...(text === '' ? howToPipe(context.session ?? session) : []),
      `${paint.bold(inLine(payload.event))} of session ${named(payload.session)}, agent ${named(payload.agent)}`,
      roots.length === 0 ? 'no root: no start folder leads to a specs/ folder' : inLine(`roots: ${roots.join(', ')}`),
      ...(why === undefined ? [] : [inLine(why)]),
      ...done.flatMap(({ path, why, rules }) => [`${path}: ${why}`, ...rules.map(ruleLine)]),
      ...(why === undefined && markers.length === 0 ? ['no pending markers'] : []),
      ...markers.map(({ path, rule, row, why }) => `${path}: ${rule === null ? why : `row ${row}, ${rule}: ${why}`}`),
      ...runs.map(({ path, why }) => `${path}: ${why}`),
      ...problems.map((problem) => inLine(unsearchable(problem.path, problem.detail))),
      `answer: ${paint.bold(kind)}${isOpen ? ", unless the workflow's driver sends a prompt" : ''}`,
      ...(answer.kind === 'block' ? [stripControl(answer.reason)] : []),
      ...('context' in answer && answer.context !== undefined ? [stripControl(answer.context)] : []),
      ...('context' in answer && answer.notice !== undefined ? [noticeLine(answer.notice)] : []),
      ...(answer.kind === 'allow' && notified ? notices.map(noticeLine) : []),
    ],
  }
}

async function predict(
  context: CommandContext,
  payload: Payload,
  { roots, reader }: Pick<ReturnType<typeof findHookLocation>, 'roots' | 'reader'>,
) {
  const { environment, nowMs } = context
  const why = whyNotJudged(context, payload)
  const occasion = occasionOf(
    { payload, environment, roots, reader, nowMs, deadline: undefined },
    {
      startMs: () => eventTimeMs(payload, environment) ?? context.findStart(),
      sessionBornMs: () => sessionBirthMs(payload, environment),
    },
  )
  if (why !== undefined) {
    const isStart =
      payload.event === 'SessionStart' &&
      environment.POSTFLIGHT_DISABLE !== '1' &&
      !anyHost('startsSubagent', payload, environment)
    const answer = isStart ? await predictStart(occasion) : NOTHING_DONE.answer
    return { ...NOTHING_DONE, why, answer, done: [], activeRuns: [], plan: [], problems: [] }
  }
  const unlisted: SearchProblem[] = []
  const activeRuns = await findRuns(roots, payload, unlisted)
  const hasRun = activeRuns.some(({ isMine }) => isMine)
  const notJudged = (error: unknown) =>
    nothing(`it could not be judged (${errorText(error)}), so new changes do not count`)
  const withDone = roots.filter(hasDoneFile)
  const done = await Promise.all(withDone.map((root) => describeDone(root, occasion, hasRun).catch(notJudged)))
  const made = done.flatMap(({ made }) => made ?? [])
  const judges = await judgesOf(withDone, occasion, hasRun)
  const stop = predictStop(occasion, { ...NO_RUNS, problems: unlisted }, judges, made)
  return { ...stop, why, done, activeRuns }
}

/** Loaded only for a definition of done. */
async function judgesOf(roots: readonly string[], occasion: Occasion, hasRun: boolean) {
  if (roots.length === 0) return undefined
  const { judgesAt } = await import('../../stop/done-part.ts')
  return { judges: judgesAt(roots, occasion, () => hasRun) }
}

function named(id: string | undefined): string {
  return inLine(id ?? '(unknown)')
}

function howToPipe(session = ''): string[] {
  const id = /^[\w-]{1,120}$/.test(session) ? session : 'ID'
  return [
    'To explain a stop, pipe what the host gives its hook to --payload - (or name a file). For example:',
    // Backticks keep the line whole on a narrow terminal, for copying.
    `  \`echo '{"hook_event_name":"Stop","session_id":"${id}"}' | postflight explain --payload -\``,
    'Without a payload, the hook assumes this stop:',
    '',
  ]
}

function noticeLine(notice: string): string {
  return `notice to the user: ${inLine(notice)}`
}

function ruleLine({ name, due, changed }: ExplainDocument['done'][number]['rules'][number]): string {
  const files = changed.length === 0 ? '' : ` (${changed.join(', ')})`
  return inLine(`  ${due ? 'due' : 'not due'}: ${name}${files}`)
}

function whyNotJudged({ environment }: CommandContext, payload: Payload): string | undefined {
  if (environment.POSTFLIGHT_DISABLE === '1') return 'POSTFLIGHT_DISABLE=1: every stop is allowed'
  if (payload.event !== 'Stop' && payload.event !== 'SubagentStop') {
    return `"${payload.event}" is not a stop event, so nothing is blocked`
  }
  const exemption = exemptionOf(payload, environment, readEnd)
  if (exemption === undefined) return undefined
  const { host, why } = exemption
  if (why === 'cut-off') return 'a person or an error ended this turn, so nothing is blocked'
  return why === 'own-agent'
    ? `this is a stop of ${host}'s own agent (a compaction), so nothing is blocked`
    : `${host} ignores the answer to this stop, so nothing is counted`
}

async function predictStart(occasion: Occasion): Promise<HookAnswer> {
  const { unfinished } = observeUnfinished(occasion)
  const { listUnfinishedRuns } = await import('../../run/store/active-runs.ts')
  const { noticesAtStart } = await import('../../done/arm.ts')
  const notified = occasion.roots.filter(hasDoneFile).flatMap((root) => noticesAtStart(root, occasion))
  return answerToStart(occasion, unfinished, listUnfinishedRuns(occasion.roots, occasion), notified)
}

function describe(planned: PlannedMarker): ExplainDocument['markers'][number] {
  if (planned.kind === 'unreadable') {
    const why = `cannot be read (${planned.detail}), so the stop is allowed`
    const path = markerDisplayPath(planned.folder)
    return { path, rule: null, row: null, answer: 'allow', why, continuations_spent: null }
  }
  const { rule, spent, folder } = planned
  const { row, answer } = RULES[rule]
  const path = markerDisplayPath(folder)
  return { path, rule, row, answer, why: RULE_SENTENCES[rule], continuations_spent: spent }
}

/** The hook's own search removes run files of runs that ended. */
async function findRuns(roots: readonly string[], { session }: Payload, problems: SearchProblem[]) {
  const files = roots.flatMap((root) => [...eachRunFile(root, problems)])
  if (files.length === 0) return []
  // The code of runs takes 5 ms to load.
  const { isRunning, runStatus } = await import('../../run/store/active-runs.ts')
  return files.flatMap((file) => {
    const { folder } = file
    if (folder === undefined) return []
    const { note, state } = runStatus(folder) ?? {}
    if (note === undefined || (state !== undefined && !isRunning(file, state))) return []
    const isMine = session !== undefined && state?.hostSession === session
    const isOfOther = state !== undefined && !isMine
    return { path: inLine(folder.relative), note: isOfOther ? `${note}: this session does not drive it` : note, isMine }
  })
}

type FoundRun = Awaited<ReturnType<typeof findRuns>>[number]

function describeRun({ path, note, isMine }: FoundRun, mayGetPrompt: boolean): ExplainDocument['runs'][number] {
  if (!isMine) return { path, answer: 'allow', why: note }
  const then = mayGetPrompt
    ? ', then sends the next prompt, or allows the stop if the run waits or has ended'
    : ' and allows the stop'
  return { path, answer: mayGetPrompt ? 'driver' : 'allow', why: `${note}: the driver checks the results${then}` }
}

function nothing(why: string) {
  return { path: DONE_PATH, why, rules: [], made: undefined }
}

async function describeDone(root: string, occasion: Occasion, hasRun: boolean) {
  // Loaded only for a definition of done.
  const { isJudged, judgeDone, predictMarker, searchFor } = await import('../../done/arm.ts')
  if (!isJudged(occasion.payload)) {
    return nothing(
      'only the stops of the main conversation are judged, not in plan mode, and not while work will wake the agent',
    )
  }
  if (hasRun) return nothing('a workflow of this session is active, so it blocks nothing until the workflow ends')
  const judged = judgeDone(root, occasion, await searchFor(root, occasion))
  if (typeof judged === 'string') return nothing(NOT_JUDGED[judged])
  const { folder, pending, asked } = judged
  const stored = predictMarker(judged)
  const counted = stored && (pending ? countContinuations(stored, occasion) : { ...stored, spent: 0 })
  // The hook raises the marker's count to the blocks that this prompt has had.
  const seen = counted?.kind === 'marker' ? { ...counted, spent: Math.max(counted.spent, asked) } : counted
  const rules = judged.states.map(({ rule, isDue, changed }) => ({ name: ruleName(rule), due: isDue, changed }))
  return { path: DONE_PATH, why: whatHappens(judged, seen !== undefined), rules, made: { folder, seen } }
}

function whatHappens({ pending, due, asked }: JudgedDone, hasMarker: boolean): string {
  if (pending !== undefined && hasMarker) return 'its marker is pending'
  if (due.length === 0) return 'no rule is due'
  return hasMarker && !isSpent(asked)
    ? 'rules are due: the hook makes a marker, and blocks the stop'
    : 'rules are due, but were given up or bypassed, or have blocked three stops of this prompt'
}

/** A person may wait for a program that writes the payload. */
const PATIENCE_MS = 30_000

async function readPayload({ cwd, readInput }: CommandContext, file: string): Promise<string> {
  try {
    // Node's stream of stdin would take another 10 ms.
    return fs.readFileSync(file === '-' ? 0 : path.resolve(cwd, file), 'utf8')
  } catch (error) {
    // A program before us made the pipe non-blocking.
    const read = file === '-' && errorCode(error) === 'EAGAIN' ? await readInput?.(PATIENCE_MS) : undefined
    if (read?.kind === 'text') return read.text
    throw new PostflightError('file-unreadable', { path: file, detail: errorCode(error) }, error)
  }
}

/** docs/design.md, "Stops". */
export const RULE_SENTENCES: Record<Rule, string> = {
  bypassed: 'stop_hook_active is true in the marker: the stop is allowed, and marker and loop guard are removed',
  'other-session': 'it belongs to another host session',
  'unowned-stop': 'it has no host session: such a marker blocks only the stops of sub-agents',
  expired: 'it has no host session and is older than 24 h: it no longer blocks',
  'before-session':
    'it has no host session and is older than this session: it comes from a clone, an archive or an earlier session',
  'other-agent': 'it belongs to another agent of this session',
  background:
    'the host will wake the agent, because work runs in the background or a wake-up is scheduled: the stop is allowed, and the host asks again',
  waiting: 'the agent announced a wait (`postflight wait`): the stops of this prompt are allowed',
  capped: `it has blocked ${CONTINUATION_LIMIT} stops, so this one is allowed, and the marker is kept as abandoned`,
  block: 'the postflight is pending',
}

const NOT_JUDGED = {
  untrusted: 'not trusted on this machine (`postflight trust`), so it blocks nothing',
  'no-session': 'the payload names no session, so it blocks nothing',
  'no-time': 'there was no time to judge it, so it blocks nothing',
  'marker-decides': 'its marker is bypassed or unreadable, so the marker decides',
  'folder-gone': "the session's folder is gone after a block, so it blocks nothing",
  'no-baseline': 'it is not known when this session began, so it blocks nothing',
} as const
