import path from 'node:path'
import { isPast, sleep } from '../disk/age.ts'
import type { RunLimits } from '../disk/bounded-run.ts'
import { kindAt } from '../disk/file-facts.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS, retryWhileLocked } from '../disk/lock.ts'
import { MARKER_FILE } from '../kernel/files.ts'
import { checkingSince } from '../marker/run-checks.ts'
import type { JournalEntry } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { type AgentStop, afterWaitEvent, hadAskedBefore, judgeAgentStop, stopEvent } from './machine/agent-stop.ts'
import { reconcile, type WorkflowPorts } from './machine/machine.ts'
import type { StopCircumstances } from './machine/observation.ts'
import { currentPhase } from './machine/position.ts'
import { type DuePrompt, duePrompt, promptRecord, type TurnEnds } from './machine/prompt.ts'
import { isPrompted, type WorkflowState } from './machine/state.ts'
import { applyEffect, observe } from './store/observe-run.ts'
import { checkStatus, requireTrust, runPhaseCheck, type Truster } from './store/phase-check.ts'
import { checkCommand } from './store/receipts.ts'
import { putRunFile, removeRunFile } from './store/run-file.ts'
import { waitEnd } from './store/run-wait.ts'
import { requireState, withRun, writeChanged, writeState } from './store/state-store.ts'

/**
 * Drives a run for the stop hook, `workflow next` and OpenCode's plugin, which only translate events and results. The loop
 * over turns, then a turn, then what it does under the run's lock.
 */

interface Driver {
  readonly findOccasion: () => RunStop
  readonly truster: Truster
  readonly check: RunLimits
  readonly untilChecked: boolean
  readonly record: (entries: readonly JournalEntry[]) => void
  /** Returns when the agents have stopped, with a reason if the run must end. `takePassed` takes results before. */
  readonly give?: (due: DuePrompt, state: WorkflowState, takePassed: () => Promise<void>) => Promise<string | undefined>
}

/** Nothing can be decided now. */
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
  const isInterrupted = (): boolean => driver.check.signal?.aborted === true
  while (!isInterrupted()) {
    const state = requireState(folder)
    const { run } = currentPhase(state).check
    if (run === undefined || !occasion.drives(state)) return undefined
    if (afterWaitEvent(state, stopEvent(occasion), 0).wait !== undefined) return undefined
    if (checkStatus(folder, state).kind !== 'due') return undefined
    requireTrust(folder, state, driver.truster)
    const done = await runPhaseCheck(folder, state, run, driver.check)
    if (done.kind === 'ran') {
      driver.record([done.entry])
      return done.check.failure?.kind === 'interrupted' ? { command: 'interrupted', run } : undefined
    }
    if (!driver.untilChecked) return { command: 'checking', run, sinceMs: done.sinceMs }
    await sleep(POLL_MS)
  }
  return { command: 'interrupted' }
}

export interface RunStop extends AgentStop {
  /** Whether this stop may advance the run. */
  readonly drives: (state: WorkflowState) => boolean
  readonly patience: 'command' | 'hook'
  /** Age of the process (ms) at which it must answer; undefined for a command. */
  readonly deadline?: number | undefined
}

export const CAME_BACK = {
  isMain: true,
  isNext: true,
  isBlocked: false,
  followsBlock: undefined,
  shells: [],
  patience: 'command',
} as const

export type Turn = Exclude<ReturnType<typeof takeTurn>, { command: 'none' }>

/**
 * Takes results and sends the next prompt. A second request, as from a hook that is wired twice, repeats the attempt.
 * `hears`: whether the person interrupted the current prompt.
 */
