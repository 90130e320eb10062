import path from 'node:path'
import { retryWhileLocked, withoutSleep } from '../../disk/lock.ts'
import { hasDoneFile } from '../../done/trust-store.ts'
import { PLAN_AGENT } from '../../hosts/opencode/conversation.ts'
import { MAIN_AGENT, type Occasion } from '../../hosts/payload.ts'
import type { CommandForm } from '../../kernel/command-line.ts'
import { type Environment, known } from '../../kernel/values.ts'
import type { Reporter } from '../../opencode-hooks/factory.ts'
import { appendRecorded } from '../../project/journal.ts'
import { notInJournal, type Recorded } from '../../project/journal-entry.ts'
import { findRoots, startFolders } from '../../project/root.ts'
import { taskWord } from '../../project/task-folder.ts'
import { isSessionFolder } from '../../project/task-folders.ts'
import { findActiveRuns, updateRunWait } from '../../run/store/active-runs.ts'
import {
  type AnsweredStop,
  answerStop,
  type DonePart,
  doneFor,
  endStop,
  NO_RUNS,
  predictStop,
} from '../../stop/answer-stop.ts'
import { updateWait } from '../../stop/commit.ts'
import { findMarkers } from '../../stop/observe-stop.ts'
import { waitVerdict } from '../../stop/rules.ts'
import { ALERT_TEXT } from '../../stop/stop-messages.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { IdleRuns } from '../workflow/idle-runs.ts'

/** Applies the hook's rules (docs/design.md, "Stops"). */

interface GuardLocation {
  readonly folder: string
  readonly environment: Environment
  readonly findForm: () => CommandForm
  readonly findsMarkers: boolean
  readonly findsRuns: boolean
}

