import path from 'node:path'
import { retryWhileLocked } from '../../disk/lock.ts'
import { MAIN_AGENT } from '../../hosts/host.ts'
import type { Occasion } from '../../hosts/occasion.ts'
import { OPENCODE_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import type { CommandForm } from '../../kernel/command-line.ts'
import type { Environment } from '../../kernel/environment.ts'
import type { Reporter } from '../../opencode-hooks/reporter.ts'
import { appendRecorded } from '../../project/journal.ts'
import type { Recorded } from '../../project/journal-entry.ts'
import { findRoots, startFolders } from '../../project/root.ts'
import { taskWord } from '../../project/task-folder.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { updateRunWait } from '../../run/store/run-wait.ts'
import {
  type AnsweredStop,
  answerStopAsync,
  endStop,
  NO_RUNS,
  predictStop,
  type StopOfRuns,
} from '../../stop/answer-stop.ts'
import { updateWait } from '../../stop/commit.ts'
import { findMarkers } from '../../stop/observe-stop.ts'
import { waitVerdict } from '../../stop/rules.ts'
import { journalComplaint } from '../../stop/stop-messages.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { IdleRun, IdleRuns } from '../workflow/idle-runs.ts'
import { DefinitionOfDone } from './definition-of-done.ts'

/** Plans and commits the stops of OpenCode's agents, with the same rules as the hook (docs/design.md, "Stops"). */

export interface GuardPlace {
  /** The project folder of this OpenCode. */
  readonly folder: string
  readonly environment: Environment
  readonly findForm: () => CommandForm
  /** False if the user switched the guard off: then no marker blocks. */
  readonly looksForMarkers: boolean
}

/** OpenCode's own agent that only plans (1.18.34). */
const PLAN_AGENT = 'plan'

const NO_RUN: IdleRun = { reason: undefined, note: () => {} }

export class Guard {
  readonly #place: GuardPlace
  readonly #sessions: Sessions
  readonly #reporter: Reporter
  readonly #runs: IdleRuns | undefined
  readonly #done = new DefinitionOfDone()
  /** The markers whose user already has a notice that the stop was not blocked. */
  readonly #told = new Set<string>()

  constructor(place: GuardPlace, sessions: Sessions, reporter: Reporter, runs: IdleRuns | undefined) {
    this.#place = place
    this.#sessions = sessions
    this.#reporter = reporter
    this.#runs = runs
  }

  /**
   * Every root in which markers of a conversation may lie: the project's, and those of the folders in which its shells
   * ran. The process's own folder is left out: a server's folder does not belong to the project.
   */
  rootsFor(root: string | undefined): readonly string[] {
    const folders = root === undefined ? [] : this.#sessions.foldersOf(root)
    return findRoots([...this.#starts(), ...folders.map((folder) => ({ from: 'shell', path: path.resolve(folder) }))])
  }

  #starts() {
    const { folder, environment } = this.#place
    return startFolders({ environment: { POSTFLIGHT_ROOT: environment.POSTFLIGHT_ROOT }, cwd: folder })
  }

  /** Handles a message to a main conversation, before its agent works: the definition of done gets its baseline. */
  async begins(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    for (const notice of await this.#done.start(this.#occasionOf(agent, 0))) this.#reporter.notice(notice)
  }

  /**
   * The reason of the block that the agent would get if it stopped now; undefined where it would not be blocked. Counts
   * nothing: the count in the reason is the next one.
   */
  async preview(agent: Agent): Promise<string | undefined> {
    const occasion = this.#occasionOf(agent, 0)
    const { recorded } = await this.#done.arm(occasion)
    this.#record(recorded, occasion)
    const { reason } = await this.#look(agent, occasion)
    return reasonOf(predictStop(occasion, stopOfRuns(reason)))
  }

  /**
   * Handles a stop: every marker is judged, and a block is counted on disk. Returns the block's reason, if it is blocked,
   * and the notices for the user.
   */
  async stop(
    agent: Agent,
    runningSubagents: number,
  ): Promise<{ readonly reason: string | undefined; readonly notices: readonly string[] }> {
    const occasion = this.#occasionOf(agent, runningSubagents)
    const driveRuns = async (isBlocked: boolean): Promise<StopOfRuns> => {
      if (isBlocked || runningSubagents > 0) return NO_RUNS
      try {
        const idle = await this.#look(agent, occasion)
        await retryWhileLocked(idle.note)
        return stopOfRuns(idle.reason)
      } catch (error) {
        // The markers are committed already, so their part of the stop is answered and recorded.
        this.#reporter.fault('runs', error)
        return NO_RUNS
      }
    }
    const stop = await answerStopAsync(occasion, driveRuns, await this.#done.arm(occasion))
    this.#tell(stop, occasion)
    return { reason: reasonOf(stop), notices: stop.notices }
  }

  /**
   * Handles an agent that has stopped and can no longer be blocked: rules that do not block are carried out, and the
   * user gets a notice about markers that would have blocked (the turn failed, or OpenCode called no hook).
   */
  async stopped(agent: Agent): Promise<void> {
    const occasion = this.#occasionOf(agent, 0)
    const { stop, unblocked } = await endStop(occasion)
    this.#tell(stop, occasion)
    for (const { stored } of unblocked) {
      // After an error OpenCode sends the idle event twice (1.18.34).
      if (this.#told.has(stored.identity.file)) continue
      this.#told.add(stored.identity.file)
      this.#reporter.notice(OPENCODE_TEXT.notBlocked(taskWord(stored.folder)))
    }
  }

  /** Handles a command of the main conversation that may have announced a wait: it gets the prompt that is answered now. */
  async commandEnded(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    const occasion = this.#occasionOf(agent, 0, this.rootsFor(agent.root))
    this.#record(await updateWaits(occasion), occasion)
  }

  /** The runs of the agent that have no driver; none where the user switched workflows off. */
  async #look(agent: Agent, occasion: Occasion): Promise<IdleRun> {
    const runs = this.#runs
    if (runs === undefined) return NO_RUN
    const roots = this.rootsFor(agent.root)
    return retryWhileLocked(() => runs.look(occasion, roots))
  }

  /** The occasion that a stop hook would get for this stop. */
  #occasionOf(
    agent: Agent,
    runningSubagents: number,
    roots = this.#place.looksForMarkers ? this.rootsFor(agent.root) : [],
  ): Occasion {
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
      environment: this.#place.environment,
      roots,
      reader: { foundRoot: findRoots(this.#starts())[0], findForm: this.#place.findForm },
      nowMs,
      startMs: nowMs,
      sessionBornMs: this.#sessions.bornMs(agent.root),
      deadline: undefined,
    }
  }

  #tell(stop: AnsweredStop, occasion: Occasion): void {
    this.#record(stop.recorded, occasion)
    for (const notice of stop.notices) this.#reporter.notice(notice)
  }

  #record(recorded: readonly Recorded[], { nowMs }: Occasion): void {
    for (const problem of appendRecorded(recorded, nowMs)) this.#reporter.notice(journalComplaint(problem))
  }
}

function stopOfRuns(prompt: string | undefined): StopOfRuns {
  return { ...NO_RUNS, report: { prompt, notices: [] } }
}

function reasonOf({ answer }: AnsweredStop): string | undefined {
  return answer.kind === 'block' ? answer.reason : undefined
}

/**
 * Gives the waits of a conversation their prompt after a command that may have announced one, as `PostToolUse` does on
 * other hosts (docs/design.md, "Waiting"): a wait whose turn is interrupted must not allow the stop of a later one. Waits
 * of an earlier prompt are over. Returns the journal's records of those.
 */
async function updateWaits(occasion: Occasion): Promise<readonly Recorded[]> {
  const { payload, roots } = occasion
  const { session, prompt } = payload
  if (session === undefined || prompt === undefined) return []
  const recorded: Recorded[] = []
  for (const read of findMarkers(roots).markers) {
    if (read.kind !== 'marker' || (waitVerdict(read.marker, occasion)?.kind ?? 'stays') === 'stays') continue
    recorded.push(...((await attempt(() => updateWait(read.folder, occasion, 'stop'))) ?? []))
  }
  const { runs } = await retryWhileLocked(() => findActiveRuns(roots))
  for (const { folder, state } of runs) {
    if (state.wait === undefined || state.hostSession !== session) continue
    recorded.push(...((await attempt(() => updateRunWait(folder, occasion, 'stop'))) ?? []))
  }
  return recorded
}

/** The result of a change; undefined if it fails: then the stop makes the change, or reports why not. */
async function attempt<T>(change: () => T): Promise<T | undefined> {
  try {
    return await retryWhileLocked(change)
  } catch {
    return undefined
  }
}
