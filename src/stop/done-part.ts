import { errorText } from '../disk/file-facts.ts'
import { armAtStop, isJudged, searchFor, startDone } from '../done/arm.ts'
import { doneNotJudged } from '../done/done-rules.ts'
import { askedAt, countAsking, promptOf } from '../done/done-state.ts'
import { readTrusted } from '../done/trust-store.ts'
import type { Occasion } from '../hosts/payload.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { isSessionFolder } from '../project/task-folders.ts'
import type { DonePart } from './answer-stop.ts'
import type { CommittedStop } from './commit.ts'
import { blocks, type StopOutcome } from './plan.ts'

/** Arms nothing while a run of the session is active (`hasRun`). */
export async function doneAtStop(roots: readonly string[], stop: Occasion, hasRun: () => boolean): Promise<DonePart> {
  const isAsked = isJudged(stop.payload)
  const recorded: Recorded[] = []
  const notices: string[] = []
  let isHeldByRun = false
  const arm = async (): Promise<boolean> => {
    isHeldByRun = isAsked && (await stop.patiently(hasRun))
    if (!isAsked || isHeldByRun) return false
    for (const root of roots) {
      try {
        const search = await searchFor(root, stop)
        const armed = await stop.patiently(() => armAtStop(root, stop, search))
        recorded.push(...armed.recorded)
        notices.push(...armed.notices)
      } catch (error) {
        notices.push(doneNotJudged(root, errorText(error), true))
      }
    }
    return true
  }
  await arm()
  return {
    judges: judgesAt(roots, stop, () => isHeldByRun),
    count: (committed) => countForPrompt(committed, stop),
    recorded,
    notices,
    armAfterRuns: async () => isHeldByRun && arm(),
  }
}

/** Without a trusted copy no check can run, so a pending marker blocks nothing either. */
export function judgesAt(roots: readonly string[], stop: Occasion, isHeldByRun: () => boolean): DonePart['judges'] {
  return (root) =>
    isJudged(stop.payload) && !isHeldByRun() && roots.includes(root) && readTrusted(root, stop) !== undefined
}

function countForPrompt(committed: CommittedStop, { payload, roots }: Occasion): CommittedStop {
  // A stop that is blocked in several roots counts once.
  let asked: number | undefined
  const outcomes = committed.outcomes.map((outcome): StopOutcome => {
    const { folder } = outcome
    if (!blocks(outcome) || !isSessionFolder(folder)) return outcome
    try {
      const prompt = promptOf(payload, folder)
      asked ??= askedAt(folder, prompt, roots)
      return countAsking(folder, prompt, asked) ? outcome : { kind: 'let-go', folder }
    } catch (error) {
      return { kind: 'unreadable', folder, detail: errorText(error) }
    }
  })
  return { ...committed, outcomes }
}

/** Never rejects. */
export async function startAll(roots: readonly string[], occasion: Occasion): Promise<readonly string[]> {
  const notified: string[] = []
  for (const root of roots) {
    const failed = (error: unknown): string[] => [doneNotJudged(root, errorText(error), false)]
    notified.push(...(await startDone(root, occasion).catch(failed)))
  }
  return notified
}
