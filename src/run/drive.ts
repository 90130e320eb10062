import path from 'node:path'
import { isPast, sleep } from '../disk/age.ts'
import type { RunLimits } from '../disk/bounded-run.ts'
import { kindAt } from '../disk/file-facts.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS, retryWhileLocked } from '../disk/lock.ts'
import { MARKER_FILE } from '../kernel/files.ts'
import { checkingSince } from '../marker/run-checks.ts'
import type { JournalEntry } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { type AgentStop, hadAskedBefore, judgeAgentStop } from './machine/agent-stop.ts'
import { reconcile, type WorkflowPorts } from './machine/machine.ts'
import type { StopCircumstances } from './machine/observation.ts'
import { currentPhase } from './machine/position.ts'
import { type DuePrompt, duePrompt, promptRecord, type TurnEnds } from './machine/prompt.ts'
import { isPrompted, type WorkflowState } from './machine/state.ts'
import { waitEnd } from './store/active-runs.ts'
import { applyEffect, observe } from './store/observe-run.ts'
import { runDueCheck } from './store/phase-check.ts'
import { checkCommand } from './store/receipts.ts'
import { putRunFile, removeRunFile } from './store/run-file.ts'
import type { Truster } from './store/run-trust.ts'
import { requireState, runEntry, withRun, writeChanged, writeState } from './store/state-store.ts'

/** The one driver of runs (docs/design.md, "Workflows"). */

interface Driver {
  readonly findOccasion: () => RunStop
  readonly truster: Truster
  readonly check: RunLimits
  readonly record: (entries: readonly JournalEntry[]) => void
  /**
   * Returns when the agents have stopped, with a reason if the run must end. `takePassed` takes results before. A driver
   * without it does not wait for a check of another process either.
   */
  readonly give?: (due: DuePrompt, state: WorkflowState, takePassed: () => Promise<void>) => Promise<string | undefined>
}

type Pause =
  | { readonly command: 'checking'; readonly run: string; readonly sinceMs: number }
  | { readonly command: 'interrupted'; readonly run?: string; readonly why?: string }

const POLL_MS = 500

export async function driveRun(folder: TaskFolder, driver: Driver): Promise<ReturnType<typeof takeTurn> | Pause> {
  const turnAt = async (occasion: RunStop) => {
    const turn = await retryWhileLocked(() => takeTurn(folder, occasion))
    if (turn.command !== 'none') driver.record(turn.entries)
    return turn
  }
  for (;;) {
    const occasion = driver.findOccasion()
    const pause = await checkPhase(folder, occasion, driver)
    if (pause !== undefined) return pause
    const turn = await turnAt(occasion)
    if (turn.command !== 'prompt' || turn.due === undefined || driver.give === undefined) return turn
    const why = await driver.give(turn.due, turn.state, async () => {
      await turnAt({ ...driver.findOccasion(), isMain: false })
    })
    if (why !== undefined) return { command: 'interrupted', why }
  }
}

async function checkPhase(folder: TaskFolder, occasion: RunStop, driver: Driver): Promise<Pause | undefined> {
  while (driver.check.signal?.aborted !== true) {
    const state = requireState(folder)
    if (!occasion.drives(state) || judgeAgentStop(state, occasion, 0).wait !== undefined) return undefined
    const done = await runDueCheck(folder, state, driver.truster, driver.check)
    if (done.kind === 'ran') {
      driver.record([done.entry])
      const { run, failure } = done.check
      return failure?.kind === 'interrupted' ? { command: 'interrupted', run } : undefined
    }
    if (done.kind !== 'busy') return undefined
    if (driver.give === undefined) return { ...done, command: 'checking' }
    await sleep(POLL_MS)
  }
  return { command: 'interrupted' }
}

export interface RunStop extends AgentStop {
  /** Whether this stop may advance the run. */
  readonly drives: (state: WorkflowState) => boolean
  /** Age of the process (ms) at which it must answer; undefined for a command. */
  readonly deadline?: number | undefined
}

/** The stop of an agent that asks for its next prompt. */
export function cameBack(startMs: number, drives: RunStop['drives'], promptId?: string): RunStop {
  const circumstances = { isMain: true, isNext: true, isBlocked: false, followsBlock: undefined, shells: [] }
  return { ...circumstances, startMs, drives, promptId }
}

