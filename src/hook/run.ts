import path from 'node:path'
import { ALLOW, formatAnswer, type HookAnswer } from '../core/answer.ts'
import { PostflightError } from '../core/errors.ts'
import { showsNotice } from '../core/hosts/index.ts'
import { errorMessage, unreadableNotice } from '../core/messages.ts'
import { EMPTY_PAYLOAD, type Payload, parsePayload } from '../core/payload.ts'
import type { SearchProblem } from '../core/task-folder.ts'
import { stripControl } from '../core/text.ts'
import { appendRecorded } from '../io/journal.ts'
import { findCommandForm } from '../io/process/command-form.ts'
import { writeAll } from '../io/process/output.ts'
import { readStdin } from '../io/process/stdin.ts'
import { findAgentRoot, findRoots, startFolders } from '../io/root.ts'
import type { HookContext, HookResult } from './context.ts'
import { answerToolUse } from './ownership.ts'
import { answerSessionStart } from './session-start.ts'
import { answerStop } from './stop.ts'

/**
 * The hook as a process: payload in, one line of JSON out, exit code 0 whatever happens (DESIGN section 5, "Fail open").
 */

/** Of a hostile folder's many markers no more than this are complained of. */
const MAX_COMPLAINTS = 20

/** The age (ms) of this process after which no further marker is settled: one may take a second, and the answer 5 s. */
const SETTLED_BY_MS = 3_500

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

function answerPayload(payload: Payload): HookAnswer {
  const problems: SearchProblem[] = []
  const { answer, recorded, complaints } = resultFor(payload, problems)
  for (const { path: folder, detail } of problems) complain(unreadableNotice(folder, detail))
  for (const complaint of complaints.slice(0, MAX_COMPLAINTS)) complain(complaint)
  for (const complaint of appendRecorded(recorded, Date.now())) complain(`postflight-guard: ${complaint}`)
  return answer
}

function resultFor(payload: Payload, problems: SearchProblem[]): HookResult {
  const answerers: Record<string, (context: HookContext) => HookResult> = {
    SubagentStop: answerStop,
    Stop: answerStop,
    PostToolUse: answerToolUse,
    SessionStart: answerSessionStart,
  }
  const answerer = Object.hasOwn(answerers, payload.event) ? answerers[payload.event] : undefined
  return answerer === undefined
    ? { answer: ALLOW, recorded: [], complaints: [] }
    : answerer(contextFor(payload, problems))
}

function contextFor(payload: Payload, problems: SearchProblem[]): HookContext {
  const cwd = currentFolder()
  const environment = process.env
  const option = optionValue(process.argv.slice(2), '--root')
  return {
    payload,
    environment,
    roots: findRoots(startFolders({ option, payloadCwd: payload.cwd, environment, cwd }), problems),
    agentRoot: findAgentRoot({ payloadCwd: payload.cwd, environment, cwd }),
    findForm: () => findCommandForm(environment, path.join(import.meta.dirname, '..', 'bin', 'postflight.js')),
    nowMs: Date.now(),
    deadline: SETTLED_BY_MS,
  }
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
