/**
 * Errors carry a code and arguments. `error-messages.ts` turns them into sentences, `EXIT_CODES` into exit codes
 * (docs/design.md, "Commands"). None is 2: hosts read that exit code of a hook as *block*.
 */

import type { PathKind } from './files.ts'

/** Exit codes of the CLI. */
export const EXIT = { done: 0, no: 1, usage: 64, data: 65, internal: 70, write: 73 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The arguments of each error code. Texts are cleaned and cut when they are printed. */
export interface ErrorArguments {
  usage: { readonly detail: string }
  /** `longest` or `largest` is set if only the length or the number is wrong. */
  'task-invalid': { readonly task: string; readonly longest?: number; readonly largest?: number }
  'slug-invalid': { readonly slug: string; readonly longest?: number }
  'slug-missing': { readonly task: string; readonly specs: string; readonly command: string }
  'task-ambiguous': { readonly task: string; readonly folders: string }
  'task-unknown': { readonly task: string; readonly specs: string; readonly wanted: 'marker' | 'workflow' | 'story' }
  'task-has-other-folder': { readonly task: string; readonly folder: string }
  'target-missing': { readonly options: string }
  'target-twice': { readonly options: string }
  'value-invalid': { readonly option: string; readonly expected: string; readonly value: string }
  'current-folder-lost': NoArguments
  'root-missing': { readonly path: string; readonly from: string }
  'root-none': { readonly start: string }
  'root-unlikely': { readonly start: string }
  'marker-none': { readonly folder: string }
  'bypass-none': { readonly folder: string }
  /** `clear`: the command that removes the marker. */
  'bypass-no-room': { readonly path: string; readonly detail: string; readonly clear: string }
  'marker-of-other-session': { readonly path: string; readonly whose: string; readonly task: string }
  'marker-of-other-agent': { readonly path: string; readonly agent: string; readonly operation: string | undefined }
  'wait-refused': {
    readonly path: string
    readonly task: string
    readonly why:
      | 'unowned'
      | 'other-session'
      | 'by-sub-agent'
      | 'sub-agent'
      | 'limit'
      | 'run-of-other-session'
      | 'run-by-sub-agent'
      | 'run-limit'
  }
  /** `commands`: the checks, as a sentence names them. `unchecked`: true if `--unchecked` is an option of the command. */
  'checks-refused': {
    readonly path: string
    readonly refusal: 'other-session' | 'unowned' | 'running' | 'replaced' | 'unreadable' | 'removed'
    readonly commands: string
    readonly since?: string
    readonly unchecked: boolean
  }
  'commands-untrusted': { readonly task: string; readonly commands: string }
  'check-files': { readonly limit: number; readonly seconds: number }
  'check-patterns': { readonly task: string; readonly phase: string }
  'check-none': { readonly task: string; readonly phase: string }
  'shell-missing': { readonly detail: string }
  'marker-unreadable': { readonly path: string; readonly detail: string }
  'marker-unparsed': { readonly path: string; readonly detail: string }
  'marker-vanished': { readonly path: string }
  'marker-too-large': { readonly limit: number }
  locked: { readonly path: string; readonly lock: string }
  'step-unknown': { readonly step: string; readonly path: string; readonly steps: string }
  'steps-none': { readonly path: string }
  'session-unknown': NoArguments
  'payload-not-json': { readonly detail: string }
  'payload-not-object': NoArguments
  'file-unreadable': { readonly path: string; readonly detail: string }
  'settings-not-json': {
    readonly path: string
    readonly line: number
    readonly column: number
    /** The JSON parser's name of the fault. */
    readonly fault: string
  }
  'settings-too-deep': { readonly path: string; readonly limit: number }
  /** `property` is undefined for the whole file. */
  'settings-wrong-shape': {
    readonly path: string
    readonly property: string | undefined
    readonly expected: 'object' | 'list' | 'unique'
  }
  /** The hook is wired already: `where` names the place, `command` removes it there. */
  'already-wired': {
    readonly where: string
    readonly wiredBy: 'settings' | 'same-command' | 'scope' | 'plugin'
    readonly command: string
  }
  'needs-answer': NoArguments
  /** `place`: the rule and its field, as they follow the path. */
  'rules-invalid': { readonly path: string; readonly place: string; readonly detail: string }
  'rules-not-of-host': { readonly host: string }
  /** `examples`: the names of the shipped examples; empty if there are none. */
  'definition-missing': { readonly path: string; readonly examples: string }
  /** `place`: line and column, as they follow the path. `more`: the number of other faults. */
  'workflow-definition': {
    readonly path: string
    readonly place: string
    readonly detail: string
    readonly more: number
  }
  /** `place`: line and column, as they follow the path. `more`: the number of other faults. */
  'done-invalid': { readonly path: string; readonly place: string; readonly detail: string; readonly more: number }
  'done-none': { readonly path: string }
  /** `trust`: the command that a person runs. */
  'done-untrusted': { readonly path: string; readonly trust: string }
  /** `since`: since when another process runs the checks. */
  'done-running': { readonly since: string }
  'trust-agent': NoArguments
  'trust-needs-answer': NoArguments
  /** An input of `workflow start --set`; `known`: the names of the inputs. */
  'workflow-input': {
    readonly problem: 'unknown' | 'missing' | 'too-long'
    readonly name: string
    readonly known: string
  }
  'workflow-none': { readonly task: string }
  /** `outcome`: "running", or the outcome of the run. */
  'workflow-there': {
    readonly task: string
    readonly name: string
    readonly outcome: string
    readonly resumable: boolean
  }
  'workflow-over': { readonly task: string; readonly outcome: string }
  /** The run does not wait for an approval; it is in `phase`. */
  'approval-none': { readonly task: string; readonly phase: string }
  'approval-agent': { readonly task: string }
  'approval-artifact': { readonly task: string; readonly detail: string }
  /** `known`: the phases of the workflow. */
  'phase-not-entered': { readonly task: string; readonly phase: string; readonly known: string }
  'phase-approval': { readonly task: string; readonly phase: string }
  'phase-unknown': { readonly task: string; readonly phase: string; readonly known: string }
  /** A step of a run that cannot be retried or skipped; `count`: the steps of the phase. */
  'run-step': {
    readonly task: string
    readonly phase: string
    readonly step: string
    readonly count: number
    readonly standing: StepRefusal
  }
  'workflow-state': {
    readonly path: string
    readonly problem: 'not-json' | 'version' | 'shape' | 'unreadable'
    readonly detail: string
  }
  'host-unknown': { readonly host: string; readonly known: string }
  'scope-unknown': { readonly scope: string }
  'scope-not-of-host': { readonly scope: string; readonly host: string }
  'home-unknown': NoArguments
  'not-a-folder': { readonly path: string; readonly kind: PathKind }
  'cannot-write': { readonly path: string; readonly detail: string }
  /** `written`: the files. `fault`: the sentence of the error that stopped it. */
  'init-unfinished': { readonly written: string; readonly fault: string }
  'output-unwritable': { readonly detail: string }
  internal: { readonly detail: string }
}

type NoArguments = Readonly<Record<string, never>>

const NO_ARGUMENTS: NoArguments = {}

export type ErrorCode = keyof ErrorArguments

/** The exit code of each error code. */
export const EXIT_CODES = {
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
  'current-folder-lost': EXIT.data,
  'root-missing': EXIT.usage,
  'root-none': EXIT.no,
  'root-unlikely': EXIT.usage,
  'marker-none': EXIT.no,
  'bypass-none': EXIT.no,
  'bypass-no-room': EXIT.write,
  'marker-of-other-session': EXIT.no,
  'marker-of-other-agent': EXIT.no,
  'wait-refused': EXIT.no,
  'checks-refused': EXIT.no,
  'commands-untrusted': EXIT.no,
  'check-files': EXIT.data,
  'check-patterns': EXIT.data,
  'check-none': EXIT.no,
  'shell-missing': EXIT.no,
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
  'definition-missing': EXIT.data,
  'settings-not-json': EXIT.data,
  'settings-too-deep': EXIT.data,
  'settings-wrong-shape': EXIT.data,
  'already-wired': EXIT.no,
  'needs-answer': EXIT.usage,
  'rules-invalid': EXIT.data,
  'rules-not-of-host': EXIT.usage,
  'workflow-definition': EXIT.data,
  'done-invalid': EXIT.data,
  'done-none': EXIT.no,
  'done-untrusted': EXIT.no,
  'done-running': EXIT.no,
  'trust-agent': EXIT.no,
  'trust-needs-answer': EXIT.usage,
  'workflow-input': EXIT.usage,
  'workflow-none': EXIT.no,
  'workflow-there': EXIT.no,
  'workflow-over': EXIT.no,
  'approval-none': EXIT.no,
  'approval-agent': EXIT.no,
  'approval-artifact': EXIT.no,
  'phase-unknown': EXIT.usage,
  'phase-not-entered': EXIT.usage,
  'phase-approval': EXIT.no,
  'run-step': EXIT.no,
  'workflow-state': EXIT.data,
  'host-unknown': EXIT.usage,
  'scope-unknown': EXIT.usage,
  'scope-not-of-host': EXIT.usage,
  'home-unknown': EXIT.usage,
  'not-a-folder': EXIT.write,
  'cannot-write': EXIT.write,
  'init-unfinished': EXIT.write,
  'output-unwritable': EXIT.write,
  internal: EXIT.internal,
} as const satisfies Record<ErrorCode, ExitCode>

/** A code, its arguments (optional for a code without any), and the error that caused this one. */
type ErrorParameters = {
  [Code in ErrorCode]: ErrorArguments[Code] extends NoArguments
    ? [code: Code, args?: NoArguments | undefined, cause?: unknown]
    : [code: Code, args: ErrorArguments[Code], cause?: unknown]
}[ErrorCode]

/** The error class of the project. Its `message` is the code; the sentence for people is made when it is printed. */
export class PostflightError extends Error {
  readonly code: ErrorCode
  /** The arguments of `code`. */
  readonly args: ErrorArguments[ErrorCode]

  constructor(...[code, args = NO_ARGUMENTS, cause]: ErrorParameters) {
    super(code, cause === undefined ? undefined : { cause })
    this.name = 'PostflightError'
    this.code = code
    this.args = args
  }

  get exitCode(): ExitCode {
    return EXIT_CODES[this.code]
  }
}

/** Why a step of the current phase cannot be retried or skipped. */
export type StepRefusal = 'no-steps' | 'unknown' | 'done' | 'not-ended'
