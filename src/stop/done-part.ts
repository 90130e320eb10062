import { errorText } from '../disk/file-facts.ts'
import { retryWhileLocked } from '../disk/lock.ts'
import { type Armed, armAtStop, isJudged, isStarted, startDone } from '../done/arm.ts'
import { doneNotJudged } from '../done/done-rules.ts'
import { askedAt, countAsking, promptOf } from '../done/done-state.ts'
import { preparedSearch } from '../done/search.ts'
import { readTrusted } from '../done/trust-store.ts'
import type { Occasion } from '../hosts/host.ts'
import { homeFolder } from '../project/home-folder.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { isSessionFolder } from '../project/task-folders.ts'
import type { DonePart } from './answer-stop.ts'
import type { CommittedStop } from './commit.ts'
import type { StopOutcome } from './plan.ts'

/** Arms nothing while a run of the session is active (`hasRun`). */
export function doneAtStop(roots: readonly string[], occasion: Occasion, hasRun: () => boolean): DonePart {
  const part = emptyPart(roots, occasion)
  const arm = (): boolean => {
    part.hasRun = part.isAsked && hasRun()
    if (!part.isAsked || part.hasRun) return false
    for (const root of roots) {
      try {
        add(part, armAtStop(root, occasion, part.person))
      } catch (error) {
        part.notices.push(doneNotJudged(root, errorText(error), true))
      }
    }
    return true
  }
  arm()
  return { ...part, armAfterRuns: () => part.hasRun && arm() }
}

/** `doneAtStop` that does not block the event loop. */
export async function doneAtStopAsync(
  roots: readonly string[],
  occasion: Occasion,
  hasRun: () => boolean,
): Promise<DonePart<Promise<boolean>>> {
  const part = emptyPart(roots, occasion)
  const arm = async (): Promise<boolean> => {
    part.hasRun = part.isAsked && (await retryWhileLocked(hasRun))
    if (!part.isAsked || part.hasRun) return false
    for (const root of roots) {
      try {
        const copy = readTrusted(root, part.person)
        if (copy === undefined) continue
        const search = await preparedSearch(root, copy.rules)
        add(part, await retryWhileLocked(() => armAtStop(root, occasion, part.person, search)))
      } catch (error) {
        part.notices.push(doneNotJudged(root, errorText(error), true))
      }
    }
    return true
  }
  await arm()
  return { ...part, armAfterRuns: async () => part.hasRun && arm() }
}

function emptyPart(roots: readonly string[], occasion: Occasion) {
  const person = personAt(occasion)
  const part = {
    person,
    isAsked: isJudged(occasion.payload),
    hasRun: false,
    // Without a trusted copy no check can run, so a pending marker blocks nothing either.
    judges: (root: string): boolean =>
      part.isAsked && !part.hasRun && roots.includes(root) && readTrusted(root, person) !== undefined,
    recorded: [] as Recorded[],
    notices: [] as string[],
    count: (committed: CommittedStop): CommittedStop => countForPrompt(committed, occasion),
  }
  return part
}

function add(part: ReturnType<typeof emptyPart>, { recorded, notices }: Armed): void {
  part.recorded.push(...recorded)
  part.notices.push(...notices)
}

/** Each prompt has its own limit of blocks. */
function countForPrompt(committed: CommittedStop, { payload, roots }: Occasion): CommittedStop {
  const prompt = promptOf(payload)
  // A stop that is blocked in several roots counts once.
  let asked: number | undefined
  const outcomes = committed.outcomes.map((outcome): StopOutcome => {
    if (outcome.kind !== 'blocked' || !isSessionFolder(outcome.stored.folder)) return outcome
    const { folder } = outcome.stored
    try {
      asked ??= askedAt(folder, prompt, roots)
      return countAsking(folder, prompt, asked) ? outcome : { kind: 'let-go', folder }
    } catch (error) {
      return { kind: 'failed', folder, detail: errorText(error) }
    }
  })
  return { ...committed, outcomes }
}

/** Never throws. */
export function startAll(roots: readonly string[], occasion: Occasion): readonly string[] {
  return roots.flatMap((root) => {
    try {
      return startDone(root, occasion, personAt(occasion))
    } catch (error) {
      return [doneNotJudged(root, errorText(error), false)]
    }
  })
}

export async function startAllAsync(roots: readonly string[], occasion: Occasion): Promise<readonly string[]> {
  const person = personAt(occasion)
  const notified: string[] = []
  for (const root of roots) {
    try {
      const copy = isStarted(root, occasion) ? undefined : readTrusted(root, person)
      const search = copy && (await preparedSearch(root, copy.rules))
      notified.push(...startDone(root, occasion, person, search))
    } catch (error) {
      notified.push(doneNotJudged(root, errorText(error), false))
    }
  }
  return notified
}

function personAt({ environment }: Occasion) {
  return { environment, findHome: () => homeFolder(environment) }
}