export function takeTurn(folder: TaskFolder, occasion: RunStop) {
  return withRun(folder, occasion.patience === 'hook' ? HOOK_PATIENCE_MS : COMMAND_PATIENCE_MS, (state) => {
    if (state.active && !occasion.drives(state)) return { state, command: 'none' as const }
    // Inside the lock: a prompt must be later than the start of every process that waited for the lock.
    const nowMs = Date.now()
    const stop = withCheck(folder, state, occasion)
    const { state: noted, circumstances, asks, hears, wait } = judgeAgentStop(state, stop, nowMs)
    const turnOf = (start: WorkflowState, how: Omit<StopCircumstances, 'nowMs'>, onDisk = start): TurnTaken =>
      turnUnderLock(folder, start, { ...how, nowMs }, { onDisk, deadline: occasion.deadline })
    const done = (taken: TurnTaken, { asksToWait = false, hears = false } = {}) => {
      const entries = entriesOf(folder, state, taken, hears)
      return { ...taken, wait, asksToWait, hears, entries }
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
    return done({ ...turn, state: repeated, command: 'prompt', due: dueOf(folder, repeated) })
  })
}

export function peekTurn(folder: TaskFolder, occasion: RunStop, nowMs: number) {
  const state = requireState(folder)
  if (state.active && !occasion.drives(state)) return { state, command: 'none' as const }
  const { state: noted, circumstances, wait } = judgeAgentStop(state, withCheck(folder, state, occasion), nowMs)
  const taken = foreseenTurn(folder, noted, { ...circumstances, nowMs })
  return { ...taken, wait, asksToWait: false, hears: false, entries: [] }
}

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

function entriesOf({ task }: TaskFolder, before: WorkflowState, { due, state, ends }: TurnTaken, hears: boolean) {
  const entry = { event: 'workflow', task, hostSession: state.hostSession } as const
  const ended = waitEnd(task, before, state)
  if (due !== undefined) return [...ended, { ...entry, detail: promptRecord(due, state.repeats > 0) }]
  if (hears) return [...ended, { ...entry, detail: 'interrupted: the stop was allowed' }]
  return ends ? [...ended, endEntry(task, state)] : ended
}

export function startEntry(task: string, { name, hostSession }: WorkflowState): JournalEntry {
  return { event: 'workflow', task, hostSession, detail: `started: ${name}` }
}

export function endEntry(task: string, { hostSession, outcome }: WorkflowState): JournalEntry {
  return { event: 'workflow', task, hostSession, detail: outcome }
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
): TurnTaken {
  // First: if the file cannot be written, no prompt is counted.
  if (start.active) putRunFile(folder, start.id)
  const ports: WorkflowPorts = {
    isOutOfTime: () => isPast(deadline),
    observe: (state) => observe(folder, state, circumstances),
    apply: (effect) => applyEffect(folder.path, effect),
    write: (state, written) => writeState(folder, state, written),
  }
  const reconciled = reconcile(start, ports, onDisk)
  removeIfEnded(folder, reconciled.state)
  return takenFrom(folder, start, reconciled)
}

function takenFrom(folder: TaskFolder, start: WorkflowState, reconciled: ReturnType<typeof reconcile>) {
  const { state, command } = reconciled
  const due = command === 'prompt' ? dueOf(folder, state) : undefined
  return { ...reconciled, due, ends: start.active && !state.active }
}

type TurnTaken = Readonly<ReturnType<typeof takenFrom>>

export function removeIfEnded(folder: TaskFolder, { id, active }: WorkflowState): void {
  if (!active) removeRunFile(folder, id)
}

/** Predicts `turnUnderLock` without writing. */
function foreseenTurn(folder: TaskFolder, start: WorkflowState, circumstances: StopCircumstances): TurnTaken {
  const moved = new Map<string, string>()
  const reconciled = reconcile(start, {
    observe: (state) => observe(folder, state, circumstances, moved),
    apply: (effect) => {
      if (effect.kind === 'tick' || kindAt(path.join(folder.path, effect.file)) === undefined) return
      moved.set(effect.file, `${effect.folder}/${effect.name}`)
    },
    write: () => {},
  })
  return takenFrom(folder, start, reconciled)
}
