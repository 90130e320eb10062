import { cut, stripControl } from '../kernel/text.ts'

/**
 * Notifications of the user's terminal, as escape sequences (docs/views.md, "Notifications"). The host writes them: a hook has
 * no terminal of its own.
 */

/** The variable that asks for notifications. Its value is a form; any other text stands for the first form. */
export const NOTIFY_VARIABLE = 'POSTFLIGHT_NOTIFY'

const ESCAPE = '\u001b'
const BELL = '\u0007'

/** The sequence of each form. Terminals differ in which they know. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  osc9: (text) => `${ESCAPE}]9;${text}${BELL}`,
  osc99: (text) => `${ESCAPE}]99;;${text}${ESCAPE}\\`,
  osc777: (text) => `${ESCAPE}]777;notify;postflight;${text}${BELL}`,
  bell: () => BELL,
}

/** The longest notification, in characters. */
const TEXT_LIMIT = 200

/** The sequence that notifies of the alerts; undefined if there are none, or if notifications were not asked for. */
export function terminalSequence(form: string | undefined, alerts: readonly string[]): string | undefined {
  if (form === undefined || form === '' || form === '0' || alerts.length === 0) return undefined
  const text = cut(stripControl(`postflight: ${alerts.join(' · ')}`).replace(/[\s;]+/g, ' '), TEXT_LIMIT)
  const sequence = Object.hasOwn(FORMS, form) ? FORMS[form] : FORMS.osc9
  return sequence?.(text)
}
