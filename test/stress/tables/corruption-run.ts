/** Corrupts one file of a healthy project in one way, then runs the hook and every command. */

import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileIdentity } from '../../../src/disk/file-facts.ts'
import { SESSION, sessionStart, shellRan, subagentStop } from '../../support/payloads.ts'
import type { ProcessResult } from '../../support/process.ts'
import { jsonOf, linesOf } from '../support/files.ts'
import { COMMANDS, type Command, type Corruption, STOPS, SUBJECTS, type Subject } from './corruption.ts'
import type { PackageCopy, Sandbox } from './sandbox.ts'
import { CANARY, IS_ROOT, liesBelow, makePipe, makeSandbox, tookTooLong, walk, withSandbox } from './sandbox.ts'

const ID = 'pf_aaaabbbbcccc'
const TASK = 'specs/007_x'
const TOOK = 'took'
const HUGE_BYTES = 100 * 1024 * 1024

/** The answers of the hook and the commands, as the table writes them, and all other faults. */
export interface Observed {
  readonly hook: string
  readonly codes: Readonly<Partial<Record<Command, string>>>
  readonly faults: readonly string[]
}

/** Bytes that are not text: NULs, halves of UTF-8 sequences, control characters. */
const GARBAGE = Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 167 + 0xc0) % 256))

/** The corruptions after which the bytes of evidence must be kept: it does not parse, or cannot be read. */
const UNPARSABLE: readonly Corruption[] = ['one byte', 'half', 'garbage', 'wrong type', 'huge', 'unreadable']

interface Broken {
  readonly pack: PackageCopy
  readonly subject: Subject
  readonly corruption: Corruption
  readonly faults: string[]
}

/** Creates a project after one of three continuations, with the subject corrupted. */
function prepare(sandbox: Sandbox, pack: PackageCopy, subject: Subject, corruption: Corruption): void {
  const { write, at } = sandbox
  const created = corruption === 'future' ? '2099-01-01T00:00:00Z' : new Date().toISOString()
  const fields = { session_id: 's', skill: 'k', task_number: 7, operation: 'implement', reason: 'Mine.', created }
  const owner = { stop_hook_active: false, cc_session_id: SESSION, agent_id: 'agent-a' }
  const steps = [{ name: 'git commit', done: false }]
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
  const marker = (id: string): string => json({ id, ...fields, ...owner, steps })
  write(`${TASK}/.postflight-pending`, subject === 'unparsed copy' ? 'no marker, but evidence' : marker(ID))
  write(`${TASK}/.postflight-claims/.gitignore`, '*\n')
  const claim = write(`${TASK}/.postflight-claims/${ID}.1`, `${fileIdentity(at(TASK, '.postflight-pending'))}\n`)
  fs.utimesSync(claim, 1_700_000_000, 1_700_000_000)
  write(`${TASK}/.postflight-loop-guard`, '1\n')
  write('specs/.postflight/.gitignore', '*\n')
  write('specs/.postflight/journal.jsonl', '{"time":"2026-01-18T10:00:00.000Z","event":"create"}\n'.repeat(3))
  const command = `[ ! -f "${pack.launcher}" ] || exec "${pack.launcher}"`
  const hook = (word = '') => ({ type: 'command', command: `${command}${word}`, timeout: 10 })
  const shell = { matcher: 'Bash', hooks: [{ ...hook(), if: 'Bash(*postflight*)' }] }
  const hooks = {
    SubagentStop: [{ hooks: [hook()] }],
    Stop: [{ hooks: [hook(' Stop')] }],
    SessionStart: [{ hooks: [hook(' SessionStart')] }],
    PostToolUse: [shell, { matcher: 'Agent|Skill', hooks: [hook(' Agent')] }],
    PostToolUseFailure: [shell],
    PreToolUse: [{ matcher: 'StructuredOutput|SubagentHandback|task_complete', hooks: [hook(' Stop')] }],
  }
  write('.claude/settings.json', json({ model: 'x', hooks }))
  if (subject.startsWith('abandoned')) write(`${TASK}/.postflight-abandoned`, marker('pf_ddddeeeeffff'))
  if (subject === 'abandoned, alone') {
    for (const name of ['pending', 'loop-guard', 'claims'])
      fs.rmSync(at(TASK, `.postflight-${name}`), { recursive: true })
  }
  write('specs/.postflight/reports/agent-a', 'Short.')
  if (subject.startsWith('given-up')) {
    write('specs/.postflight/given-up/007_x', `${ID}\n`)
    for (const name of ['loop-guard', 'claims']) fs.rmSync(at(TASK, `.postflight-${name}`), { recursive: true })
  }
  if (subject === 'lock') write(`${TASK}/.postflight-lock`, '1 1\n')
  if (subject === 'unparsed copy') write(`${TASK}/.postflight-unparsed`, 'an earlier copy')
  corrupt(sandbox, subject, corruption)
  // Only the time of a lock or a claim counts, not its text. The corruption has made the time new.
  if (corruption !== 'future' && (subject === 'lock' || subject === 'claim')) leaveBehind(at(SUBJECTS[subject].path))
  sandbox.hand()
  const target = at(SUBJECTS[subject].path)
  if (corruption.startsWith('unreadable')) fs.chmodSync(target, 0)
  if (corruption.startsWith('not writable')) {
    if (SUBJECTS[subject].kind === 'file') fs.chmodSync(target, 0o444)
    fs.chmodSync(SUBJECTS[subject].kind === 'file' ? dirname(target) : target, 0o555)
  }
  sandbox.seal()
}

