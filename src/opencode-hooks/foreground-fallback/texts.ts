import { oneLine } from '../../kernel/text.ts'

/** The foreground fallback's sentences for the user. */

const named = (model: string): string => oneLine(model, 120)

const PRODUCT = 'postflight-guard'

export const FALLBACK_TEXT = {
  switched: (from: string, to: string): string =>
    `${PRODUCT}: ${named(from)} is rate-limited, so the last message was sent again with ${named(to)}.`,
  replaced: (from: string, to: string): string =>
    `${PRODUCT}: ${named(from)} is rate-limited, so ${named(to)} answers in its place.`,
  unknown: (model: string): string =>
    `${PRODUCT}: OpenCode has no model ${named(model)}, so the fallback leaves it out.`,
  exhausted: (tried: readonly string[]): string =>
    `${PRODUCT}: no model of the chain is left (${tried.map(named).join(', ')}). OpenCode repeats the request a few times more.`,
  /** `left`: the models of the chain that were not tried. */
  cannotSwitch: (left: readonly string[]): string =>
    `${PRODUCT}: the model is rate-limited, and \`opencode run\` can switch only to a model of the same provider, which your configuration describes (npm or options.apiKey). Not tried: ${left.map(named).join(', ')}.`,
} as const
