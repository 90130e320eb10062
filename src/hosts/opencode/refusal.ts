import { OPENCODE_TEXT } from './opencode-messages.ts'

/** The refusals of OpenCode's client, which answers with an error and does not throw. */

/** The reading of messages. A refusal of these concerns one conversation and lasts (see `HostRefusal.kind`). */
const READING_CALLS = ['session.messages', 'session.message']

/** A request that OpenCode refused. */
export class HostRefusal extends Error {
  /**
   * `gone`: the session or the message was deleted, so there is nothing left to guard. `unreadable`: OpenCode cannot read a
   * conversation's messages (1.18.34: where one has a `format` with a JSON Schema).
   */
  readonly kind: 'gone' | 'unreadable' | 'other'
  readonly session: string | undefined

  constructor(message: string, kind: HostRefusal['kind'], session: string | undefined) {
    super(message)
    this.kind = kind
    this.session = session
  }
}

/** True for the refusal of a request about a session that was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof HostRefusal && error.kind === 'gone'
}

/** The value of a reply. @throws {HostRefusal} when it has none. */
export function need<T>(
  reply: { readonly data?: T; readonly error?: unknown },
  call: string,
  session: string | undefined = undefined,
): T {
  if (reply.data === undefined || reply.data === null) throw refused(call, reply.error, session)
  return reply.data
}

/** The error for a refused request. */
export function refused(call: string, error: unknown, session: string | undefined = undefined): HostRefusal {
  const { name, data, message } = (error ?? {}) as { name?: string; data?: { message?: string }; message?: string }
  const words = OPENCODE_TEXT.refused(call, data?.message ?? message ?? name ?? OPENCODE_TEXT.noReply)
  return new HostRefusal(words, kindOf(call, name), session)
}

function kindOf(call: string, name: string | undefined): HostRefusal['kind'] {
  if (name === 'NotFoundError') return 'gone'
  return name === 'BadRequest' && READING_CALLS.includes(call) ? 'unreadable' : 'other'
}
