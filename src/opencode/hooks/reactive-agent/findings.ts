import type { Message, ToolOutput } from '../../host/api.ts'

/** Hands texts about tool calls to the agent that made the calls. */

/** The number of texts that are kept for calls that have not ended, or that failed. */
const MEMORY = 1_000

/** Texts by the id of their call. */
export class Findings {
  readonly #texts = new Map<string, string>()

  /** Keeps a text until its call has ended. */
  keep(callID: string, text: string): void {
    this.#texts.set(callID, text)
    const [oldest] = this.#texts.keys()
    if (this.#texts.size > MEMORY && oldest !== undefined) this.#texts.delete(oldest)
  }

  /** Adds the text of a call to its result. */
  addToResult(callID: string, output: ToolOutput): void {
    const text = this.#texts.get(callID)
    if (text === undefined) return
    if (typeof output.output === 'string') output.output = `${output.output}\n\n${text}`
    else if (Array.isArray(output.content)) output.content.push({ type: 'text', text })
    else return
    this.#texts.delete(callID)
  }

  /** Adds the texts of failed calls, whose result reaches no other hook, to the messages of a request to the model. */
  addToErrors(messages: readonly Message[]): void {
    if (this.#texts.size === 0) return
    for (const { callID, state } of messages.flatMap(({ parts }) => parts)) {
      const text = callID === undefined || state?.status !== 'error' ? undefined : this.#texts.get(callID)
      if (text === undefined || state?.error?.includes(text) === true) continue
      if (state !== undefined) state.error = `${state.error ?? ''}\n\n${text}`
    }
  }
}
