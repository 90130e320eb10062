/**
 * Errors carry a code and arguments. `error-messages.ts` turns them into sentences, `EXIT_CODES` into exit codes
 * (docs/design.md, "Commands").
 */

import type { PathKind } from './files.ts'

export const EXIT = { done: 0, no: 1, usage: 64, data: 65, internal: 70, write: 73 } as const

type NoArguments = Readonly<Record<string, never>>

const NO_ARGUMENTS: NoArguments = {}

/** An exit code whose type has the error's arguments too. */
type With<Arguments> = (typeof EXIT)[keyof typeof EXIT] & { readonly arguments: Readonly<Arguments> }

export const EXIT_CODES = {
  usage: EXIT.usage as With<{ detail: string }>,
  'task-invalid': EXIT.usage as With<{ task: string; longest?: number; largest?: number; slug?: string }>,
  'slug-invalid': EXIT.usage as With<{ slug: string; longest?: number }>,
  'slug-missing': EXIT.usage as With<{ task: string; specs: string; command: string }>,
  'task-ambiguous': EXIT.usage as With<{ task: string; folders: string }>,
  'task-unknown': EXIT.no as With<{ task: string; specs: string; wanted: 'marker' | 'workflow' | 'story' }>,
  'task-has-other-folder': EXIT.no as With<{ task: string; folder: string }>,
  'target-missing': EXIT.usage as With<{ options: string }>,
  'target-twice': EXIT.usage as With<{ options: string }>,
  'value-invalid': EXIT.usage as With<{ option: string; expected: string; value: string }>,
  'current-folder-lost': EXIT.data,
  'root-missing': EXIT.usage as With<{ path: string; from: string }>,
  'root-none': EXIT.no as With<{ start: string }>,
  'root-unlikely': EXIT.usage as With<{ start: string }>,
  'marker-none': EXIT.no as With<{ folder: string }>,
  'adopt-done': EXIT.no as With<{ folder: string }>,
  'bypass-none': EXIT.no as With<{ folder: string }>,
  'bypass-no-room': EXIT.write as With<{ path: string; detail: string; clear: string }>,
  'marker-of-other-session': EXIT.no as With<{ path: string; whose: string; task: string }>,
  'marker-of-other-agent': EXIT.no as With<{ path: string; agent: string; operation: string | undefined }>,
  'wait-refused': EXIT.no as With<{
    path: string
    task: string
    why:
      | 'unowned'
      | 'other-session'
      | 'by-sub-agent'
      | 'sub-agent'
      | 'limit'
      | 'run-of-other-session'
      | 'run-by-sub-agent'
      | 'run-limit'
  }>,
  'checks-refused': EXIT.no as With<{
    path: string
    refusal: 'other-session' | 'unowned' | 'running' | 'replaced' | 'unreadable' | 'removed' | 'done'
    commands: string
    since?: string | undefined
    unchecked?: boolean
  }>,
  'commands-untrusted': EXIT.no as With<{ task: string; commands: string; from?: string; prompts?: string }>,
  'check-files': EXIT.data as With<{ limit: number; seconds: number }>,
  'check-patterns': EXIT.data as With<{ task: string; phase: string }>,
  'check-none': EXIT.no as With<{ task: string; phase: string }>,
  'shell-missing': EXIT.no as With<{ detail: string }>,
  'marker-unreadable': EXIT.data as With<{ path: string; detail: string }>,
  'marker-unparsed': EXIT.data as With<{ path: string; detail: string }>,
  'marker-vanished': EXIT.no as With<{ path: string }>,
  'marker-too-large': EXIT.data as With<{ limit: number }>,
  locked: EXIT.write as With<{ path: string; lock: string }>,
  'step-unknown': EXIT.usage as With<{ step: string; path: string; steps: string }>,
  'steps-none': EXIT.no as With<{ path: string }>,
  'session-unknown': EXIT.usage,
  'payload-not-json': EXIT.data as With<{ detail: string }>,
  'payload-not-object': EXIT.data,
  'file-unreadable': EXIT.data as With<{ path: string; detail: string }>,
  'definition-missing': EXIT.data as With<{ path: string; examples: string }>,
  'settings-not-json': EXIT.data as With<{ path: string; line: number; column: number; fault: string }>,
  'settings-too-deep': EXIT.data as With<{ path: string; limit: number }>,
  'settings-wrong-shape': EXIT.data as With<{
    path: string
    property: string | undefined
    expected: 'object' | 'list' | 'unique'
  }>,
  'already-wired': EXIT.no as With<{
    where: string
    wiredBy: 'settings' | 'same-command' | 'scope' | 'plugin'
    command: string
  }>,
  'needs-answer': EXIT.usage,
  'rules-invalid': EXIT.data as With<{ path: string; location: string; detail: string }>,
  'rules-not-of-host': EXIT.usage as With<{ host: string }>,
  'workflow-definition': EXIT.data as With<{ path: string; location: string; detail: string; more: number }>,
  'done-invalid': EXIT.data as With<{ path: string; location: string; detail: string; more: number }>,
  'done-none': EXIT.no as With<{ path: string }>,
  /** `trust`: the command that a person runs. */
  'done-untrusted': EXIT.no as With<{ path: string; trust: string }>,
  'done-running': EXIT.no as With<{ since: string }>,
  'trust-agent': EXIT.no,
  'trust-needs-answer': EXIT.usage,
  'workflow-input': EXIT.usage as With<{ problem: 'unknown' | 'missing' | 'too-long'; name: string; known: string }>,
  'workflow-none': EXIT.no as With<{ task: string }>,
  'workflow-there': EXIT.no as With<{ task: string; name: string; outcome: string; resumable: boolean }>,
  'workflow-over': EXIT.no as With<{ task: string; outcome: string; resumable?: boolean }>,
  'approval-none': EXIT.no as With<{ task: string; phase: string }>,
  'approval-agent': EXIT.no as With<{ task: string }>,
  'approval-artifact': EXIT.no as With<{ task: string; detail: string }>,
  'phase-unknown': EXIT.usage as With<{ task: string; phase: string; known: string }>,
  'phase-not-entered': EXIT.usage as With<{ task: string; phase: string; known: string }>,
  'phase-approval': EXIT.no as With<{ task: string; phase: string }>,
  'run-step': EXIT.no as With<{ task: string; phase: string; step: string; count: number; status: StepRefusal }>,
  'workflow-state': EXIT.data as With<{
    path: string
    problem: 'not-json' | 'version' | 'shape' | 'unreadable'
    detail: string
  }>,
  'shared-run-id': EXIT.usage as With<{ run: string }>,
  'shared-tree': EXIT.data as With<{ detail: string }>,
  'shared-many': EXIT.data as With<{ remote: string; limit: number }>,
  'share-unreadable': EXIT.data as With<{ path: string }>,
  'shared-too-large': EXIT.data as With<{ files: number; megabytes: number }>,
  'shared-differs': EXIT.no as With<{ folder: string; files: string }>,
  'shared-elsewhere': EXIT.usage as With<{ task: string; remote: string }>,
  'shared-none': EXIT.no as With<{ remote: string; task: string }>,
  'shared-ambiguous': EXIT.usage as With<{ task: string; runs: string }>,
  'shared-held': EXIT.no as With<{
    run: string
    remote: string
    machine: string
    session: string | undefined
    age: string
  }>,
  'workflow-in-way': EXIT.no as With<{ task: string; name: string; run: string }>,
  'not-shared': EXIT.no as With<{ task: string }>,
  'not-published': EXIT.no as With<{ task: string; remote: string; detail: string }>,
  /** `refused`: it was certainly not taken. */
  'not-taken': EXIT.no as With<{
    run: string
    remote: string
    detail: string
    claim: 'refused' | 'unanswered' | 'unplaced'
  }>,
  'take-agent': EXIT.no as With<{ run: string }>,
  'take-alone': EXIT.usage,
  'shared-alone': EXIT.usage as With<{ option: string }>,
  'prompts-untrusted': EXIT.no as With<{ run: string; remote: string; commit: string }>,
  'workflow-moved': EXIT.no as With<{ task: string; run: string; remote: string; why: string }>,
  'git-failed': EXIT.no as With<{ command: string; detail: string }>,
  'remote-unreachable': EXIT.no as With<{ remote: string; detail: string }>,
  'remote-unknown': EXIT.usage as With<{ remote: string }>,
  'host-unknown': EXIT.usage as With<{ host: string; known: string }>,
  'scope-unknown': EXIT.usage as With<{ scope: string }>,
  'scope-not-here': EXIT.usage as With<{ host: string; folder: string; path: string }>,
  'scope-not-of-host': EXIT.usage as With<{ scope: string; host: string }>,
  'home-unknown': EXIT.usage,
  'not-a-folder': EXIT.write as With<{ path: string; kind: PathKind }>,
  'cannot-write': EXIT.write as With<{ path: string; detail: string }>,
  'init-unfinished': EXIT.write as With<{ written: string; fault: string }>,
  'output-unwritable': EXIT.write as With<{ detail: string }>,
  internal: EXIT.internal as With<{ detail: string }>,
}

export type ErrorCode = keyof typeof EXIT_CODES

export type ErrorArguments = {
  [Code in ErrorCode]: (typeof EXIT_CODES)[Code] extends With<infer Arguments> ? Readonly<Arguments> : NoArguments
}

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

/** libuv (1.46) has no name for them: Node's code is `UNKNOWN` or `Unknown system error -122`. On Linux, then on macOS. */
const UNNAMED: Readonly<Record<number, string>> = { 122: 'EDQUOT', 116: 'ESTALE', 69: 'EDQUOT', 70: 'ESTALE' }

export function systemCode(error: unknown): string | undefined {
  const { code, errno = 0 } = error as NodeJS.ErrnoException
  return UNNAMED[-errno] ?? code
}

export function isSystemCode(code: string): boolean {
  return /^(?:E[A-Z0-9]+$|UNKNOWN$|Unknown system error )/.test(code)
}

export type StepRefusal = 'no-steps' | 'unknown' | 'done' | 'not-ended' | 'too-many'

export const MAX_INPUT_LENGTH = 5000
export const MAX_CHECKS = 20
export const WAIT_LIMIT = 10
