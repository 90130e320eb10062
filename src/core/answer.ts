import { cut, stripControl } from './text.ts'

/** The hook's answers: one line of JSON each (docs/design.md, "Answers"). */

/** The maximum length of a reason or a notice, in characters. */
export const REASON_LIMIT = 4000

/** An answer of the hook, before it is printed. */
export type HookAnswer =
  | { readonly kind: 'allow'; readonly notice?: string }
  | { readonly kind: 'block'; readonly reason: string; readonly notice?: string }
  /** `limit`: the maximum length of the context, if that is not `REASON_LIMIT`. */
  | { readonly kind: 'context'; readonly event: string; readonly context: string; readonly limit?: number }

/** The allow without a notice. */
export const ALLOW: HookAnswer = { kind: 'allow' }

/**
 * The line for stdout. A block has exactly `decision` and `reason`, because Codex 0.169.0 voids an answer with any further
 * key; only a host that shows notices gets one beside them.
 * If the host does not show notices, an allow is `{}`.
 */
export function formatAnswer(answer: HookAnswer, noticeShown: boolean): string {
  switch (answer.kind) {
    case 'block':
      return line({ decision: 'block', reason: clean(answer.reason), ...shown(answer.notice, noticeShown) })
    case 'context':
      return line({
        hookSpecificOutput: { hookEventName: answer.event, additionalContext: clean(answer.context, answer.limit) },
      })
    case 'allow':
      return line(shown(answer.notice, noticeShown))
  }
}

function shown(notice: string | undefined, noticeShown: boolean): { readonly systemMessage?: string } {
  return notice !== undefined && noticeShown ? { systemMessage: clean(notice) } : {}
}

function clean(text: string, limit = REASON_LIMIT): string {
  return cut(stripControl(text), limit)
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
