import path from 'node:path'
import { retryWhileLocked } from '../../disk/lock.ts'
import type { Payload } from '../../hosts/host.ts'
import { MAIN_AGENT } from '../../hosts/host.ts'
import { OPENCODE_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import type { CommandForm, CommandReader } from '../../kernel/command-line.ts'
import type { Environment } from '../../kernel/environment.ts'
import type { Reporter } from '../../opencode-hooks/reporter.ts'
import { appendRecorded } from '../../project/journal.ts'
import type { Recorded } from '../../project/journal-entry.ts'
import { findRoots, startFolders } from '../../project/root.ts'
import { taskWord } from '../../project/task-folder.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { settleRunWait } from '../../run/store/run-wait.ts'
import { answerFor, NOTHING_TO_REPORT, type Report, type RunReport } from '../../stop/answer-for.ts'
import { commitStopAsync, endWait, stampWait } from '../../stop/commit.ts'
import { findMarkers, observeStop } from '../../stop/observe-stop.ts'
import { type ObservedStop, planStop, type StopPlan } from '../../stop/plan.ts'
import { waitState } from '../../stop/rules.ts'
import { journalComplaint } from '../../stop/stop-messages.ts'
import { predictOutcomes, recordsOf, type StopOutcome } from '../../stop/stop-outcome.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { IdleRun, IdleRuns } from '../workflow/idle-runs.ts'

/** Plans and commits the stops of OpenCode's agents, with the same rules as the hook (docs/design.md, "Stops"). */

export interface GuardPlace {
  /** The project folder of this OpenCode. */
  readonly folder: string
  readonly environment: Environment
  readonly findForm: () => CommandForm
  /** False if the user switched the guard off: then no marker blocks. */
  readonly looksForMarkers: boolean
}

const NO_RUN: IdleRun = { reason: undefined, note: () => {} }

export class Guard {
  readonly #place: GuardPlace
  readonly #sessions: Sessions
  readonly #reporter: Reporter
  readonly #runs: IdleRuns | undefined
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

  /**
   * The reason of the block that the agent would get if it stopped now; undefined where it would not be blocked. Writes
   * nothing: the count in the reason is the next one.
   */
  async preview(agent: Agent): Promise<string | undefined> {
    const payload = this.#payloadFor(agent, 0)
    const { plan } = this.#plan(agent, payload)
    const outcomes = predictOutcomes(plan)
    const { reason } = await this.#look(agent)
    return this.#speak(payload, { ...NOTHING_TO_REPORT, outcomes, runs: promptOf(reason) }).reason
  }

  /**
   * Handles a stop: every marker is judged, and a block is counted on disk. Returns the block's reason, if it is blocked,
   * and the notices for the user.
   */
  async stop(
    agent: Agent,
    runningSubagents: number,
  ): Promise<{ readonly reason: string | undefined; readonly notices: string[] }> {
    const payload = this.#payloadFor(agent, runningSubagents)
    const { observed, plan } = this.#plan(agent, payload)
    const outcomes = await this.#commit(plan)
    const isHeld = outcomes.some(({ kind }) => kind === 'blocked')
    const idle = isHeld || runningSubagents > 0 ? undefined : await this.#look(agent)
    if (idle !== undefined) await retryWhileLocked(idle.note)
    const { problems } = observed
    const said = this.#speak(payload, { ...NOTHING_TO_REPORT, outcomes, problems, runs: promptOf(idle?.reason) })
    for (const notice of said.notices) this.#reporter.notice(notice)
    return said
  }

  /**
   * Handles an agent that has stopped and can no longer be blocked: rules that do not block are carried out, and the
   * user gets a notice about markers that would have blocked (the turn failed, or OpenCode called no hook).
   */
  async stopped(agent: Agent): Promise<void> {
    const payload = this.#payloadFor(agent, 0)
    const { plan } = this.#plan(agent, payload)
    const unblocked = plan.markers.filter((one) => one.kind === 'judged' && one.rule !== 'block')
    const outcomes = await this.#commit({ ...plan, markers: unblocked })
    const { notices } = this.#speak(payload, { ...NOTHING_TO_REPORT, outcomes })
    for (const notice of notices) this.#reporter.notice(notice)
    for (const one of plan.markers) {
      if (one.kind !== 'judged' || one.rule !== 'block') continue
      const { folder, identity } = one.stored
      // After an error OpenCode sends the idle event twice (1.18.34).
      if (this.#told.has(identity.file)) continue
      this.#told.add(identity.file)
      this.#reporter.notice(OPENCODE_TEXT.notBlocked(taskWord(folder)))
    }
  }

  /** Handles a command of the main conversation that may have announced a wait: it gets the prompt that is answered now. */
  async commandEnded(agent: Agent): Promise<void> {
    if (agent.agent !== MAIN_AGENT) return
    const payload = this.#payloadFor(agent, 0)
    this.#record(await stampWaits(this.rootsFor(agent.root), payload), Date.now())
  }

  /** The runs of the agent that have no driver; none where the user switched workflows off. */
  async #look(agent: Agent): Promise<IdleRun> {
    const runs = this.#runs
    if (runs === undefined) return NO_RUN
    const roots = this.rootsFor(agent.root)
    return retryWhileLocked(() => runs.look(agent, roots, this.#sessions.promptOf(agent.root)))
  }

  /** The payload that a stop hook would get for this stop. */
  #payloadFor(agent: Agent, runningSubagents: number): Payload {
    const prompt = this.#sessions.promptOf(agent.root)
    return {
      event: agent.agent === MAIN_AGENT ? 'Stop' : 'SubagentStop',
      session: agent.root,
      agent: agent.agent,
      wakeUps: runningSubagents,
      shells: [],
      ...(prompt !== undefined && { prompt }),
      ...(agent.type !== undefined && { agentType: agent.type }),
    }
  }

  #plan(agent: Agent, payload: Payload): { readonly observed: ObservedStop; readonly plan: StopPlan } {
    const nowMs = Date.now()
    const findSessionBirth = (): number | undefined => this.#sessions.bornMs(agent.root)
    const findStart = (): number => nowMs
    const roots = this.#place.looksForMarkers ? this.rootsFor(agent.root) : []
    const observed = observeStop(roots, { payload, nowMs, findSessionBirth, findStart })
    return { observed, plan: planStop(observed, payload, nowMs) }
  }

  async #commit(plan: StopPlan): Promise<readonly StopOutcome[]> {
    const { outcomes, recorded } = await commitStopAsync(plan)
    const { payload, nowMs } = plan.stop
    this.#record([...recorded, ...recordsOf(outcomes, payload)], nowMs)
    return outcomes
  }

  #record(recorded: readonly Recorded[], nowMs: number): void {
    for (const problem of appendRecorded(recorded, nowMs)) this.#reporter.notice(journalComplaint(problem))
  }

  #speak(payload: Payload, report: Report): { readonly reason: string | undefined; readonly notices: string[] } {
    const { answer, notices } = answerFor(payload, report, this.#reader())
    return { reason: answer.kind === 'block' ? answer.reason : undefined, notices: [...notices] }
  }

  #reader(): CommandReader {
    return { foundRoot: findRoots(this.#starts())[0], findForm: this.#place.findForm }
  }
}

