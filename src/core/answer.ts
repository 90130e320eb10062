import { cut, stripControl } from './text.ts'

/** The hook's answers: one line of JSON each (DESIGN section 5). */

/** A reason or notice is cut at this many characters. */
export const REASON_LIMIT = 4000

/** What the hook decided, before it is printed. */
export type HookAnswer =
  | { readonly kind: 'allow'; readonly notice?: string }
  | { readonly kind: 'block'; readonly reason: string }
  | { readonly kind: 'context'; readonly event: string; readonly context: string }

/** The clean allow. */
export const ALLOW: HookAnswer = { kind: 'allow' }

/**
 * The line for stdout. Block is exactly `decision` and `reason`: Codex 0.169.0 voids an answer with any further key.
 * A notice is shown only where the host shows it; elsewhere the allow is `{}`.
 */
export function formatAnswer(answer: HookAnswer, noticeShown: boolean): string {
  switch (answer.kind) {
    case 'block':
      return line({ decision: 'block', reason: clean(answer.reason) })
    case 'context':
      return line({
        hookSpecificOutput: { hookEventName: answer.event, additionalContext: clean(answer.context) },
      })
    case 'allow':
      return line(answer.notice !== undefined && noticeShown ? { systemMessage: clean(answer.notice) } : {})
  }
}

function clean(text: string): string {
  return cut(stripControl(text), REASON_LIMIT)
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
