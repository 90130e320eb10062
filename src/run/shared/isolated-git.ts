import { spawn } from 'node:child_process'
import { devNull } from 'node:os'
import { ENDING_SIGNALS } from '../../disk/bounded-run.ts'
import { oneLine } from '../../kernel/text.ts'
import { attempt } from '../../kernel/values.ts'

/** Runs git without hooks and prompts, but with the user's credentials. */

/** A longer answer counts as a failure. */
const ANSWER_BYTES = 33_554_432
const COMPLAINT_BYTES = 4_096

const ISOLATED = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.writeCommitGraph=false',
  'protocol.ext.allow=never',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'push.followTags=false',
  'push.gpgSign=false',
  'fetch.fsckObjects=true',
  // The author is the program: `holder.json` names the holder.
  'user.name=postflight-guard',
  'user.email=postflight-guard@localhost',
].flatMap((setting) => ['-c', setting])

export interface GitAnswer {
  /** Undefined if killed or not started. */
  readonly status: number | undefined
  readonly bytes: Buffer
  readonly detail: string
}

/** `until`: when git's process group is killed, by `performance.now()`. `address`: where pushes go. `project`: see Holder. */
export interface GitCall {
  readonly root: string
  readonly until: number
  readonly address?: string | undefined
  readonly project?: string | undefined
  readonly input?: Buffer | string
}

export function runGit({ root, until, input }: GitCall, ...words: readonly string[]): Promise<GitAnswer> {
  return new Promise((resolve) => {
    const ownGroup = process.platform !== 'win32'
    // Its own session has no terminal, so ssh cannot ask there.
    const child = spawn('git', [...ISOLATED, ...words], {
      cwd: root,
      env: isolatedEnvironment(process.env),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: ownGroup,
      windowsHide: true,
    })
    const pieces: Buffer[] = []
    let length = 0
    let complaint = ''
    let isCut = false
    const cut = (): void => {
      isCut = true
      // The process may have ended.
      attempt(() => (ownGroup && child.pid !== undefined ? process.kill(-child.pid, 'SIGKILL') : child.kill('SIGKILL')))
      child.stdout.destroy()
      child.stderr.destroy()
    }
    // The child has a process group of its own, which the terminal does not signal.
    const interrupt = (signal: NodeJS.Signals): void => {
      cut()
      for (const each of ENDING_SIGNALS) process.off(each, interrupt)
      process.kill(process.pid, signal)
    }
    for (const each of ENDING_SIGNALS) process.on(each, interrupt)
    const timer = setTimeout(cut, Math.max(1, until - performance.now()))
    const end = (status: number | undefined): void => {
      clearTimeout(timer)
      for (const each of ENDING_SIGNALS) process.off(each, interrupt)
      const detail = isCut ? 'it took too long, or answered too much' : reasonIn(complaint)
      resolve({ status: isCut ? undefined : status, bytes: Buffer.concat(pieces), detail })
    }
    child.once('error', (error) => {
      complaint = error.message
      end(undefined)
    })
    // Without a free file descriptor there are no streams either (EMFILE).
    if (child.pid === undefined) return
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length
      if (length > ANSWER_BYTES) cut()
      else pieces.push(piece)
    })
    child.stderr.on('data', (piece: Buffer) => {
      complaint = (complaint + piece.toString()).slice(-COMPLAINT_BYTES)
    })
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    // ssh may leave a process that keeps stderr open (ControlPersist), so we take what it wrote until now. A busy event
    // loop runs timers before it reads, and immediates after.
    child.once('exit', () => setTimeout(setImmediate, 100, () => child.stderr.destroy()).unref())
    child.once('close', (status) => end(status ?? undefined))
  })
}

function reasonIn(complaint: string): string {
  const lines = complaint.split(/[\r\n]+/).filter((line) => line.trim() !== '')
  // ssh's own reason comes before git's "Could not read from remote repository."
  const reason =
    lines.find((line) => /permission denied|host key|could not resolve|connection /i.test(line)) ??
    lines.find((line) => /^(?:remote: |ssh|fatal|error| ! )/i.test(line)) ??
    lines.at(-1) ??
    ''
  return oneLine(reason.trim(), 200).replace(/\.$/, '')
}

/** The user's credentials, transport and configuration, which ISOLATED overrides. */
const KEPT =
  /^GIT_(?:ASKPASS|SSH|SSH_\w+|SSL_\w+|HTTP_\w+|PROXY_\w+|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|(?:KEY|VALUE)_\d+))$/

/** A variable such as GIT_DIR would select another repository. */
function isolatedEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !/^GIT_/i.test(name) || KEPT.test(name))
  return {
    // Empty: git asks no other program, not even SSH_ASKPASS.
    GIT_ASKPASS: '',
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}
