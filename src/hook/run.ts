import path from 'node:path'
import { ALLOW, formatAnswer, type HookAnswer } from '../core/answer.ts'
import { PostflightError } from '../core/errors.ts'
import { showsNotice } from '../core/hosts/index.ts'
import { errorMessage } from '../core/messages/errors.ts'
import { unreadableNotice } from '../core/messages/stops.ts'
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
 * The hook as a process: payload in, one line of JSON out, exit code 0 whatever happens (DESIGN section 5, "Fail open").
 */

/** Of a hostile folder's many markers no more than this are complained of. */
const MAX_COMPLAINTS = 20

/** The age (ms) of this process after which no further marker is settled: one may take a second, and the answer 5 s. */
const SETTLED_BY_MS = 3_500

const CLI = path.join(import.meta.dirname, '..', 'bin', 'postflight.js')

/** The hook from start to end. Never rejects. */
export async function runHook(): Promise<void> {
  let payload: Payload | undefined
  let answer: HookAnswer = ALLOW
  try {
    if (process.env.POSTFLIGHT_DISABLE !== '1') {
      payload = await readPayload()
      if (payload !== undefined) answer = answerPayload(payload)
    }
  } catch (error) {
    complain(`postflight-guard: the stop was allowed: ${describe(error)}`)
  }
  writeAll(1, formatAnswer(answer, payload !== undefined && showsNotice(payload, process.env)))
}

async function readPayload(): Promise<Payload | undefined> {
  const read = await readStdin()
  if (read.kind === 'nothing') return EMPTY_PAYLOAD
  if (read.kind === 'text') return parsePayload(read.text)
  complain(`postflight-guard: the stop was allowed: stdin could not be read (${read.detail})`)
  return undefined
}

/** What each event of ours is answered by. */
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
  const result = handle({ payload, environment, roots, reader, nowMs: Date.now(), deadline: SETTLED_BY_MS })
  const { answer, notices } = answerFor(payload, result.report, reader)
  for (const { path: folder, detail } of place.problems) complain(unreadableNotice(folder, detail))
  for (const complaint of [...notices, ...result.complaints].slice(0, MAX_COMPLAINTS)) complain(complaint)
  for (const complaint of appendRecorded(result.recorded, Date.now())) complain(`postflight-guard: ${complaint}`)
  return answer
}

/** A current folder that was removed leads nowhere; the other start folders still do. */
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
  // A folder's name may hold what paints a terminal.
  writeAll(2, `${stripControl(text)}\n`)
}
