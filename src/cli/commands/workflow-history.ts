import * as z from 'zod/mini'
import { formatAge, toIso } from '../../kernel/time.ts'
import { phaseMs, visitsOf } from '../../run/machine/state.ts'
import { RUN_OUTCOMES, TRANSITION_EVENTS } from '../../run/machine/state-fields.ts'
import { readHistory, requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { historyLine } from '../../views/run-view.ts'
import { type Declaration, type Run, TASK } from '../command.ts'
import { requireRunFolder } from '../runs.ts'

export const declaration = {
  free: true,
  description: 'list every transition of a run',
  examples: ['workflow history 259', 'workflow history 259 --json'],
  declare: (command) => command.argument(...TASK),
} satisfies Declaration

export const document = () => {
  const entry = field.object({
    n: field.count('Its number, from 1.'),
    time: field.text('ISO 8601.'),
    event: field.oneOf(TRANSITION_EVENTS),
    phase: field.text('The phase that it happened in.'),
    visit: z.optional(field.count('The visit of that phase, from 1.')),
    step: z.optional(field.count('From 1.')),
    attempt: z.optional(field.count('From 1.')),
    outcome: z.optional(field.oneOf(RUN_OUTCOMES)),
    verdict: z.optional(field.text('The case that decided the way.')),
    detail: z.optional(field.text('Details in words.')),
  })
  return field.object({
    task: field.task,
    history: field.list(entry),
    durations: field.described(z.record(z.string(), z.int()), 'The time (ms) for which the run worked on each phase.'),
  })
}

export const run: Run<typeof declaration, typeof document> = (context, [task]) => {
  const folder = requireRunFolder(context, task)
  const state = requireState(folder)
  const entries = readHistory(folder, state)
  const entered = state.definition.phases.filter(({ id }) => visitsOf(state, id) > 0)
  const durations = entered.map(({ id }) => [id, phaseMs(state, id, context.nowMs)] as const)
  const width = Math.max(0, ...entries.map(({ phase }) => phase.length))
  const worked = durations.map(([id, ms]) => `worked on ${id}: ${formatAge(ms)}`)
  return {
    data: {
      task: folder.task,
      history: entries.map(({ n, timeMs, ...transition }) => ({ n, time: toIso(timeMs), ...transition })),
      durations: Object.fromEntries(durations),
    },
    lines: [...entries.map((entry) => historyLine(entry, width)), ...worked],
  }
}
