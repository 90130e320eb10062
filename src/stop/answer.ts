import { cut, stripControl } from '../kernel/text.ts'

/** One line of JSON each (docs/design.md, "Answers"). */

/** In characters. */
export const REASON_LIMIT = 4000

export type HookAnswer = { readonly kind: 'allow'; readonly notice?: string } | Block | Context

interface Block {
  readonly kind: 'block'
  readonly reason: string
  /** In one line, for a host that takes the whole reason as context. */
  readonly line?: string
  readonly notice?: string
}

interface Context {
  readonly kind: 'context'
  readonly event: string
  readonly context: string | undefined
  readonly limit?: number
  /** For the person; the agent gets it if the host shows no notices. */
  readonly notice?: string | undefined
}

/** `besideBlock`: the model gets a block's reason twice, its context once. `atTop`: outside `hookSpecificOutput`. */
type AnswerPlace = Readonly<Partial<Record<'refusesCall' | 'besideBlock' | 'atTop', boolean>>>

export const ALLOW: HookAnswer = { kind: 'allow' }

/**
 * Codex 0.169.0 voids a block with keys other than `decision` and `reason`, so only hosts that show notices get one.
 * `sequence`: for the user's terminal.
 */
export function formatAnswer(answer: HookAnswer, noticeShown: boolean, place: AnswerPlace = {}, sequence?: string) {
  const notice = answer.notice !== undefined && noticeShown && { systemMessage: clean(answer.notice) }
  const terminal = sequence !== undefined && { terminalSequence: sequence }
  return `${JSON.stringify({ ...ownPart(answer, noticeShown, place), ...notice, ...terminal })}\n`
}

function ownPart(answer: HookAnswer, noticeShown: boolean, place: AnswerPlace): object {
  if (answer.kind === 'allow') return {}
  if (answer.kind === 'block') return place.refusesCall === true ? refusal(answer.reason) : blocking(answer, place)
  const { event, limit, notice } = answer
  const text = noticeShown ? answer.context : [answer.context, notice].filter(Boolean).join('\n\n')
  return text === undefined ? {} : context(event, text, limit, place.atTop)
}

function blocking({ reason, line }: Block, place: AnswerPlace): object {
  return place.besideBlock === true && line !== undefined
    ? { decision: 'block', reason: clean(line), ...context('Stop', reason) }
    : { decision: 'block', reason: clean(reason) }
}

function refusal(reason: string): object {
  const denial = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: clean(reason) }
  return { hookSpecificOutput: denial }
}

function clean(text: string, limit = REASON_LIMIT): string {
  return cut(stripControl(text), limit)
}

function context(event: string, text: string, limit?: number, atTop = false): object {
  if (atTop) return { additionalContext: clean(text, limit) }
  return { hookSpecificOutput: { hookEventName: event, additionalContext: clean(text, limit) } }
}

/** Unknown values select the first form. */
export const NOTIFY_VARIABLE = 'POSTFLIGHT_NOTIFY'

const ESCAPE = '\u001b'
const BELL = '\u0007'

/** Each terminal supports only some of these. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  // The text must not begin with a digit.
  osc9: (text) => `${ESCAPE}]9;${text}${BELL}`,
  osc99: (text) => `${ESCAPE}]99;;${text}${ESCAPE}\\`,
  osc777: (text) => `${ESCAPE}]777;notify;postflight;${text}${BELL}`,
  bell: () => BELL,
}

export function terminalSequence(form: string | undefined, alerts: readonly string[]): string | undefined {
  if (form === undefined || form === '' || form === '0' || alerts.length === 0) return undefined
  const text = cut(stripControl(`postflight: ${alerts.join(' · ')}`).replace(/[\s;]+/g, ' '), 200)
  return (Object.hasOwn(FORMS, form) ? FORMS[form] : FORMS.osc9)?.(text)
}
