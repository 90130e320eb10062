import { stripControl } from '../../../kernel/text.ts'

/** Builds HTML that its values cannot break: every value is escaped. */

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = Html | string | number | false | undefined | readonly Html[]

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(
    parts.reduce((text, part, index) => text + textOf(values[index - 1]) + part.replace(/\s*\n\s*/g, ''), ''),
  )
}

function textOf(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  return typeof value === 'object' ? value.map(({ text }) => text).join('') : escaped(String(value))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return stripControl(text).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
