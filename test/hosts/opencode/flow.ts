/** Helpers for `examples/four-phases.yaml` on OpenCode: each phase in a child session. */

import { FOUR_PHASES, placeOf, WORK } from '../four-phases.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, call, say } from './agents.ts'
import { type GuardedOptions, type GuardedProject, guardedProject } from './guarded.ts'

export const PLACES = Object.keys(WORK)

export function runWorkflow(task: string, definition = ''): Reply {
  return call('workflow_run', { task, definition })
}

export function promptOf(turn: Turn): string | undefined {
  return turn.userTexts.findLast((text) => placeOf(text) !== undefined)
}

/**
 * The script of all sessions: phases do their work, and the conversation itself says its lines. OpenCode's child sessions
 * begin with their prompts, so all of them are the model's actor `main`. `instead` may replace the work of a place.
 */
export function worker(
  lines: readonly Reply[],
  instead: (place: string, turn: Turn) => Reply | undefined | Promise<Reply | undefined> = () => undefined,
): Script {
  const left = [...lines]
  return async (turn) => {
    const prompt = promptOf(turn)
    if (prompt === undefined) return left.shift()
    const place = placeOf(prompt) ?? ''
    const other = await instead(place, turn)
    return other ?? (turn.lastToolResult === undefined ? bash(WORK[place] ?? 'false') : say('Done.'))
  }
}

/** The places that were prompted, in order, as the model saw them first. */
export function placesIn(turns: readonly Turn[]): string[] {
  return turns.flatMap((turn) => (turn.lastToolResult === undefined ? (placeOf(turn.lastUserText) ?? []) : []))
}

export function mainTurns(turns: readonly Turn[]): Turn[] {
  return turns.filter((turn) => promptOf(turn) === undefined)
}

export function projectWithFlow(options: GuardedOptions = {}): GuardedProject {
  const guarded = guardedProject(options)
  guarded.project.write('flow.yaml', FOUR_PHASES)
  return guarded
}

export function statusOf(guarded: GuardedProject): { outcome: string | null; active: boolean } {
  return JSON.parse(guarded.postflight('workflow', 'status', '7', '--json').stdout)
}
