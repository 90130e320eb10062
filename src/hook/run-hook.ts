import path from 'node:path'
import { processStartMs } from '../disk/age.ts'
import { writeAll } from '../disk/process-output.ts'
import { readEnd } from '../disk/read.ts'
import { readStdin } from '../disk/stdin.ts'
import { eventTimeMs, parsePayload } from '../hosts/all-hosts.ts'
import { EMPTY_PAYLOAD, type Occasion, occasionOf, type Payload } from '../hosts/payload.ts'
import { messageOf } from '../kernel/errors.ts'
import { stripControl } from '../kernel/text.ts'
import { attempt, type Environment } from '../kernel/values.ts'
import { appendRecorded } from '../project/journal.ts'
import { notInJournal } from '../project/journal-entry.ts'
import { findHookLocation } from '../project/root.ts'
import { type Answered, NOTHING_DONE, printedAnswer } from '../stop/answer-for.ts'
import { sessionBirthMs } from '../stop/observe-stop.ts'
import { allowedComplaint, stdinComplaint, unreadableNotice } from '../stop/stop-messages.ts'
import { handleReturn } from './report.ts'
import { handleSessionStart } from './session-start.ts'
import { handleStop } from './stop.ts'
import { handleToolUse } from './tool-use.ts'

/** Always exits with 0 (docs/design.md, "Fail open"). */

/** A hostile folder may hold very many markers. */
const MAX_COMPLAINTS = 20
/** Process age: one marker may take a second, and the hook has 5 s. */
const DEADLINE_MS = 3_500

type HookProcess = Readonly<ReturnType<typeof thisProcess>>

function thisProcess() {
  return {
    environment: process.env as Environment,
    words: process.argv.slice(2) as readonly string[],
    /** @throws {Error} if the folder was removed. */
    currentFolder: () => process.cwd(),
    readInput: readStdin,
    write: writeAll,
    cli: path.join(import.meta.dirname, '..', 'bin', 'postflight.js'),
    deadline: DEADLINE_MS,
    findStart: processStartMs,
    findSessionBirth: sessionBirthMs,
  }
}

/** Never rejects. */
export async function runHook(hook: HookProcess = thisProcess()): Promise<void> {
  const { environment, write } = hook
  let payload: Payload | undefined
  let answered = NOTHING_DONE
  try {
    if (environment.POSTFLIGHT_DISABLE !== '1') {
      payload = await readPayload(hook)
      if (payload !== undefined) answered = await answerPayload(payload, hook)
    }
  } catch (error) {
    complain(hook, allowedComplaint(messageOf(error)))
  }
  write(1, printedAnswer(answered, payload, environment))
}

async function readPayload(hook: HookProcess): Promise<Payload | undefined> {
  const read = await hook.readInput()
  if (read.kind === 'text') return parsePayload(read.text, Date.now(), readEnd)
  if (read.detail !== undefined) complain(hook, stdinComplaint(read.detail, read.kind === 'failed'))
  return read.kind === 'nothing' ? EMPTY_PAYLOAD : undefined
}

const HANDLERS: Readonly<Record<string, (occasion: Occasion) => Answered | Promise<Answered>>> = {
  SubagentStop: handleStop,
  Stop: handleStop,
  PostToolUse: (occasion) => {
    const { returned } = occasion.payload
    return returned === undefined ? handleToolUse(occasion) : handleReturn(occasion, returned)
  },
  SessionStart: handleSessionStart,
}

async function answerPayload(payload: Payload, hook: HookProcess): Promise<Answered> {
  const handle = Object.hasOwn(HANDLERS, payload.event) ? HANDLERS[payload.event] : undefined
  if (handle === undefined) return NOTHING_DONE
  const { environment, words, cli, deadline } = hook
  // Falls back to the top folder: the other start folders still count.
  const cwd = attempt(hook.currentFolder, path.parse(import.meta.dirname).root)
  const sources = { option: rootOption(words), payloadCwd: payload.cwd, environment, cwd }
  const { roots, reader, problems } = findHookLocation(sources, cli)
  const find = {
    startMs: () => eventTimeMs(payload, environment) ?? hook.findStart(),
    sessionBornMs: () => hook.findSessionBirth(payload, environment),
  }
  const answered = await handle(occasionOf({ payload, environment, roots, reader, nowMs: Date.now(), deadline }, find))
  for (const { path: folder, detail } of problems) complain(hook, unreadableNotice(folder, detail))
  const complaints = [...answered.notices, ...answered.complaints]
  for (const complaint of complaints.slice(0, MAX_COMPLAINTS)) complain(hook, complaint)
  for (const problem of appendRecorded(answered.recorded, Date.now()))
    complain(hook, notInJournal(problem, 'postflight-guard'))
  return answered
}

function rootOption(words: readonly string[]): string | undefined {
  const joined = words.find((word) => word.startsWith('--root='))
  if (joined !== undefined) return joined.slice('--root='.length)
  const index = words.indexOf('--root')
  return index === -1 ? undefined : words[index + 1]
}

function complain({ write }: HookProcess, text: string): void {
  // A folder's name may hold escape sequences.
  write(2, `${stripControl(text)}\n`)
}
