import path from 'node:path'
import { ALLOW, formatAnswer, type HookAnswer } from '../core/answer.ts'
import { PostflightError } from '../core/errors.ts'
import { showsNotice } from '../core/hosts/index.ts'
import { errorMessage } from '../core/messages/errors.ts'
import { allowedComplaint, journalComplaint, stdinComplaint, unreadableNotice } from '../core/messages/stops.ts'
import { EMPTY_PAYLOAD, type Payload, parsePayload } from '../core/payload.ts'
import { answerFor } from '../core/stop/answer-for.ts'
import { stripControl } from '../core/text.ts'
import { appendRecorded } from '../io/journal.ts'
import { findCommandForm } from '../io/process/command-form.ts'
import { writeAll } from '../io/process/output.ts'
import { readStdin } from '../io/process/stdin.ts'
import { findHookPlace } from '../io/root.ts'
import type { HookContext, HookResult } from './context.ts'
import { handleToolUse } from './ownership.ts'
import { handleSessionStart } from './session-start.ts'
import { handleStop } from './stop.ts'

/**
 * The hook as a process: payload in, one line of JSON out, exit code 0 whatever happens (docs/design.md, "Fail open").
 */

/** The most complaints that are printed: a hostile folder may hold very many markers. */
const MAX_COMPLAINTS = 20

/** The age (ms) of this process after which no further marker is judged: one may take a second, and the hook has 5 s. */
const DEADLINE_MS = 3_500

const CLI = path.join(import.meta.dirname, '..', 'bin', 'postflight.js')

/** Runs the hook from start to end. Never rejects. */
export async function runHook(): Promise<void> {
  let payload: Payload | undefined
  let answer: HookAnswer = ALLOW
  try {
    if (process.env.POSTFLIGHT_DISABLE !== '1') {
      payload = await readPayload()
      if (payload !== undefined) answer = answerPayload(payload)
    }
  } catch (error) {
    complain(allowedComplaint(describe(error)))
  }
  writeAll(1, formatAnswer(answer, payload !== undefined && showsNotice(payload, process.env)))
}

async function readPayload(): Promise<Payload | undefined> {
  const read = await readStdin()
  if (read.kind === 'nothing') return EMPTY_PAYLOAD
  if (read.kind === 'text') return parsePayload(read.text)
  complain(stdinComplaint(read.detail))
  return undefined
}

/** The handler of each event that the hook answers. */
const HANDLERS: Readonly<Record<string, (context: HookContext) => HookResult>> = {
  SubagentStop: handleStop,
  Stop: handleStop,
  PostToolUse: handleToolUse,
  SessionStart: handleSessionStart,
}

function answerPayload(payload: Payload): HookAnswer {
  const handle = Object.hasOwn(HANDLERS, payload.event) ? HANDLERS[payload.event] : undefined
  if (handle === undefined) return ALLOW
  const environment = process.env
  const option = optionValue(process.argv.slice(2), '--root')
  const place = findHookPlace({ option, payloadCwd: payload.cwd, environment, cwd: currentFolder() })
  const reader = { foundRoot: place.foundRoot, findForm: () => findCommandForm(environment, CLI) }
  const { roots } = place
  const result = handle({ payload, environment, roots, reader, nowMs: Date.now(), deadline: DEADLINE_MS })
  const { answer, notices } = answerFor(payload, result.report, reader)
  for (const { path: folder, detail } of place.problems) complain(unreadableNotice(folder, detail))
  for (const complaint of [...notices, ...result.complaints].slice(0, MAX_COMPLAINTS)) complain(complaint)
  for (const problem of appendRecorded(result.recorded, Date.now())) complain(journalComplaint(problem))
  return answer
}

/** The current folder; where it was removed, the file system's top, so that the other start folders still count. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    return path.parse(import.meta.dirname).root
  }
}

function optionValue(argv: readonly string[], name: string): string | undefined {
  const joined = argv.find((word) => word.startsWith(`${name}=`))
  if (joined !== undefined) return joined.slice(name.length + 1)
  const index = argv.indexOf(name)
  return index === -1 ? undefined : argv[index + 1]
}

function describe(error: unknown): string {
  return error instanceof PostflightError
    ? errorMessage(error.code, error.args)
    : errorMessage('internal', { detail: String(error) })
}

function complain(text: string): void {
  // The name of a folder may hold escape sequences.
  writeAll(2, `${stripControl(text)}\n`)
}
