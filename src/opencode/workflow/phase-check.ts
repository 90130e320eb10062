import { CHECK_LIMIT_MS } from '../../marker/run-checks.ts'
import { homeFolder } from '../../project/home-folder.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { checkStanding, runPhaseCheck } from '../../run/store/phase-check.ts'
import { requireState } from '../../run/store/state-store.ts'
import { requireTrust, type Truster } from '../../run/store/trust.ts'
import { record } from './turn.ts'

/** Runs the checks of phases for the driver, as child processes: the server goes on meanwhile. */

/** The user of this server, and the session that drives the run. */
export function trusterOf(session: string): Truster {
  return { environment: process.env, findHome: homeFolder, session }
}

/** The time (ms) between two looks at a check that another process runs. */
const POLL_MS = 500

/**
 * Runs the check of the run's current phase if it is due, so that the next turn finds its receipt. If the agent is
 * already running it, this waits for its end.
 * @throws {PostflightError} `commands-untrusted`, `shell-missing`, `check-files`.
 */
export async function checkPhase(folder: TaskFolder, session: string, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    const state = requireState(folder)
    if (state.hostSession !== session || checkStanding(folder, state).kind !== 'due') return
    requireTrust(folder, state, trusterOf(session))
    const place = { limitMs: CHECK_LIMIT_MS, obeysSignals: false, signal }
    const done = await runPhaseCheck(folder, state, place)
    if (done.kind === 'ran') record(folder, done.entry)
    if (done.kind !== 'busy' || signal?.aborted === true) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