function leaveBehind(file: string): void {
  if (fs.lstatSync(file, { throwIfNoEntry: false })?.isFile()) fs.utimesSync(file, 1_700_000_000, 1_700_000_000)
}

function corrupt({ at, outside }: Sandbox, subject: Subject, corruption: Corruption): void {
  const { path, kind } = SUBJECTS[subject]
  const target = at(path)
  const remove = (): void => fs.rmSync(target, { recursive: true, force: true })
  const text = (): Buffer => fs.readFileSync(target)
  /** Moves the subject out of the project, with a canary in it, and returns its new path. */
  const moveOut = (): string => {
    const elsewhere = join(outside, basename(path))
    fs.mkdirSync(outside, { recursive: true })
    if (kind === 'file') {
      fs.writeFileSync(elsewhere, text().toString('utf8').replaceAll('Mine.', CANARY).replace('"x"', `"${CANARY}"`))
    } else {
      copyTree(target, elsewhere)
      fs.writeFileSync(join(elsewhere, 'canary'), CANARY)
    }
    remove()
    return elsewhere
  }
  const ways: Partial<Record<Corruption, () => void>> = {
    missing: remove,
    empty() {
      remove()
      if (kind === 'file') fs.writeFileSync(target, '')
      else fs.mkdirSync(target)
    },
    'one byte'() {
      remove()
      fs.writeFileSync(target, Buffer.from([0xa7]))
    },
    half: () => fs.writeFileSync(target, text().subarray(0, Math.max(1, Math.floor(text().length / 2)))),
    garbage: () => fs.writeFileSync(target, GARBAGE),
    'wrong type': () => fs.writeFileSync(target, '[1, "two", null]\n'),
    huge() {
      if (kind === 'folder')
        for (let number = 0; number < 5000; number++) fs.writeFileSync(join(target, `strange-${number}`), '')
      else {
        remove()
        fs.writeFileSync(target, GARBAGE)
        fs.truncateSync(target, HUGE_BYTES)
      }
    },
    folder() {
      remove()
      fs.mkdirSync(target)
      fs.writeFileSync(join(target, 'keep'), 'kept-evidence')
    },
    'link out': () => fs.symlinkSync(moveOut(), target),
    'dangling link'() {
      remove()
      fs.symlinkSync(join(outside, 'nothing-is-here'), target)
    },
    'link to itself'() {
      remove()
      fs.symlinkSync(target, target)
    },
    pipe() {
      remove()
      makePipe(target)
    },
    future() {
      const time = Date.now() / 1000 + 10 * 365 * 86_400
      fs.utimesSync(target, time, time)
    },
    'byte-order mark': () => fs.writeFileSync(target, Buffer.concat([Buffer.from('\ufeff'), text()])),
    CRLF: () => fs.writeFileSync(target, text().toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  }
  ways[corruption]?.()
}

function copyTree(from: string, to: string): void {
  fs.mkdirSync(to)
  walk(from, (target, kind) => {
    if (target === from) return
    const copy = join(to, target.slice(from.length + 1))
    if (kind === 'folder') fs.mkdirSync(copy)
    else fs.writeFileSync(copy, fs.readFileSync(target, 'utf8').replaceAll('Mine.', CANARY))
  })
}

export async function observe(
  pack: PackageCopy,
  subject: Subject,
  corruption: Corruption,
  commands: readonly Command[],
): Promise<Observed> {
  const once = async (): Promise<Observed> => {
    const faults: string[] = []
    const broken = { pack, subject, corruption, faults }
    const hook = await withSandbox(makeSandbox(), (sandbox) => observeHook(sandbox, broken))
    const codes: Partial<Record<Command, string>> = {}
    for (const command of commands)
      codes[command] = await withSandbox(makeSandbox(), (sandbox) => observeCommand(sandbox, broken, command))
    return { hook, codes, faults }
  }
  const first = await once()
  // A second run distinguishes a hang from a machine that was busy for a moment.
  return first.faults.some((fault) => fault.includes(TOOK)) ? once() : first
}

/** True if only a process can show it: one that is bound by rights (also around a `specs/` that is none), or that may hang. */
const needsProcess = ({ subject, corruption }: Broken): boolean =>
  subject === 'specs folder' || ['pipe', 'unreadable', 'not writable'].includes(corruption)

async function observeHook(sandbox: Sandbox, broken: Broken): Promise<string> {
  const { pack, subject, corruption, faults } = broken
  prepare(sandbox, pack, subject, corruption)
  const kept = whatMustStay(sandbox, subject, corruption)
  const env = { CLAUDE_PROJECT_DIR: sandbox.project, CLAUDE_CODE_SESSION_ID: SESSION, CLAUDECODE: '1' }
  const ask = async (payload: object, words: readonly string[] = []): Promise<string> => {
    const run = await sandbox.run(pack.launcher, words, {
      input: JSON.stringify({ cwd: sandbox.project, ...payload }),
      env,
      asRoot: corruption.endsWith('(root)'),
    })
    faults.push(...commonFaults('hook', run))
    if (run.status !== 0) faults.push(`hook: exit code ${run.status}`)
    return letterOf(run.stdout, faults)
  }
  let letters = await ask(sessionStart('startup'), ['SessionStart'])
  letters += `${await ask(shellRan('postflight create 7', ID))} `
  for (let stop = 1; stop <= STOPS; stop++) letters += await ask(subagentStop())
  faults.push(...sandbox.outsideProblems().map((problem) => `hook: outside: ${problem}`))
  faults.push(...kept().map((problem) => `hook: ${problem}`))
  return letters
}

/** The letter of an answer: B block, n an allow with a notice, c context for a session, - nothing. */
function letterOf(stdout: string, faults: string[]): string {
  if (!/^\{.*\}\n$/.test(stdout)) faults.push(`hook: not a line of JSON: ${JSON.stringify(stdout.slice(0, 200))}`)
  const answer = jsonOf(stdout)
  if (typeof answer !== 'object' || answer === null) return '?'
  const known = { '': '-', 'decision,reason': 'B', systemMessage: 'n', hookSpecificOutput: 'c' }
  const letter = new Map(Object.entries(known)).get(Object.keys(answer).join())
  if (letter === undefined) faults.push(`hook: answered with ${Object.keys(answer)}`)
  return letter ?? '?'
}

async function observeCommand(sandbox: Sandbox, broken: Broken, command: Command): Promise<string> {
  const { pack, subject, corruption, faults } = broken
  prepare(sandbox, pack, subject, corruption)
  const kept = whatMustStay(sandbox, subject, corruption)
  const payload = join(sandbox.base, 'payload.json')
  fs.writeFileSync(payload, JSON.stringify(subagentStop({ cwd: sandbox.project })))
  const words = [...COMMANDS[command].map((word) => (word === 'PAYLOAD' ? payload : word)), '--json']
  const session = command === 'adopt' ? 'another-session' : SESSION
  const env = { POSTFLIGHT_HOST_SESSION: session, POSTFLIGHT_AGENT: 'agent-a' }
  const run = needsProcess(broken)
    ? await sandbox.run(process.execPath, [pack.cli, ...words], { env, asRoot: corruption.endsWith('(root)') })
    : await sandbox.here('cli', words, { env, packageFolder: pack.folder })
  const say = (problem: string): number => faults.push(`${command}: ${problem}`)
  faults.push(...commonFaults(command, run))
  if (![0, 1, 64, 65, 73].includes(run.status ?? -1)) say(`exit code ${run.status}: ${run.stderr.slice(0, 300)}`)
  checkStderr(run, subject, say)
  if (jsonOf(run.stdout) === undefined) say(`no JSON document: ${run.stdout.slice(0, 200)}`)
  for (const problem of sandbox.outsideProblems()) say(`outside: ${problem}`)
  for (const problem of kept()) say(problem)
  return String(run.status)
}

/** Checks stderr: an error is one line that names the file, and each line begins with our name. */
function checkStderr(run: ProcessResult, subject: Subject, say: (problem: string) => void): void {
  const lines = linesOf(run.stderr)
  if (lines.some((line) => !line.startsWith('postflight: '))) say(`stderr: ${run.stderr.slice(0, 300)}`)
  if (run.status === 65 || run.status === 73) {
    if (lines.length !== 1) say(`${lines.length} lines on stderr`)
    const names = SUBJECTS[subject].path.split('/')
    // Or another file in the folder, which could not be written because of the corruption.
    if (!names.some((name) => name !== 'specs' && run.stderr.includes(name)) && !run.stderr.includes('specs')) {
      say(`stderr does not say where: ${run.stderr}`)
    }
  }
}

function commonFaults(who: string, run: ProcessResult): string[] {
  const found: string[] = []
  if (run.signal !== null) found.push(`${who}: ended by ${run.signal}`)
  if (tookTooLong(run.durationMs, 5000)) found.push(`${who}: ${TOOK} ${Math.round(run.durationMs)} ms`)
  if (run.stdout.includes(CANARY) || run.stderr.includes(CANARY)) found.push(`${who}: read the canary`)
  return found
}

/** Notes the bytes that must be kept. The result returns a problem if they are no longer in the project. */
function whatMustStay(sandbox: Sandbox, subject: Subject, corruption: Corruption): () => string[] {
  const { path, isEvidence } = SUBJECTS[subject]
  const problems: string[] = []
  const target = sandbox.at(path)
  let wanted: { size: number; beginning: Buffer } | undefined
  if (corruption === 'folder') wanted = { size: 13, beginning: Buffer.from('kept-evidence') }
  else if (isEvidence && UNPARSABLE.includes(corruption)) {
    const isLocked = corruption === 'unreadable'
    if (isLocked && !IS_ROOT) fs.chmodSync(target, 0o600)
    const bytes = fs.readFileSync(target)
    if (isLocked && !IS_ROOT) fs.chmodSync(target, 0)
    wanted = { size: bytes.length, beginning: bytes.subarray(0, 64) }
  }
  return () => {
    if (wanted === undefined) return problems
    walk(sandbox.project, (found, kind) => {
      if (!IS_ROOT && (kind === 'folder' || kind === 'file')) fs.chmodSync(found, 0o755)
    })
    if (!liesBelow(sandbox.project, wanted))
      problems.push(`the content of ${path} is lost: ${fs.readdirSync(sandbox.at(TASK))}`)
    return problems
  }
}

export async function observeFreshLock(sandbox: Sandbox, pack: PackageCopy) {
  prepare(sandbox, pack, 'lock', 'missing')
  fs.writeFileSync(sandbox.at(TASK, '.postflight-loop-guard'), '3\n')
  const lock = sandbox.at(TASK, '.postflight-lock')
  fs.writeFileSync(lock, '1 1\n')
  const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: SESSION }
  const input = JSON.stringify(subagentStop({ cwd: sandbox.project }))
  const hook = await sandbox.run(pack.launcher, [], { input, env })
  fs.writeFileSync(lock, '1 1\n')
  const command = await sandbox.run(process.execPath, [pack.cli, 'clear', '7'])
  return {
    ...{ hook: letterOf(hook.stdout, []), hookInTime: !tookTooLong(hook.durationMs, 5000) },
    ...{ command: command.status, commandInTime: !tookTooLong(command.durationMs, 8000) },
  }
}

/** The hook's answer when other processes hold the locks of many markers that it would claim. */
export async function observeManyLocks(sandbox: Sandbox, pack: PackageCopy) {
  const ids = Array.from({ length: 9 }, (_, at) => `pf_abcdefghijk${at}`)
  for (const [at, id] of ids.entries()) {
    sandbox.write(`specs/00${at}_x/.postflight-pending`, JSON.stringify({ id, cc_session_id: SESSION }))
  }
  sandbox.hand()
  for (const at of ids.keys()) sandbox.write(`specs/00${at}_x/.postflight-lock`, '')
  const input = JSON.stringify(shellRan('make ids', ids.join('\n'), { cwd: sandbox.project, agent_id: 'agent-a' }))
  const { stdout, stderr, durationMs } = await sandbox.run(pack.launcher, [], { input })
  return { stdout, ranOutOfTime: stderr.includes('there was no time left'), inTime: !tookTooLong(durationMs, 5000) }
}