/** Takes results and sends the next prompt. A second request, as from a hook that is wired twice, repeats the attempt. */
export function takeTurn(folder: TaskFolder, occasion: RunStop) {
  const { deadline } = occasion
  return withRun(folder, deadline === undefined ? COMMAND_PATIENCE_MS : HOOK_PATIENCE_MS, (state) => {
    if (state.active && !occasion.drives(state)) return { state, command: 'none' as const }
    // Inside the lock: a prompt must be later than the start of every process that waited for the lock.
    const nowMs = Date.now()
    const stop = withCheck(folder, state, occasion)
    const { state: noted, circumstances, asks, hears, wait } = judgeAgentStop(state, stop, nowMs)
    const turnOf = (start: WorkflowState, how: Omit<StopCircumstances, 'nowMs'>, onDisk = start): Reconciled =>
      turnUnderLock(folder, start, { ...how, nowMs }, { onDisk, deadline })
    const done = (reconciled: Reconciled, { asksToWait = false, hears = false } = {}) => {
      const taken = withPrompt(folder, reconciled)
      return { ...taken, wait, asksToWait, hears, entries: entriesOf(folder, state, taken, hears) }
    }
    const isEarlier = hadAskedBefore(state, occasion.startMs)
    if (!circumstances.mayPrompt || !isEarlier) {
      const turn = turnOf(isEarlier ? state : noted, circumstances, state)
      const isOut = turn.command === 'wait' && !turn.unfinished && isPrompted(turn.state)
      if (!isOut || !asks) return done(turn, { hears: isOut && hears })
      const asked = { ...turn.state, askedToWait: true }
      writeChanged(folder, asked, turn.state)
      return done({ ...turn, state: asked }, { asksToWait: true })
    }
    const turn = turnOf(state, { returned: false, mayPrompt: false })
    if (turn.command !== 'wait' || turn.unfinished) return done(turn)
    // A clock that was set back must not end the chain of prompts.
    if (!isPrompted(turn.state)) return done(turnOf(turn.state, circumstances))
    const repeated = { ...turn.state, repeats: turn.state.repeats + 1 }
    writeChanged(folder, repeated, turn.state)
    return done({ ...turn, state: repeated, command: 'prompt' })
  })
}

/** Predicts `takeTurn` without writing. */
export function peekTurn(folder: TaskFolder, occasion: RunStop, nowMs: number) {
  const state = requireState(folder)
  if (state.active && !occasion.drives(state)) return { state, command: 'none' as const }
  const { state: noted, circumstances, wait } = judgeAgentStop(state, withCheck(folder, state, occasion), nowMs)
  const moved = new Map<string, string>()
  const reconciled = reconcile(noted, {
    observe: (each) => observe(folder, each, { ...circumstances, nowMs }, moved),
    apply: (effect) => {
      if (effect.kind === 'tick' || kindAt(path.join(folder.path, effect.file)) === undefined) return
      moved.set(effect.file, `${effect.folder}/${effect.name}`)
    },
    write: () => {},
  })
  return { ...withPrompt(folder, reconciled), wait }
}

type Reconciled = ReturnType<typeof reconcile>

function withPrompt(folder: TaskFolder, reconciled: Reconciled) {
  return { ...reconciled, due: reconciled.command === 'prompt' ? dueOf(folder, reconciled.state) : undefined }
}

export type Turn = ReturnType<typeof withPrompt>

/** A running check counts as a shell in the background: its result is still to come. */
function withCheck(folder: TaskFolder, state: WorkflowState, stop: RunStop): RunStop {
  const check = runningCheck(folder, state)
  return check === undefined ? stop : { ...stop, shells: [...stop.shells, `check ${check.sinceMs}`] }
}

/** Not those of a marker in the same folder, which take the same lock. */
export function runningCheck(folder: TaskFolder, state: WorkflowState) {
  const { run } = currentPhase(state).check
  if (run === undefined || kindAt(path.join(folder.path, MARKER_FILE)) !== undefined) return undefined
  const sinceMs = checkingSince(folder.path)
  return sinceMs === undefined ? undefined : { run, sinceMs }
}

function entriesOf(folder: TaskFolder, before: WorkflowState, { due, state }: Turn, hears: boolean): JournalEntry[] {
  const ended = waitEnd(folder.task, before, state)
  if (due !== undefined) return [...ended, runEntry(folder, state, promptRecord(due, state.repeats > 0))]
  if (hears) return [...ended, runEntry(folder, state, 'interrupted: the stop was allowed')]
  return [...ended, ...endEntries(folder, before, state)]
}

/** None if the run was not active `before`. */
export function endEntries(folder: TaskFolder, before: Pick<WorkflowState, 'active'>, state: WorkflowState) {
  return before.active && !state.active ? [runEntry(folder, state, state.outcome)] : []
}

export function dueOf(folder: TaskFolder, state: WorkflowState, turnEnds?: TurnEnds): DuePrompt {
  return duePrompt(state, { task: folder.task, folder: folder.path, checkCommand: checkCommand(folder), turnEnds })
}

/** Needs the run's lock. `onDisk`: the state on disk, if not `start`. */
export function turnUnderLock(
  folder: TaskFolder,
  start: WorkflowState,
  circumstances: StopCircumstances,
  { onDisk = start, deadline }: { readonly onDisk?: WorkflowState; readonly deadline?: number | undefined } = {},
): Reconciled {
  // First: if the file cannot be written, no prompt is counted.
  if (start.active) putRunFile(folder, start.id)
  const ports: WorkflowPorts = {
    isOutOfTime: () => isPast(deadline),
    observe: (state) => observe(folder, state, circumstances),
    apply: (effect) => applyEffect(folder.path, effect),
    write: (state, written) => writeState(folder, state, written),
  }
  const reconciled = reconcile(start, ports, onDisk)
  if (!reconciled.state.active) removeRunFile(folder, reconciled.state.id)
  return reconciled
}