function promptOf(prompt: string | undefined): RunReport {
  return { prompt, notices: [] }
}

/**
 * Gives the waits of a conversation their prompt after a command that may have announced one, as `PostToolUse` does on
 * other hosts (docs/design.md, "Waiting"): a wait whose turn is interrupted must not allow the stop of a later one. Waits
 * of an earlier prompt are over. Returns the journal's records of those.
 */
async function stampWaits(roots: readonly string[], payload: Payload): Promise<readonly Recorded[]> {
  const { session, prompt } = payload
  if (session === undefined || prompt === undefined) return []
  const nowMs = Date.now()
  const stop = { payload, nowMs, sessionBornMs: undefined, startMs: nowMs }
  const recorded: Recorded[] = []
  for (const read of findMarkers(roots).markers) {
    if (read.kind !== 'marker') continue
    const state = waitState(read.marker, stop)
    if (state === 'begins') await attempt(() => stampWait(read.folder, stop))
    if (state !== 'over') continue
    const ended = await attempt(() => endWait(read.folder, payload, (one) => waitState(one, stop) === 'over'))
    recorded.push(...(ended ?? []))
  }
  const { runs } = await retryWhileLocked(() => findActiveRuns(roots))
  for (const { folder, state } of runs) {
    if (state.wait === undefined || state.hostSession !== session) continue
    recorded.push(...((await attempt(() => settleRunWait(folder, session, { prompt, startMs: nowMs }))) ?? []))
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
