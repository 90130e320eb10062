import { hasDoneFile } from '../../done/done-file.ts'
import { MAIN_AGENT } from '../../hosts/host.ts'
import type { Occasion } from '../../hosts/occasion.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { type CountedPart, NOTHING_ARMED } from '../../stop/answer-stop.ts'

/**
 * The definition of done on OpenCode. Its code is loaded only if a root has a `specs/done.yaml`, and its search for changed
 * files lets the server do other work.
 */
export class DefinitionOfDone {
  /** The conversations whose user was informed, each with its root. */
  readonly #informed = new Set<string>()

  /** Gives a conversation its baseline. Returns what the person must know, once for each root. */
  async start(occasion: Occasion): Promise<readonly string[]> {
    const { session } = occasion.payload
    const roots = occasion.roots.filter((root) => hasDoneFile(root) && !this.#informed.has(`${session} ${root}`))
    if (roots.length === 0) return []
    for (const root of roots) this.#informed.add(`${session} ${root}`)
    const { startAllAsync } = await import('../../stop/done-part.ts')
    return startAllAsync(roots, occasion)
  }

  /** Makes or updates the marker of a main conversation, before its stop is judged. */
  async arm(occasion: Occasion): Promise<CountedPart> {
    const { payload } = occasion
    const roots = payload.agent === MAIN_AGENT ? occasion.roots.filter(hasDoneFile) : []
    if (roots.length === 0) return NOTHING_ARMED
    const hasRun = (): boolean =>
      findActiveRuns(occasion.roots).runs.some(({ state }) => state.active && state.hostSession === payload.session)
    const { armDone } = await import('../../stop/done-part.ts')
    return armDone(roots, occasion, hasRun)
  }
}
