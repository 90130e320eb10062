import { stripControl } from '../kernel/text.ts'
import { attempt, isJsonObject } from '../kernel/values.ts'
import { type CommandContext, recordInJournal } from '../project/command-context.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { failureWords, seconds, shortCommand } from './check-messages.ts'
import { type CheckDecision, failedField, type Marker, sameChecks } from './marker.ts'
import { changeMarker } from './marker-store.ts'
import { failedOf, type RunCheck, whileChecking } from './run-checks.ts'
import { markerKey } from './stored-marker.ts'

/** Loaded only if a marker has checks. */

/** The marker keeps a failure, for the next block's reason. */
export async function prove(
  context: CommandContext,
  folder: TaskFolder,
  marker: Marker | undefined,
  { commands, areForeign }: CheckDecision,
  limitMs: number,
) {
  if (areForeign) {
    for (const command of commands) context.note(`postflight: running the check: ${stripControl(command)}`)
  }
  const run = await whileChecking(folder, { limitMs, survivesSignals: true }, (runAll) => runAll(commands))
  if (run.kind === 'busy') return run
  const done = run.result
  const failed = failedOf(done)
  if (failed !== undefined) {
    const how = `${failureWords(failed.failure)}; ${seconds(failed.durationMs)}`
    recordInJournal(context, folder, {
      event: 'check',
      markerId: marker?.id,
      hostSession: context.session,
      detail: `failed: ${shortCommand(failed.run)} (${how})`,
    })
  }
  if (marker !== undefined) noteResults(folder, marker, done)
  return { kind: 'done' as const, done, failed }
}

/** Never throws: the results are printed anyway. */
function noteResults(folder: TaskFolder, before: Marker, done: readonly RunCheck[]): void {
  const known = new Map(done.filter(({ failure }) => failure?.kind !== 'interrupted').map((one) => [one.run, one]))
  const isNews = before.checks.some(({ run, failed }) => known.get(run)?.failure !== undefined || failed !== undefined)
  if (!isNews) return
  const plan = (present: Marker) => {
    if (markerKey(before) !== markerKey(present) || !sameChecks(before.checks, present.checks)) return undefined
    const items = Array.isArray(present.fields?.checks) ? present.fields.checks : []
    return { fields: { checks: items.map((item: unknown) => withResult(item, known)) } }
  }
  attempt(() => changeMarker(folder, plan))
}

function withResult(item: unknown, known: ReadonlyMap<string, RunCheck>): unknown {
  if (!isJsonObject(item)) return item
  const result = known.get(String(item.run))
  if (result === undefined) return item
  const { failed: _, ...rest } = item
  const { failure, output } = result
  if (failure === undefined || failure.kind === 'interrupted') return rest
  return { ...rest, failed: failedField({ failure, output }) }
}
