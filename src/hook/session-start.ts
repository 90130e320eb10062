import { ALLOW } from '../core/answer.ts'
import { findRecovery } from '../io/recovery.ts'
import { type HookContext, type HookResult, rootOption } from './context.ts'

/** A session starts: it is told of the postflights that nobody finished. */
export function answerSessionStart(context: HookContext): HookResult {
  const { roots, payload, nowMs, deadline } = context
  const { text, complaints } = findRecovery({
    roots,
    session: payload.session,
    nowMs,
    deadline,
    rootOption: (root) => rootOption(context, root),
  })
  return {
    answer: text === undefined ? ALLOW : { kind: 'context', event: payload.event, context: text },
    recorded: [],
    complaints,
  }
}
