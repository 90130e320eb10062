import * as z from 'zod/mini'
import type { DocumentOf } from '../document.ts'
import { errorDetail } from '../error.ts'
import { task } from '../parts.ts'
import { RUN_DOCUMENT } from './run.ts'

const runs = z.strictObject({
  workflows: z.array(z.union([RUN_DOCUMENT, z.strictObject({ task, error: errorDetail })])),
})

/** `postflight workflow status --json`: one run, or every run. With `--watch`, a document whenever it changes. */
export const STATUS_DOCUMENT = z.union([RUN_DOCUMENT, runs])

export type StatusDocument = DocumentOf<typeof STATUS_DOCUMENT>

/** Every run of a project. */
export type RunsDocument = DocumentOf<typeof runs>
