import { devNull } from 'node:os'
import { runGroup } from '../../disk/bounded-run.ts'
import { oneLine } from '../../kernel/text.ts'

/** Runs git without hooks and prompts, but with the user's credentials. */

/** A longer answer counts as a failure. */
const ANSWER_BYTES = 33_554_432
const COMPLAINT_BYTES = 4_096

/** Before an address that git has rewritten already: `insteadOf` may lead it to another one, such as a mirror for fetches. */
export const EXACT = 'postflight-exact:'

const ISOLATED = [
  `url..insteadOf=${EXACT}`,
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  // A folder of a clone may look like a bare repository, with a configuration of its own.
  'safe.bareRepository=explicit',
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

/** `until`: when git's process group is killed, by `performance.now()`. */
export interface GitCall {
  readonly root: string
  readonly until: number
}

export type InputCall = GitCall & { readonly input?: Buffer | string }

const TOO_LONG = 'it took too long, or answered too much'

export async function runGit({ root, until, input }: InputCall, ...words: string[]): Promise<GitAnswer> {
  const failed = (detail: string): GitAnswer => ({ status: undefined, bytes: Buffer.alloc(0), detail })
  // Starting and killing it takes some 300 ms, for each of many runs.
  if (performance.now() >= until) return failed(TOO_LONG)
  const pieces: Buffer[] = []
  let length = 0
  let complaint = ''
  const overflow = new AbortController()
  const end = await runGroup({
    file: 'git',
    words: [...ISOLATED, ...words],
    cwd: root,
    env: isolatedEnvironment(process.env),
    input,
    limitMs: until - performance.now(),
    signal: overflow.signal,
    survivesSignals: false,
    onOutput: (piece) => {
      length += piece.length
      if (length > ANSWER_BYTES) overflow.abort()
      else pieces.push(piece)
    },
    onErrors: (piece) => {
      complaint = (complaint + piece.toString()).slice(-COMPLAINT_BYTES)
    },
  })
  const bytes = Buffer.concat(pieces)
  if (end.kind === 'exited') {
    const status = end.exitCode
    return { status, bytes, detail: reasonIn(complaint) || (status === 0 ? '' : `git ended with exit code ${status}`) }
  }
  if (end.kind === 'not-started') return failed(`git cannot be started (${end.detail})`)
  if (end.kind === 'killed') return failed(reasonIn(complaint) || `git was killed by ${end.signal}`)
  return failed(TOO_LONG)
}

function reasonIn(complaint: string): string {
  // GitLab sends its reason between blank and ruled lines.
  const lines = complaint.split(/[\r\n]+/).filter((line) => /[\p{L}\p{N}]/u.test(line.replace(/^remote: /, '')))
  // The reason of ssh or of the remote's shell comes before it.
  const end = lines.findIndex((line) => line.includes('Could not read from remote repository'))
  if (end > 0) lines.length = end
  const reason =
    lines.find((line) => /permission denied|host key|could not resolve|connection /i.test(line)) ??
    lines.find((line) => /^(?:remote: |ssh|fatal|error| ! )/i.test(line)) ??
    lines.at(-1) ??
    ''
  return oneLine(reason.trim(), 200).replace(/\.$/, '')
}

/** The user's credentials, transport and configuration, which ISOLATED overrides. */
const KEPT =
  /^GIT_(?:ASKPASS|DISCOVERY_ACROSS_FILESYSTEM|EXEC_PATH|SSH|SSH_\w+|SSL_\w+|HTTP_\w+|PROXY_\w+|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|(?:KEY|VALUE)_\d+))$/

/** A variable such as GIT_DIR would select another repository. */
function isolatedEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !/^GIT_/i.test(name) || KEPT.test(name))
  return {
    // Empty: git asks no other program, not even SSH_ASKPASS.
    GIT_ASKPASS: '',
    ...Object.fromEntries(kept),
    // `reasonIn` reads English.
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}
