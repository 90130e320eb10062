/**
 * Errors carry a code and arguments; `messages.ts` turns them into words and this table into exit codes
 * (DESIGN section 7). No code here is 2: hosts read that exit code of a hook as *block*.
 */

/** Exit codes of the CLI. */
export const EXIT = { done: 0, no: 1, usage: 64, data: 65, internal: 70, write: 73 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const EXIT_CODES = {
  usage: EXIT.usage,
  'task-invalid': EXIT.usage,
  'slug-invalid': EXIT.usage,
  'slug-missing': EXIT.usage,
  'task-ambiguous': EXIT.usage,
  'task-unknown': EXIT.no,
  'task-has-other-folder': EXIT.no,
  'target-missing': EXIT.usage,
  'target-twice': EXIT.usage,
  'value-invalid': EXIT.usage,
  'root-missing': EXIT.usage,
  'root-none': EXIT.no,
  'root-unlikely': EXIT.usage,
  'marker-none': EXIT.no,
  'marker-of-other-session': EXIT.no,
  'marker-of-workflow': EXIT.no,
  'marker-unreadable': EXIT.data,
  'marker-unparsed': EXIT.data,
  'marker-vanished': EXIT.no,
  'marker-too-large': EXIT.data,
  locked: EXIT.write,
  'step-unknown': EXIT.usage,
  'steps-none': EXIT.no,
  'session-unknown': EXIT.usage,
  'payload-not-json': EXIT.data,
  'payload-not-object': EXIT.data,
  'file-unreadable': EXIT.data,
  'settings-not-json': EXIT.data,
  'settings-wrong-shape': EXIT.data,
  'workflow-definition': EXIT.data,
  'workflow-none': EXIT.no,
  'workflow-there': EXIT.no,
  'workflow-over': EXIT.no,
  'workflow-marker': EXIT.no,
  'workflow-state': EXIT.data,
  'host-unknown': EXIT.usage,
  'scope-unknown': EXIT.usage,
  'scope-not-of-host': EXIT.usage,
  'not-a-folder': EXIT.write,
  'cannot-write': EXIT.write,
  internal: EXIT.internal,
} as const satisfies Record<string, ExitCode>

export type ErrorCode = keyof typeof EXIT_CODES

/** What an error's sentence is filled with; values are bounded and cleaned when they are printed. */
export type ErrorArguments = Readonly<Record<string, string | number>>

/** The one error class of the project. `message` is the code, for logs that nobody should have to read. */
export class PostflightError extends Error {
  readonly code: ErrorCode
  readonly args: ErrorArguments

  constructor(code: ErrorCode, args: ErrorArguments = {}, cause?: unknown) {
    super(code, cause === undefined ? undefined : { cause })
    this.name = 'PostflightError'
    this.code = code
    this.args = args
  }

  get exitCode(): ExitCode {
    return EXIT_CODES[this.code]
  }
}
