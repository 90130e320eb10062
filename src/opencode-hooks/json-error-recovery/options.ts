import * as z from 'zod/mini'

/** Options of the recovery from broken JSON. */
export interface JsonErrorRecoveryOptions {
  /** Further tools whose output is never examined: it may mention JSON errors without being one. */
  readonly except?: readonly string[] | undefined
}

export const JSON_ERROR_RECOVERY: z.ZodMiniType<JsonErrorRecoveryOptions> = z.strictObject({
  except: z.optional(z.array(z.string())),
})
