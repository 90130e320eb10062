import path from 'node:path'
import type { CommandForm, CommandReader } from '../../core/command-line.ts'
import type { Environment } from '../../core/hosts/host.ts'
import { MAIN_AGENT } from '../../core/marker.ts'
import type { Payload } from '../../core/payload.ts'
import { answerFor, NOTHING_TO_REPORT, type Report, type RunReport } from '../../core/stop/answer-for.ts'
import { predictOutcomes, recordsOf, type StopOutcome } from '../../core/stop/outcome.ts'
import { type ObservedStop, planStop, type StopPlan } from '../../core/stop/plan.ts'
import type { Rule } from '../../core/stop/rules.ts'
import { taskWord } from '../../core/task-folder.ts'
import { appendRecorded } from '../../io/journal.ts'
import { findRoots, startFolders } from '../../io/root.ts'
import { commitStop } from '../../io/stop/commit.ts'
import { observeStop } from '../../io/stop/observe.ts'
import { OPENCODE_TEXT } from '../messages.ts'
import type { Reporter } from '../safe-hook.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { IdleRuns } from '../workflow/idle-runs.ts'

/** The one decision table (DESIGN section 5), asked for an agent of OpenCode that is about to stop. */

/** What a guard needs to know of its place. */
export interface GuardPlace {
  /** The project folder of this OpenCode. */
  readonly folder: string
  readonly environment: Environment
  readonly findForm: () => CommandForm
}

/** Rules that end a marker without holding anybody. */
const ENDINGS: readonly Rule[] = ['bypassed', 'expired', 'capped']

export class Guard {
  readonly #place: GuardPlace
  readonly #sessions: Sessions
  readonly #reporter: Reporter
  readonly #runs: IdleRuns
  /** The markers of which the user was told that they held nobody. */
  readonly #told = new Set<string>()

  constructor(place: GuardPlace, sessions: Sessions, reporter: Reporter, runs: IdleRuns) {
    this.#place = place
    this.#sessions = sessions
    this.#reporter = reporter
    this.#runs = runs
  }

  /**
   * Every root in which markers of a conversation may lie: the project's, and those of the folders in which its shells
   * ran. Not the process's own folder: a server's is no project's.
   */
  rootsFor(root: string | undefined): readonly string[] {
    const folders = root === undefined ? [] : this.#sessions.foldersOf(root)
    return findRoots([...this.#starts(), ...folders.map((folder) => ({ from: 'a shell', path: path.resolve(folder) }))])
  }

  #starts() {
    const { folder, environment } = this.#place
    return startFolders({ environment: { POSTFLIGHT_ROOT: environment.POSTFLIGHT_ROOT }, cwd: folder })
  }

  /**
   * Why the agent would be held if it stopped now, in words; undefined when it would not. Writes nothing: a count in it
   * is the one that would be spent next.
   */
  preview(agent: Agent): string | undefined {
    const payload = payloadFor(agent, 0)
    const { observed, plan } = this.#plan(agent, payload)
    const outcomes = predictOutcomes(plan)
    const idle = this.#runs.idle(agent, observed.markers)
    return this.#speak(payload, { ...NOTHING_TO_REPORT, outcomes, runs: promptOf(idle?.reason) }).reason
  }

  /**
   * The agent stops: every marker is judged and counted on disk. Gives the reason why it is held, and what its user
   * should know.
   */
  stop(agent: Agent, runningSubagents: number): { readonly reason: string | undefined; readonly notices: string[] } {
    const payload = payloadFor(agent, runningSubagents)
    const { observed, plan } = this.#plan(agent, payload)
    const outcomes = this.#commit(plan)
    const isHeld = outcomes.some(({ kind }) => kind === 'blocked')
    const idle = isHeld || runningSubagents > 0 ? undefined : this.#runs.idle(agent, observed.markers)
    idle?.told()
    const { problems } = observed
    const said = this.#speak(payload, { ...NOTHING_TO_REPORT, outcomes, problems, runs: promptOf(idle?.reason) })
    for (const notice of said.notices) this.#reporter.notice(notice)
    return said
  }

  /**
   * The agent has stopped and cannot be held any more: what ends without holding it is brought to its end, and of what
   * would have held it (the turn failed, or OpenCode did not ask) the user is told.
   */
  stopped(agent: Agent): void {
    const payload = payloadFor(agent, 0)
    const { plan } = this.#plan(agent, payload)
    const ending = plan.markers.filter((one) => one.kind === 'judged' && ENDINGS.includes(one.rule))
    const outcomes = this.#commit({ ...plan, markers: ending })
    const { notices } = this.#speak(payload, { ...NOTHING_TO_REPORT, outcomes })
    for (const notice of notices) this.#reporter.notice(notice)
    for (const one of plan.markers) {
      if (one.kind !== 'judged' || one.rule !== 'block') continue
      const { folder, identity } = one.stored
      // An error tells of idle twice (1.18.33).
      if (this.#told.has(identity.file)) continue
      this.#told.add(identity.file)
      this.#reporter.notice(OPENCODE_TEXT.notHeld(taskWord(folder)))
    }
  }

  #plan(agent: Agent, payload: Payload): { readonly observed: ObservedStop; readonly plan: StopPlan } {
    const nowMs = Date.now()
    const findSessionBirth = (): number | undefined => this.#sessions.bornMs(agent.root)
    const observed = observeStop(this.rootsFor(agent.root), { payload, nowMs, findSessionBirth })
    return { observed, plan: planStop(observed, payload, nowMs) }
  }

  #commit(plan: StopPlan): readonly StopOutcome[] {
    const { outcomes } = commitStop(plan)
    const { payload, nowMs } = plan.stop
    for (const problem of appendRecorded(recordsOf(outcomes, payload), nowMs)) this.#reporter.notice(problem)
    return outcomes
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

/** The stop as every host tells it. */
function payloadFor(agent: Agent, runningSubagents: number): Payload {
  return {
    event: agent.agent === MAIN_AGENT ? 'Stop' : 'SubagentStop',
    session: agent.root,
    agent: agent.agent,
    runningSubagents,
    ...(agent.type !== undefined && { agentType: agent.type }),
  }
}
