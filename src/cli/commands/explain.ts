import fs from 'node:fs'
import path from 'node:path'
import { ALLOW, formatAnswer, type HookAnswer } from '../../core/answer.ts'
import { commandLine } from '../../core/command-line.ts'
import { RULES } from '../../core/decision.ts'
import { PostflightError } from '../../core/errors.ts'
import { ABANDONED_FILE } from '../../core/files.ts'
import { hostThatIgnores, showsNotice } from '../../core/hosts/index.ts'
import { cappedNotice, RULE_SENTENCES, unreadableNotice, unsearchable, WORKFLOW_RULES } from '../../core/messages.ts'
import { EMPTY_PAYLOAD, type Payload, parsePayload } from '../../core/payload.ts'
import { composeReason } from '../../core/reason.ts'
import { taskWord } from '../../core/task-folder.ts'
import { inLine, stripControl } from '../../core/text.ts'
import { errorCode } from '../../io/fs/errors.ts'
import { findMarkers, judgeStored } from '../../io/judge.ts'
import { markerDisplayPath, type StoredMarker } from '../../io/marker-file.ts'
import { findCommandForm } from '../../io/process/command-form.ts'
import { findRecovery } from '../../io/recovery.ts'
import { findAgentRoot, findRoots, startFolders } from '../../io/root.ts'
import type { CommandContext, CommandResult } from '../context.ts'
import type { Painter } from '../report.ts'
import { loadMarkerRun } from '../workflow/load-marker-run.ts'

/** `postflight explain`: what the hook would answer, and why. Writes nothing. */

export interface ExplainOptions {
  readonly payload?: string
}

/** Said where the answer is to a payload that nobody sent. */
const NO_PAYLOAD = 'no payload is given (--payload FILE, or - for stdin), which the hook takes for this:'

export function explain(context: CommandContext, paint: Painter, options: ExplainOptions): CommandResult {
  const payload =
    options.payload === undefined ? EMPTY_PAYLOAD : parsePayload(readPayloadFile(context, options.payload))
  const { environment, cwd, rootOption } = context
  const roots = findRoots(startFolders({ option: rootOption, payloadCwd: payload.cwd, environment, cwd }))
  const ignoredBy = hostThatIgnores(payload, environment)
  const isStop = payload.event === 'Stop' || payload.event === 'SubagentStop'
  const isOff = environment.POSTFLIGHT_DISABLE === '1'
  const { judged, problems } =
    isStop && ignoredBy === undefined && !isOff ? judge(context, payload, roots) : { judged: [], problems: [] }
  const blocked = judged.flatMap((one) => one.blocked ?? [])
  const form = findCommandForm(environment, path.join(context.packageFolder, 'bin', 'postflight.js'))
  const notices = [
    ...problems.map((problem) => unreadableNotice(problem.path, problem.detail)),
    ...judged.flatMap((one) => one.notice ?? []),
  ]
  const recovery = payload.event === 'SessionStart' && !isOff ? recoveryText(context, payload, roots) : undefined
  const answerNow = (): HookAnswer => {
    if (recovery !== undefined) return { kind: 'context', event: payload.event, context: recovery }
    if (blocked.length === 0) return notices.length === 0 ? ALLOW : { kind: 'allow', notice: notices.join('\n') }
    return { kind: 'block', reason: composeReason(blocked, form, payload.event === 'SubagentStop') }
  }
  const answer = answerNow()
  const told = showsNotice(payload, environment)
  const why = isOff
    ? 'POSTFLIGHT_DISABLE=1: the hook allows everything'
    : !isStop
      ? `${payload.event} is no stop: nothing is held by it`
      : ignoredBy !== undefined
        ? `${ignoredBy} ignores the answer to this stop: nothing is counted`
        : undefined
  const isOpen = answer.kind === 'allow' && judged.some(({ data }) => data.answer === 'driver')
  const session = payload.session ?? 'not known'
  const agent = payload.agent ?? 'not known'
  return {
    exitCode: 0,
    data: {
      payload: { event: payload.event, host_session: payload.session ?? null, agent: payload.agent ?? null },
      roots,
      why: why ?? null,
      markers: judged.map(({ data }) => data),
      problems,
      answer: JSON.parse(formatAnswer(answer, told)),
    },
    lines: [
      ...(options.payload === undefined ? [NO_PAYLOAD] : []),
      `${paint.bold(inLine(payload.event))} of session ${inLine(session)}, agent ${inLine(agent)}`,
      roots.length === 0 ? 'no root: no specs/ folder in sight' : inLine(`roots: ${roots.join(', ')}`),
      ...(why === undefined ? [] : [inLine(why)]),
      ...(why === undefined && judged.length === 0 ? ['no pending markers'] : []),
      ...judged.map(
        ({ data }) => `${data.path}: ${data.rule === null ? '' : `row ${data.row}, ${data.rule}: `}${data.why}`,
      ),
      ...problems.map((problem) => inLine(unsearchable(problem.path, problem.detail))),
      `answer: ${paint.bold(answer.kind)}${isOpen ? `, ${WORKFLOW_RULES.unless}` : ''}`,
      ...(answer.kind === 'block' ? [stripControl(answer.reason)] : []),
      ...(answer.kind === 'context' ? [stripControl(answer.context)] : []),
      ...(answer.kind === 'allow' && told ? notices.map((notice) => `the user is told: ${inLine(notice)}`) : []),
    ],
  }
}

