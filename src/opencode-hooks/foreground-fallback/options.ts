import * as z from 'zod/mini'
import { parseModel } from '../../hosts/opencode/catalogue.ts'

/** Options of the foreground fallback. */
export interface ForegroundFallbackOptions {
  /** For each agent the models, `provider/model`, that are tried in turn when its model is rate-limited. */
  readonly chains: Readonly<Record<string, readonly string[]>>
  /** Further regular expressions, case-insensitive, by which an error is known to be a rate limit. */
  readonly patterns?: readonly string[] | undefined
}

const model = z.string().check(z.refine((name) => parseModel(name) !== undefined, 'not "provider/model"'))

const pattern = z.string().check(z.refine(isRegularExpression, 'not a regular expression'))

export const FOREGROUND_FALLBACK: z.ZodMiniType<ForegroundFallbackOptions> = z.strictObject({
  chains: z.record(z.string(), z.array(model).check(z.minLength(1))),
  patterns: z.optional(z.array(pattern)),
})

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}
