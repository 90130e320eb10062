import path from 'node:path'
import { REASON_LIMIT } from '../core/answer.ts'
import { commandLine } from '../core/command-line.ts'
import type { Recorded } from '../core/journal-entry.ts'
import { PROMPT_TEXT, WORKFLOW_TEXT } from '../core/messages/runs.ts'
import { unsettledNotice } from '../core/messages/stops.ts'
import type { RunReport } from '../core/stop/answer-for.ts'
import { type TaskFolder, taskWord } from '../core/task-folder.ts'
import type { DuePrompt } from '../core/workflow/prompt.ts'
import { errorText } from '../io/fs/errors.ts'
import { replaceFile } from '../io/fs/write.ts'
import { isPast } from '../io/process/age.ts'
import { haltRun, requireState, type Turn, takeTurn } from '../io/workflow/run.ts'
import { stateDisplayPath, WORKFLOW_FOLDER } from '../io/workflow/state-store.ts'

/**
 * The driver for hosts with stop hooks: a bundle of its own, loaded only when a marker of a running workflow was found.
 * `SubagentStop` only looks; `Stop` looks too, because a SubagentStop can be missing, and gives out the next prompt.
 */

/** A marker of a running workflow, of the payload's own session. */
export interface WorkflowMarker {
  readonly folder: TaskFolder
  readonly bypassed: boolean
  /** Set where the agent's folder does not lead to the run's root. */
  readonly rootOption: string | undefined
}

/** The stop that asks. */
export interface WorkflowStop {
  readonly session: string
  /** True for a stop of the main conversation with nothing running behind it: whoever had the prompt has come back. */
  readonly returned: boolean
  /** True when something else holds the agent already: then no prompt is given out. */
  readonly held: boolean
  readonly nowMs: number
  /** When this process was started, which was after the agent wanted to stop (ms since the epoch). */
  readonly sinceMs: number
  /** When to go on with what there is, as an age of this process (ms). */
  readonly deadline?: number | undefined
}

/** What the runs did. */
export interface DrivenRuns {
  readonly report: RunReport
  readonly recorded: readonly Recorded[]
}

/** Moves every run of this session on; at most one of them, the first in path order, gives out a prompt. Never throws. */
export function driveRuns(markers: readonly WorkflowMarker[], stop: WorkflowStop): DrivenRuns {
  let prompt: string | undefined
  const notices: string[] = []
  const recorded: Recorded[] = []
  for (const [index, { folder, bypassed, rootOption }] of markers.entries()) {
    // A run that another process does not let go of takes its time, and the answer has a limit.
    if (isPast(stop.deadline)) {
      notices.push(unsettledNotice(markers.length - index))
      break
    }
    const resume = commandLine(['workflow', 'resume', taskWord(folder)], rootOption)
    const entry = { event: 'workflow', task: folder.task, hostSession: stop.session } as const
    try {
      if (bypassed) {
        if (requireState(folder).hostSession !== stop.session) continue
        haltRun(folder, 'bypassed', stop.nowMs)
        notices.push(WORKFLOW_TEXT.ended(folder.task, 'stopped', WORKFLOW_TEXT.bypassed, resume))
        recorded.push({ root: folder.root, entry: { ...entry, detail: 'stopped: bypassed' } })
        continue
      }
      const mine = stop.returned && !stop.held && prompt === undefined
      const turn = takeTurn(
        folder,
        { sinceMs: stop.sinceMs, patience: 'hook' },
        // The marker may say anything: the state says whose run it is.
        ({ active, hostSession }) =>
          active && hostSession !== stop.session ? undefined : { returned: mine, mayPrompt: mine },
      )
      if (turn.command === 'none') continue
      if (turn.due !== undefined) prompt = promptFor(folder, turn.due)
      if (turn.command === 'finish') {
        notices.push(WORKFLOW_TEXT.ended(folder.task, turn.state.outcome ?? '', turn.state.why, resume))
      }
      const detail = detailOf(turn)
      if (detail !== undefined) recorded.push({ root: folder.root, entry: { ...entry, detail } })
    } catch (error) {
      const detail = errorText(error)
      notices.push(WORKFLOW_TEXT.unusable(stateDisplayPath(folder), detail))
      recorded.push({ root: folder.root, entry: { event: 'error', task: folder.task, detail } })
    }
  }
  return { report: { prompt, notices }, recorded }
}

function detailOf({ command, due, state }: Turn): string | undefined {
  if (due !== undefined) {
    return `prompt${state.repeats > 0 ? ' again' : ''}: ${due.phase}${due.step === undefined ? '' : ` step ${due.step}`} attempt ${due.attempt}`
  }
  return command === 'finish' ? (state.outcome ?? undefined) : undefined
}

/** A prompt that a block has no room for is left in a file. */
function promptFor(folder: TaskFolder, due: DuePrompt): string {
  const isHandedOn = due.agent !== undefined || due.model !== undefined
  const whole = isHandedOn ? `${PROMPT_TEXT.dispatch(due.agent, due.model)}\n\n${due.prompt}` : due.prompt
  if (whole.length <= REASON_LIMIT) return whole
  const file = path.join(folder.path, WORKFLOW_FOLDER, 'prompt.md')
  replaceFile(file, `${due.prompt}\n`)
  return isHandedOn
    ? `${PROMPT_TEXT.dispatch(due.agent, due.model)}\n\n${PROMPT_TEXT.inFile(file)}`
    : PROMPT_TEXT.inFile(file)
}
