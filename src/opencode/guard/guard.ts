import path from 'node:path'
import type { CommandForm } from '../../core/command-line.ts'
import type { Rule } from '../../core/decision.ts'
import type { Environment } from '../../core/hosts/host.ts'
import { MAIN_AGENT } from '../../core/marker.ts'
import { unreadableNotice } from '../../core/messages.ts'
import type { Payload } from '../../core/payload.ts'
import { type BlockedMarker, composeReason } from '../../core/reason.ts'
import { taskWord } from '../../core/task-folder.ts'
import { appendRecorded } from '../../io/journal.ts'
import { findMarkers, judgeStored } from '../../io/judge.ts'
import { markerDisplayPath, type StoredMarker, type UnreadableMarker } from '../../io/marker-file.ts'
import { findRoots, startFolders } from '../../io/root.ts'
import { type Settlement, settleMarkers } from '../../io/settle.ts'
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
    const { markers } = findMarkers(this.rootsFor(agent.root))
    const blocked = markers.flatMap((found) => {
      const judged = judgeStored(found, payload, Date.now())
      if (judged.kind !== 'judged' || judged.rule !== 'block') return []
      const { folder, marker } = judged.stored
      const task = taskWord(folder)
      const root = this.#rootOption(folder.root)
      return [{ marker, task, path: markerDisplayPath(folder), count: judged.spent + 1, root }]
    })
    return this.#reason(agent, blocked) ?? this.#runs.idle(agent, markers)?.reason
  }

  /**
   * The agent stops: every marker is judged and counted on disk. Gives the reason why it is held, and what its user
   * should know.
   */
  stop(agent: Agent, runningSubagents: number): { readonly reason: string | undefined; readonly notices: string[] } {
    const { markers, problems } = findMarkers(this.rootsFor(agent.root))
    const { blocked, notices } = this.#settle(agent, runningSubagents, markers)
    const unread = problems.map((problem) => unreadableNotice(problem.path, problem.detail))
    for (const notice of unread) this.#reporter.notice(notice)
    const idle = blocked.length > 0 || runningSubagents > 0 ? undefined : this.#runs.idle(agent, markers)
    idle?.told()
    return { reason: this.#reason(agent, blocked) ?? idle?.reason, notices: [...unread, ...notices] }
  }

  #reason(agent: Agent, blocked: readonly BlockedMarker[]): string | undefined {
    if (blocked.length === 0) return undefined
    return composeReason(blocked, this.#place.findForm(), agent.agent !== MAIN_AGENT)
  }

  /**
   * The agent has stopped and cannot be held any more: what ends without holding anybody is brought to its end, and of
   * what would have held it (the turn failed, or OpenCode asked nobody) the user is told.
   */
  stopped(agent: Agent): void {
    const payload = payloadFor(agent, 0)
    const judged = findMarkers(this.rootsFor(agent.root)).markers.flatMap((found) => {
      const one = judgeStored(found, payload, Date.now())
      return one.kind === 'judged' ? [one] : []
    })
    const ending = judged.filter(({ rule }) => ENDINGS.includes(rule)).map(({ stored }) => stored)
    if (ending.length > 0) this.#settle(agent, 0, ending)
    for (const { rule, stored } of judged) {
      // An error tells of idle twice (1.18.33).
      if (rule !== 'block' || this.#told.has(stored.identity.file)) continue
      this.#told.add(stored.identity.file)
      this.#reporter.notice(OPENCODE_TEXT.notHeld(taskWord(stored.folder)))
    }
  }

  #settle(agent: Agent, running: number, markers: readonly (StoredMarker | UnreadableMarker)[]): Settlement {
    const nowMs = Date.now()
    const settlement = settleMarkers(markers, {
      payload: payloadFor(agent, running),
      nowMs,
      rootOption: (root) => this.#rootOption(root),
    })
    for (const notice of settlement.notices) this.#reporter.notice(notice)
    for (const problem of appendRecorded(settlement.recorded, nowMs)) this.#reporter.notice(problem)
    return settlement
  }

  #rootOption(root: string): string | undefined {
    return root === findRoots(this.#starts())[0] ? undefined : root
  }
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
