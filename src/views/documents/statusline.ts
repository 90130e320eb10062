import * as z from 'zod/mini'
import type { DocumentOf } from './document.ts'
import { count, text } from './parts.ts'

/** `postflight statusline --json`. */
export const STATUS_LINE_DOCUMENT = z.strictObject({
  text: text('The line; empty if there is nothing to show.'),
  pending: count('The number of pending markers, those of other sessions included.'),
  waiting: count('The number of markers and runs that wait.'),
  running: count('The number of running workflows that do not wait.'),
  abandoned: count('The number of abandoned markers.'),
})

export type StatusLineDocument = DocumentOf<typeof STATUS_LINE_DOCUMENT>
