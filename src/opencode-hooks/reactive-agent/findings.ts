import type { Message } from '../../hosts/opencode/api.ts'
import type { ToolOutput } from '../../hosts/opencode/plugin-api.ts'
import { addToResult } from '../tool-result.ts'

/** Hands texts about tool calls to the agent that made the calls. */

/** The number of texts that are kept for calls that have not ended, or that failed. */
const MEMORY = 1_000

/** Texts by their call. Some models number their calls from 0 in each conversation, or in each answer. */
export class Findings {
  readonly #texts = new Map<string, string>()

  /** Keeps a text until its call has ended. */
  keep(session: string, callID: string, text: string): void {
    this.#texts.set(keyOf(session, callID), text)
    const [oldest] = this.#texts.keys()
    if (this.#texts.size > MEMORY && oldest !== undefined) this.#texts.delete(oldest)
  }

  /** Forgets the text of an earlier call with the same id. */
  forget(session: string, callID: string): void {
    this.#texts.delete(keyOf(session, callID))
  }

  /** Adds the text of a call to its result. */
  addToResult(session: string, callID: string, output: ToolOutput): void {
    const text = this.#texts.get(keyOf(session, callID))
    if (text !== undefined && addToResult(output, text)) this.forget(session, callID)
  }

  /** Adds the texts of failed calls, whose result reaches no other hook, to the messages of a request to the model. */
  addToErrors(messages: readonly Message[]): void {
    if (this.#texts.size === 0) return
    for (const { info, parts } of messages) {
      for (const { callID, state } of parts) {
        if (callID === undefined || state?.status !== 'error') continue
        const text = this.#texts.get(keyOf(info.sessionID, callID))
        if (text === undefined || state.error?.includes(text) === true) continue
        state.error = `${state.error ?? ''}\n\n${text}`
      }
    }
  }
}

function keyOf(session: string, callID: string): string {
  return `${session} ${callID}`
}
