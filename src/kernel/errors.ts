import type { COMMAND_SENTENCES } from './command-errors.ts'
import { HOOK_SENTENCES } from './error-messages.ts'
import { oneLine, QUOTE_LIMIT } from './text.ts'

/** Errors carry a code and arguments; `error-messages.ts` and `command-errors.ts` have their sentences. */

type AllSentences = typeof HOOK_SENTENCES & typeof COMMAND_SENTENCES

export type ErrorCode = keyof AllSentences

type NoArguments = Readonly<Record<string, never>>

export type ErrorArguments = {
  [Code in ErrorCode]: Parameters<AllSentences[Code]> extends [infer Args, ...unknown[]] ? Readonly<Args> : NoArguments
}

type ErrorParameters = {
  [Code in ErrorCode]: ErrorArguments[Code] extends NoArguments
    ? [code: Code, args?: NoArguments | undefined, cause?: unknown]
    : [code: Code, args: ErrorArguments[Code], cause?: unknown]
}[ErrorCode]

export class PostflightError extends Error {
  readonly code: ErrorCode
  readonly args: ErrorArguments[ErrorCode]

  constructor(...[code, args = {}, cause]: ErrorParameters) {
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

type Sentences = { readonly [Code in ErrorCode]?: (args: ErrorArguments[Code], root?: string) => string }

let further: Sentences = {}

export function addSentences(sentences: Sentences): void {
  further = sentences
}

const NOTHING_WRITTEN = ' Nothing was written: fix the file, then try again.'

export function errorMessage<Code extends ErrorCode>(code: Code, args: ErrorArguments[Code], root?: string): string {
  return `${errorFault(code, args, root)}${code.startsWith('settings-') ? NOTHING_WRITTEN : ''}`
}

export function errorFault<Code extends ErrorCode>(code: Code, args: ErrorArguments[Code], root?: string): string {
  const sentence = (HOOK_SENTENCES as Sentences)[code] ?? further[code]
  return sentence === undefined ? `${code} ${JSON.stringify(args)}` : sentence(cleaned(args), root)
}

/** A hostile text must not control the terminal. */
function cleaned<Arguments extends object>(args: Arguments): Arguments {
  const clean = (value: unknown): unknown => (typeof value === 'string' ? oneLine(value, QUOTE_LIMIT * 5) : value)
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, clean(value)])) as Arguments
}

export function messageOf(error: unknown, root?: string): string {
  const { code, args } = asPostflightError(error)
  return errorMessage(code, args, root)
}

export function argumentsOf<Code extends ErrorCode>(error: unknown, code: Code): ErrorArguments[Code] | undefined {
  const known = asPostflightError(error)
  return known.code === code ? (known.args as ErrorArguments[Code]) : undefined
}

/** What `temporaryBeside` adds to a file's name. */
const TEMPORARY = /\.\d+-\w+-\d+\.tmp$/

export function asPostflightError(error: unknown): PostflightError {
  if (error instanceof PostflightError) return error
  const { path, message } = error as NodeJS.ErrnoException
  const code = systemCode(error)
  if (code !== undefined && isSystemCode(code)) {
    return new PostflightError('cannot-write', { path: path?.replace(TEMPORARY, '') ?? 'a file', detail: code }, error)
  }
  return new PostflightError('internal', { detail: message ?? String(error) }, error)
}