export function createGuard(location: GuardLocation, sessions: Sessions, reporter: Reporter, inspectRuns: IdleRuns) {
  /** Sessions and roots whose definition of done was loaded. */
  const informed = new Set<string>()
  /** Markers with a notice to the user that they did not block. */
  const notified = new Set<string>()

  /** A server's own folder does not belong to the project. */
  function rootsFor(root: string | undefined): readonly string[] {
    const folders = root === undefined ? [] : sessions.foldersOf(root)
    return findRoots([...starts(), ...folders.map((folder) => ({ from: 'shell', path: path.resolve(folder) }))])
  }

  function starts() {
    const { folder, environment } = location
    return startFolders({ environment: { POSTFLIGHT_ROOT: environment.POSTFLIGHT_ROOT }, cwd: folder })
  }

  async function begins(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    const occasion = occasionOf(agent, 0)
    const roots = occasion.roots.filter((root) => hasDoneFile(root) && !informed.has(`${agent.root} ${root}`))
    if (roots.length === 0) return
    for (const root of roots) informed.add(`${agent.root} ${root}`)
    const { startAll } = await loadDone()
    for (const notice of await startAll(roots, occasion)) reporter.notice(notice)
  }

  function doneAt(occasion: Occasion): Promise<DonePart | undefined> {
    return doneFor(occasion, loadDone, () => findActiveRuns(occasion.roots, occasion).runs.length > 0)
  }

  /** Counts nothing. */
  async function preview(agent: Agent): Promise<string | undefined> {
    const occasion = occasionOf(agent, 0)
    const armed = await doneAt(occasion)
    if (armed !== undefined) tell(armed, occasion)
    return reasonOf(predictStop(occasion, (await inspect(agent, occasion)).stop, armed))
  }

  /** Counts a block on disk. */
  async function stop(agent: Agent, runningSubagents: number) {
    const occasion = occasionOf(agent, runningSubagents)
    const driveRuns = async (isBlocked: boolean) => {
      if (isBlocked || runningSubagents > 0) return NO_RUNS
      try {
        const idle = await inspect(agent, occasion)
        await retryWhileLocked(idle.note)
        return idle.stop
      } catch (error) {
        reporter.fault('runs', error)
        return NO_RUNS
      }
    }
    const answered = await answerStop(occasion, driveRuns, await doneAt(occasion))
    tell(answered, occasion)
    return { reason: reasonOf(answered), notices: answered.notices }
  }

  /** The agent can no longer be blocked: the turn failed, or OpenCode called no hook. */
  async function stopped(agent: Agent): Promise<void> {
    const occasion = occasionOf(agent, 0)
    const { stop: ended, unblocked } = await endStop(occasion)
    tell(ended, occasion)
    for (const { identity, folder } of unblocked) {
      // After an error OpenCode sends the idle event twice (1.18.34).
      if (notified.has(identity.file)) continue
      notified.add(identity.file)
      const what = ALERT_TEXT.abandoned(isSessionFolder(folder) ? undefined : taskWord(folder))
      reporter.notice(
        `postflight-guard: ${what} and could not be blocked. The marker is still pending: \`postflight inspect\` shows it.`,
      )
    }
  }

  /** As `PostToolUse` elsewhere (docs/design.md, "Waiting"): a wait of an interrupted turn must allow no later stop. */
  async function commandEnded(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    const occasion = occasionOf(agent, 0)
    if (occasion.payload.prompt === undefined) return
    const recorded: Recorded[] = []
    for (const read of findMarkers(occasion.roots).markers) {
      if (read.kind !== 'marker' || (waitVerdict(read.marker, occasion)?.kind ?? 'stays') === 'stays') continue
      recorded.push(...(await ifPossible(() => updateWait(read.folder, occasion, 'stop'))))
    }
    const { runs } = await retryWhileLocked(() => findActiveRuns(runRoots(agent), occasion))
    for (const { folder, state } of runs) {
      if (state.wait !== undefined) recorded.push(...(await ifPossible(() => updateRunWait(folder, occasion, 'stop'))))
    }
    record(recorded, occasion)
  }

  function runRoots(agent: Agent): readonly string[] {
    return location.findsRuns ? rootsFor(agent.root) : []
  }

  function inspect(agent: Agent, occasion: Occasion) {
    return retryWhileLocked(() => inspectRuns(occasion, runRoots(agent)))
  }

  function occasionOf(agent: Agent, runningSubagents: number): Occasion {
    const { prompt, info } = sessions.of(agent.root)
    const nowMs = Date.now()
    return {
      payload: known({
        event: agent.agent === MAIN_AGENT ? 'Stop' : 'SubagentStop',
        session: agent.root,
        agent: agent.agent,
        wakeUps: runningSubagents,
        isPlanning: agent.type === PLAN_AGENT || undefined,
        shells: [],
        prompt,
        agentType: agent.type,
      }),
      environment: location.environment,
      roots: location.findsMarkers ? rootsFor(agent.root) : [],
      reader: { foundRoot: findRoots(starts())[0], findForm: location.findForm },
      nowMs,
      startMs: nowMs,
      sessionBornMs: info?.bornMs,
      deadline: undefined,
      patiently: retryWhileLocked,
    }
  }

  function tell({ recorded, notices }: Pick<DonePart, 'recorded' | 'notices'>, occasion: Occasion): void {
    record(recorded, occasion)
    for (const notice of notices) reporter.notice(notice)
  }

  function record(recorded: readonly Recorded[], { nowMs }: Occasion): void {
    const problems = withoutSleep(() => appendRecorded(recorded, nowMs))
    for (const problem of problems) reporter.notice(notInJournal(problem, 'postflight-guard'))
  }

  return { rootsFor, begins, preview, stop, stopped, commandEnded }
}

export type Guard = ReturnType<typeof createGuard>

function reasonOf({ answer }: AnsweredStop): string | undefined {
  return answer.kind === 'block' ? answer.reason : undefined
}

/** On failure, the stop makes the change or reports why not. */
function ifPossible(change: () => readonly Recorded[]): Promise<readonly Recorded[]> {
  return retryWhileLocked(change).catch(() => [])
}

/** Only if a root has a `specs/done.yaml`. */
function loadDone() {
  return import('../../stop/done-part.ts')
}
