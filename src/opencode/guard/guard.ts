import path from 'node:path'
import { retryWhileLocked, withoutSleep } from '../../disk/lock.ts'
import { hasDoneFile } from '../../done/trust-store.ts'
import { MAIN_AGENT, type Occasion } from '../../hosts/host.ts'
import type { CommandForm } from '../../kernel/command-line.ts'
import type { Environment } from '../../kernel/values.ts'
import type { Reporter } from '../../opencode-hooks/factory.ts'
import { appendRecorded } from '../../project/journal.ts'
import { notInJournal, type Recorded } from '../../project/journal-entry.ts'
import { findRoots, startFolders } from '../../project/root.ts'
import { taskWord } from '../../project/task-folder.ts'
import { isSessionFolder } from '../../project/task-folders.ts'
import { findActiveRuns, hasRunOf } from '../../run/store/active-runs.ts'
import { updateRunWait } from '../../run/store/run-wait.ts'
import {
  type AnsweredStop,
  answerStop,
  type DonePart,
  endStop,
  NO_RUNS,
  predictStop,
  type StopOfRuns,
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

/** OpenCode's own agent that only plans (1.18.34). */
const PLAN_AGENT = 'plan'

export class Guard {
  readonly #location: GuardLocation
  readonly #sessions: Sessions
  readonly #reporter: Reporter
  readonly #runs: IdleRuns
  readonly #done = new DefinitionOfDone()
  /** Markers with a notice to the user that they did not block. */
  readonly #notified = new Set<string>()

  constructor(location: GuardLocation, sessions: Sessions, reporter: Reporter, runs: IdleRuns) {
    this.#location = location
    this.#sessions = sessions
    this.#reporter = reporter
    this.#runs = runs
  }

  /** A server's own folder does not belong to the project. */
  rootsFor(root: string | undefined): readonly string[] {
    const folders = root === undefined ? [] : this.#sessions.foldersOf(root)
    return findRoots([...this.#starts(), ...folders.map((folder) => ({ from: 'shell', path: path.resolve(folder) }))])
  }

  #starts() {
    const { folder, environment } = this.#location
    return startFolders({ environment: { POSTFLIGHT_ROOT: environment.POSTFLIGHT_ROOT }, cwd: folder })
  }

  async begins(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    for (const notice of await this.#done.start(this.#occasionOf(agent, 0))) this.#reporter.notice(notice)
  }

  /** Counts nothing. */
  async preview(agent: Agent): Promise<string | undefined> {
    const occasion = this.#occasionOf(agent, 0)
    const armed = await this.#done.arm(occasion)
    if (armed !== undefined) this.#tell(armed, occasion)
    return reasonOf(predictStop(occasion, (await this.#inspect(agent, occasion)).stop, armed))
  }

  /** Counts a block on disk. */
  async stop(agent: Agent, runningSubagents: number) {
    const occasion = this.#occasionOf(agent, runningSubagents)
    const driveRuns = async (isBlocked: boolean): Promise<StopOfRuns> => {
      if (isBlocked || runningSubagents > 0) return NO_RUNS
      try {
        const idle = await this.#inspect(agent, occasion)
        await retryWhileLocked(idle.note)
        return idle.stop
      } catch (error) {
        this.#reporter.fault('runs', error)
        return NO_RUNS
      }
    }
    const stop = await answerStop(occasion, driveRuns, await this.#done.arm(occasion))
    this.#tell(stop, occasion)
    return { reason: reasonOf(stop), notices: stop.notices }
  }

  /** The agent can no longer be blocked: the turn failed, or OpenCode called no hook. */
  async stopped(agent: Agent): Promise<void> {
    const occasion = this.#occasionOf(agent, 0)
    const { stop, unblocked } = await endStop(occasion)
    this.#tell(stop, occasion)
    for (const { stored } of unblocked) {
      // After an error OpenCode sends the idle event twice (1.18.34).
      if (this.#notified.has(stored.identity.file)) continue
      this.#notified.add(stored.identity.file)
      const stopped = ALERT_TEXT.abandoned(isSessionFolder(stored.folder) ? undefined : taskWord(stored.folder))
      this.#reporter.notice(
        `postflight-guard: ${stopped} and could not be blocked. The marker is still pending: \`postflight inspect\` shows it.`,
      )
    }
  }

  async commandEnded(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    const occasion = this.#occasionOf(agent, 0)
    this.#record(await updateWaits(occasion, this.#runRoots(agent)), occasion)
  }

  #runRoots(agent: Agent): readonly string[] {
    return this.#location.findsRuns ? this.rootsFor(agent.root) : []
  }

  #inspect(agent: Agent, occasion: Occasion) {
    return retryWhileLocked(() => this.#runs.inspect(occasion, this.#runRoots(agent)))
  }

  #occasionOf(agent: Agent, runningSubagents: number): Occasion {
    const prompt = this.#sessions.promptOf(agent.root)
    const nowMs = Date.now()
    return {
      payload: {
        event: agent.agent === MAIN_AGENT ? 'Stop' : 'SubagentStop',
        session: agent.root,
        agent: agent.agent,
        wakeUps: runningSubagents,
        isPlanning: agent.type === PLAN_AGENT,
        shells: [],
        ...(prompt !== undefined && { prompt }),
        ...(agent.type !== undefined && { agentType: agent.type }),
      },
      environment: this.#location.environment,
      roots: this.#location.findsMarkers ? this.rootsFor(agent.root) : [],
      reader: { foundRoot: findRoots(this.#starts())[0], findForm: this.#location.findForm },
      nowMs,
      startMs: nowMs,
      sessionBornMs: this.#sessions.bornMs(agent.root),
      deadline: undefined,
      patiently: retryWhileLocked,
    }
  }

  #tell({ recorded, notices }: Pick<AnsweredStop, 'recorded' | 'notices'>, occasion: Occasion): void {
    this.#record(recorded, occasion)
    for (const notice of notices) this.#reporter.notice(notice)
  }

  #record(recorded: readonly Recorded[], { nowMs }: Occasion): void {
    const problems = withoutSleep(() => appendRecorded(recorded, nowMs))
    for (const problem of problems) this.#reporter.notice(notInJournal(problem, 'postflight-guard'))
  }
}

function reasonOf({ answer }: AnsweredStop): string | undefined {
  return answer.kind === 'block' ? answer.reason : undefined
}

/**
 * As `PostToolUse` does on other hosts (docs/design.md, "Waiting"): a wait of an interrupted turn must not allow a
 * later stop.
 */
async function updateWaits(occasion: Occasion, runRoots: readonly string[]): Promise<readonly Recorded[]> {
  const { payload, roots } = occasion
  const { session, prompt } = payload
  if (session === undefined || prompt === undefined) return []
  const recorded: Recorded[] = []
  for (const read of findMarkers(roots).markers) {
    if (read.kind !== 'marker' || (waitVerdict(read.marker, occasion)?.kind ?? 'stays') === 'stays') continue
    recorded.push(...((await attempt(() => updateWait(read.folder, occasion, 'stop'))) ?? []))
  }
  const { runs } = await retryWhileLocked(() => findActiveRuns(runRoots))
  for (const { folder, state } of runs) {
    if (state.wait === undefined || state.hostSession !== session) continue
    recorded.push(...((await attempt(() => updateRunWait(folder, occasion, 'stop'))) ?? []))
  }
  return recorded
}

/** On failure, the stop makes the change or reports why not. */
async function attempt<T>(change: () => T): Promise<T | undefined> {
  try {
    return await retryWhileLocked(change)
  } catch {
    return undefined
  }
}

/** Loaded only if a root has a `specs/done.yaml`. */
class DefinitionOfDone {
  readonly #informed = new Set<string>()

  async start(occasion: Occasion): Promise<readonly string[]> {
    const { session } = occasion.payload
    const roots = occasion.roots.filter((root) => hasDoneFile(root) && !this.#informed.has(`${session} ${root}`))
    if (roots.length === 0) return []
    for (const root of roots) this.#informed.add(`${session} ${root}`)
    const { startAll } = await import('../../stop/done-part.ts')
    return startAll(roots, occasion)
  }

  async arm(occasion: Occasion): Promise<DonePart | undefined> {
    const roots = occasion.payload.agent === MAIN_AGENT ? occasion.roots.filter(hasDoneFile) : []
    if (roots.length === 0) return undefined
    const { doneAtStop } = await import('../../stop/done-part.ts')
    return doneAtStop(roots, occasion, () => hasRunOf(occasion.roots, occasion))
  }
}
