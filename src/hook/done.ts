import { errorText } from '../disk/file-facts.ts'
import { armAtStop, isJudged } from '../done/arm.ts'
import { doneNotJudged } from '../done/done-messages.ts'
import { isSessionFolder } from '../done/folder-name.ts'
import { claimAsking, promptOf } from '../done/session-folder.ts'
import { startDone } from '../done/start.ts'
import type { Occasion } from '../hosts/occasion.ts'
import { homeFolder } from '../project/home-folder.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { runFileNames } from '../run/store/run-file.ts'
import type { DonePart } from '../stop/answer-stop.ts'

/** The definition of done in the hook: a bundle of its own, loaded only where there is a `specs/done.yaml`. */

/** The definition of done at a stop. While a run of the session is active, nothing is armed. */
export function doneAtStop(
  roots: readonly string[],
  occasion: Occasion,
  loadDriver: () => Pick<typeof import('./workflow.ts'), 'hasRunOf'>,
): DonePart {
  const { payload } = occasion
  const hasRun = (): boolean => {
    const busy = occasion.roots.filter((root) => runFileNames(root).length > 0)
    return busy.length > 0 && loadDriver().hasRunOf(busy, payload.session)
  }
  const recorded: Recorded[] = []
  const notices: string[] = []
  const person = personAt(occasion)
  let waitsForRun = false
  const armAll = (): void => {
    for (const root of roots) {
      try {
        const armed = armAtStop(root, occasion, person)
        recorded.push(...armed.recorded)
        notices.push(...armed.notices)
      } catch (error) {
        notices.push(doneNotJudged(root, errorText(error)))
      }
    }
  }
  return {
    recorded,
    notices,
    isOwn: isSessionFolder,
    arm() {
      if (!isJudged(payload)) return
      waitsForRun = hasRun()
      if (!waitsForRun) armAll()
    },
    armAfterRuns() {
      if (!waitsForRun || hasRun()) return false
      armAll()
      return true
    },
    // A marker does not block if the prompt's blocks are used up, whatever its own count says.
    count: (outcomes) =>
      outcomes.map((outcome) => {
        if (outcome.kind !== 'blocked' || !isSessionFolder(outcome.stored.folder)) return outcome
        const { folder } = outcome.stored
        try {
          return claimAsking(folder, promptOf(payload)) ? outcome : { kind: 'let-go', folder }
        } catch (error) {
          return { kind: 'failed', folder, detail: errorText(error) }
        }
      }),
  }
}

/** What the person must know when a session starts. Never throws. */
export function startAll(roots: readonly string[], occasion: Occasion): readonly string[] {
  return roots.flatMap((root) => {
    try {
      return startDone(root, occasion, personAt(occasion))
    } catch (error) {
      return [doneNotJudged(root, errorText(error))]
    }
  })
}

function personAt({ environment }: Occasion) {
  return { environment, findHome: () => homeFolder(environment) }
}
