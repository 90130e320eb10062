/**
 * Errors carry a code and arguments. `error-messages.ts` turns them into sentences, `EXIT_CODES` into exit codes
 * (docs/design.md, "Commands").
 */

import type { PathKind } from './files.ts'

export const EXIT = { done: 0, no: 1, usage: 64, data: 65, internal: 70, write: 73 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface ErrorArguments {
  usage: { readonly detail: string }
  'task-invalid': {
    readonly task: string
    readonly longest?: number
    readonly largest?: number
    readonly slug?: string
  }
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
  'adopt-done': { readonly folder: string }
  'bypass-none': { readonly folder: string }
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
  'checks-refused': {
    readonly path: string
    readonly refusal: 'other-session' | 'unowned' | 'running' | 'replaced' | 'unreadable' | 'removed' | 'done'
    readonly commands: string
    readonly since?: string
    readonly unchecked: boolean
  }
  'commands-untrusted': {
    readonly task: string
    readonly commands: string
    readonly from?: string
    readonly prompts?: string
  }
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
    readonly fault: string
  }
  'settings-too-deep': { readonly path: string; readonly limit: number }
  'settings-wrong-shape': {
    readonly path: string
    readonly property: string | undefined
    readonly expected: 'object' | 'list' | 'unique'
  }
  'already-wired': {
    readonly where: string
    readonly wiredBy: 'settings' | 'same-command' | 'scope' | 'plugin'
    readonly command: string
  }
  'needs-answer': NoArguments
  'rules-invalid': { readonly path: string; readonly location: string; readonly detail: string }
  'rules-not-of-host': { readonly host: string }
  'definition-missing': { readonly path: string; readonly examples: string }
  'workflow-definition': {
    readonly path: string
    readonly location: string
    readonly detail: string
    readonly more: number
  }
  'done-invalid': { readonly path: string; readonly location: string; readonly detail: string; readonly more: number }
  'done-none': { readonly path: string }
  /** `trust`: the command that a person runs. */
  'done-untrusted': { readonly path: string; readonly trust: string }
  'done-running': { readonly since: string }
  'trust-agent': NoArguments
  'trust-needs-answer': NoArguments
  'workflow-input': {
    readonly problem: 'unknown' | 'missing' | 'too-long'
    readonly name: string
    readonly known: string
  }
  'workflow-none': { readonly task: string }
  'workflow-there': {
    readonly task: string
    readonly name: string
    readonly outcome: string
    readonly resumable: boolean
  }
  'workflow-over': { readonly task: string; readonly outcome: string }
  'approval-none': { readonly task: string; readonly phase: string }
  'approval-agent': { readonly task: string }
  'approval-artifact': { readonly task: string; readonly detail: string }
  'phase-not-entered': { readonly task: string; readonly phase: string; readonly known: string }
  'phase-approval': { readonly task: string; readonly phase: string }
  'phase-unknown': { readonly task: string; readonly phase: string; readonly known: string }
  'run-step': {
    readonly task: string
    readonly phase: string
    readonly step: string
    readonly count: number
    readonly status: StepRefusal
  }
  'workflow-state': {
    readonly path: string
    readonly problem: 'not-json' | 'version' | 'shape' | 'unreadable'
    readonly detail: string
  }
  'shared-run-id': { readonly run: string }
  'shared-tree': { readonly detail: string }
  'shared-many': { readonly remote: string; readonly limit: number }
  'share-unreadable': { readonly path: string }
  'shared-too-large': { readonly files: number; readonly megabytes: number }
  'shared-differs': { readonly folder: string; readonly files: string }
  'shared-elsewhere': { readonly task: string; readonly remote: string }
  'shared-none': { readonly remote: string; readonly task: string }
  'shared-ambiguous': { readonly task: string; readonly runs: string }
  'shared-held': {
    readonly run: string
    readonly remote: string
    readonly machine: string
    readonly session: string | undefined
    readonly age: string
  }
  'workflow-in-way': { readonly task: string; readonly name: string; readonly run: string }
  'not-shared': { readonly task: string }
  'not-published': { readonly task: string; readonly remote: string; readonly detail: string }
  /** `refused`: it was certainly not taken. */
  'not-taken': {
    readonly run: string
    readonly remote: string
    readonly detail: string
    readonly claim: 'refused' | 'unanswered' | 'unplaced'
  }
  'take-agent': { readonly run: string }
  'take-alone': NoArguments
  'shared-alone': { readonly option: string }
  'prompts-untrusted': { readonly run: string; readonly remote: string; readonly commit: string }
  'workflow-moved': { readonly task: string; readonly run: string; readonly remote: string; readonly why: string }
  'git-failed': { readonly command: string; readonly detail: string }
  'remote-unreachable': { readonly remote: string; readonly detail: string }
  'remote-unknown': { readonly remote: string }
  'host-unknown': { readonly host: string; readonly known: string }
  'scope-unknown': { readonly scope: string }
  'scope-not-of-host': { readonly scope: string; readonly host: string }
  'home-unknown': NoArguments
  'not-a-folder': { readonly path: string; readonly kind: PathKind }
  'cannot-write': { readonly path: string; readonly detail: string }
  'init-unfinished': { readonly written: string; readonly fault: string }
  'output-unwritable': { readonly detail: string }
  internal: { readonly detail: string }
}

type NoArguments = Readonly<Record<string, never>>

const NO_ARGUMENTS: NoArguments = {}

export type ErrorCode = keyof ErrorArguments

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
  'adopt-done': EXIT.no,
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
  'shared-run-id': EXIT.usage,
  'shared-tree': EXIT.data,
  'shared-many': EXIT.data,
  'share-unreadable': EXIT.data,
  'shared-too-large': EXIT.data,
  'shared-differs': EXIT.no,
  'shared-elsewhere': EXIT.usage,
  'shared-none': EXIT.no,
  'shared-ambiguous': EXIT.usage,
  'shared-held': EXIT.no,
  'workflow-in-way': EXIT.no,
  'not-shared': EXIT.no,
  'not-published': EXIT.no,
  'not-taken': EXIT.no,
  'take-agent': EXIT.no,
  'take-alone': EXIT.usage,
  'shared-alone': EXIT.usage,
  'prompts-untrusted': EXIT.no,
  'workflow-moved': EXIT.no,
  'git-failed': EXIT.no,
  'remote-unreachable': EXIT.no,
  'remote-unknown': EXIT.usage,
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

type ErrorParameters = {
  [Code in ErrorCode]: ErrorArguments[Code] extends NoArguments
    ? [code: Code, args?: NoArguments | undefined, cause?: unknown]
    : [code: Code, args: ErrorArguments[Code], cause?: unknown]
}[ErrorCode]

export class PostflightError extends Error {
  readonly code: ErrorCode
  readonly args: ErrorArguments[ErrorCode]

  constructor(...[code, args = NO_ARGUMENTS, cause]: ErrorParameters) {
    super(code, cause === undefined ? undefined : { cause })
    this.name = 'PostflightError'
    this.code = code
    this.args = args
  }
}

export type StepRefusal = 'no-steps' | 'unknown' | 'done' | 'not-ended' | 'too-many'

export const MAX_INPUT_LENGTH = 5000

export const MAX_CHECKS = 20

export const WAIT_LIMIT = 10