/** What a session that starts is told. */
function recoveryText(context: CommandContext, payload: Payload, roots: readonly string[]): string | undefined {
  const agentRoot = findAgentRoot({ ...context, payloadCwd: payload.cwd })
  const { session } = payload
  const { nowMs } = context
  return findRecovery({ roots, session, nowMs, rootOption: (root) => (root === agentRoot ? undefined : root) }).text
}

function judge(context: CommandContext, payload: Payload, roots: readonly string[]) {
  const agentRoot = findAgentRoot({ ...context, payloadCwd: payload.cwd })
  const { markers, problems } = findMarkers(roots)
  const judged = markers.map((found) => {
    const one = judgeStored(found, payload, context.nowMs)
    const { folder } = found
    const location = markerDisplayPath(folder)
    if (one.kind === 'unjudged') {
      const data = {
        path: location,
        rule: null,
        row: null,
        answer: 'allow',
        why: `cannot be read (${one.detail}): the stop is allowed`,
        continuations_spent: null,
      }
      return { data, blocked: undefined, notice: unreadableNotice(location, one.detail) }
    }
    const { rule, spent, stored } = one
    const blocked =
      rule === 'block'
        ? {
            marker: stored.marker,
            task: taskWord(folder),
            path: location,
            count: spent + 1,
            root: folder.root === agentRoot ? undefined : folder.root,
          }
        : undefined
    const notice =
      rule === 'capped'
        ? cappedNotice(
            taskWord(folder),
            markerDisplayPath(folder, ABANDONED_FILE),
            commandLine(['inspect', taskWord(folder)], folder.root === agentRoot ? undefined : folder.root),
          )
        : undefined
    const { answer, why } =
      rule === 'workflow' ? judgeRun(stored, payload) : { answer: RULES[rule].answer, why: RULE_SENTENCES[rule] }
    const data = { path: location, rule, row: RULES[rule].row, answer, why, continuations_spent: spent }
    return { data, blocked, notice }
  })
  return { judged, problems }
}

/** A running workflow's: what its driver would do depends on what it finds, and it moves files to find out. */
function judgeRun({ folder, marker }: StoredMarker, payload: Payload): { answer: string; why: string } {
  const { standing, note, state } = loadMarkerRun().runOfMarker(folder)
  const isMine =
    payload.session !== undefined && marker.hostSession === payload.session && state?.hostSession === payload.session
  if (standing !== 'running' || !isMine) {
    const whose = standing === 'running' ? `: ${WORKFLOW_RULES.other}` : ''
    return { answer: 'allow', why: `${RULE_SENTENCES.workflow} (${note})${whose}` }
  }
  const isAsked = payload.event === 'Stop' && payload.runningSubagents === 0
  return isAsked
    ? { answer: 'driver', why: `${RULE_SENTENCES.workflow} (${note}): ${WORKFLOW_RULES.asked}` }
    : { answer: 'allow', why: `${RULE_SENTENCES.workflow} (${note}): ${WORKFLOW_RULES.looks}` }
}

function readPayloadFile(context: CommandContext, file: string): string {
  try {
    return fs.readFileSync(file === '-' ? 0 : path.resolve(context.cwd, file), 'utf8')
  } catch (error) {
    throw new PostflightError('file-unreadable', { path: file, detail: errorCode(error) }, error)
  }
}
