import * as z from 'zod/mini'
import type { DocumentOf } from '../document.ts'
import { text } from '../parts.ts'

/** `postflight workflow graph --json`. */
export const GRAPH_DOCUMENT = z.strictObject({ mermaid: text('The diagram, as Mermaid reads it.') })

export type GraphDocument = DocumentOf<typeof GRAPH_DOCUMENT>
