import { cut, stripControl } from './text.ts'

/** The hook's answers: one line of JSON each (docs/design.md, "Answers"). */

/** The maximum length of a reason or a notice, in characters. */
export const REASON_LIMIT = 4000

/** An answer of the hook, before it is printed. */
export type HookAnswer =
  | { readonly kind: 'allow'; readonly notice?: string }
  /** `line`: the reason in one line, for a host that takes the whole one as context beside it. */
  | { readonly kind: 'block'; readonly reason: string; readonly line?: string; readonly notice?: string }
  /** `limit`: the maximum length of the context, if that is not `REASON_LIMIT`. */
  | { readonly kind: 'context'; readonly event: string; readonly context: string; readonly limit?: number }

/** The allow without a notice. */
export const ALLOW: HookAnswer = { kind: 'allow' }

/**
 * The line for stdout. A block has exactly `decision` and `reason`, because Codex 0.169.0 voids an answer with any further
 * key; only a host that shows notices gets one beside them. `contextTaken`: the host gives the model the context of a block
 * once, and its reason twice. If the host does not show notices, an allow is `{}`. `sequence`: what the host is to write to
 * the user's terminal.
 */
export function formatAnswer(
  answer: HookAnswer,
  noticeShown: boolean,
  contextTaken = false,
  sequence?: string,
): string {
  const terminal = sequence === undefined ? {} : { terminalSequence: sequence }
  switch (answer.kind) {
    case 'block':
      return printed({
        decision: 'block',
        ...(contextTaken && answer.line !== undefined
          ? { reason: clean(answer.line), ...context('Stop', answer.reason) }
          : { reason: clean(answer.reason) }),
        ...shown(answer.notice, noticeShown),
        ...terminal,
      })
    case 'context':
      return printed(context(answer.event, answer.context, answer.limit))
    case 'allow':
      return printed({ ...shown(answer.notice, noticeShown), ...terminal })
  }
}

function shown(notice: string | undefined, noticeShown: boolean): { readonly systemMessage?: string } {
  return notice !== undefined && noticeShown ? { systemMessage: clean(notice) } : {}
}

function clean(text: string, limit = REASON_LIMIT): string {
  return cut(stripControl(text), limit)
}

function context(event: string, text: string, limit?: number): object {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: clean(text, limit) } }
}

function printed(value: object): string {
  return `${JSON.stringify(value)}\n`
}
