import path from 'node:path'
import { isPast } from '../disk/age.ts'
import { errorText } from '../disk/file-facts.ts'
import { replaceFile } from '../disk/write.ts'
import { mayGetWork, type Occasion } from '../hosts/payload.ts'
import { commandLine, personNote, rootOptionFor } from '../kernel/command-line.ts'
import { WORKFLOW_FOLDER } from '../kernel/files.ts'
import { approval, quote } from '../kernel/text.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { runCommandLine, type SearchProblem, type TaskFolder, taskWord } from '../project/task-folder.ts'
import { type RunStop, runningCheck, takeTurn } from '../run/drive.ts'
import { needOf } from '../run/machine/position.ts'
import type { DuePrompt, DueWork } from '../run/machine/prompt.ts'
import type { WorkflowState } from '../run/machine/state.ts'
import { PROMPT_TEXT, planningNotice, TURN_ENDS } from '../run/run-messages.ts'
import { findActiveRuns, unusableNotice, unusableRecord, updateRunWait } from '../run/store/active-runs.ts'
import { stateDisplayPath } from '../run/store/state-store.ts'
import { REASON_LIMIT } from '../stop/answer.ts'
import { ALERT_TEXT, unsettledRunsNotice } from '../stop/stop-messages.ts'

/** Loaded only if there is a run file. `Stop` observes too: a SubagentStop can be missing. */

export { findActiveRuns, listUnfinishedRuns, noteSessionStarts } from '../run/store/active-runs.ts'

/** Never throws. */
export function updateRunWaits(roots: readonly string[], occasion: Occasion) {
  const recorded: Recorded[] = []
  const failed: SearchProblem[] = []
  for (const { folder, state } of findActiveRuns(roots, occasion).runs) {
    if (state.wait === undefined) continue
    try {
      recorded.push(...updateRunWait(folder, occasion, 'command'))
    } catch (error) {
      failed.push({ path: stateDisplayPath(folder), detail: errorText(error) })
    }
  }
  return { recorded, failed }
}

/** Only the first run may send a prompt. Never throws. */
export function driveRuns(roots: readonly string[], occasion: Occasion, isBlocked: boolean) {
  let prompt: string | undefined
  let isHeard = false
  let promptLine: string | undefined
  const notices: string[] = []
  const alerts: string[] = []
  const recorded: Recorded[] = []
  const { runs, problems: unusable } = findActiveRuns(roots, occasion)
  for (const [index, { folder }] of runs.entries()) {
    if (isPast(occasion.deadline)) {
      notices.push(unsettledRunsNotice(runs.length - index))
      break
    }
    try {
      const turn = takeTurn(folder, runStopOf(occasion, isBlocked || isHeard || prompt !== undefined))
      if (turn.command === 'none') continue
      if (turn.asksToWait) prompt = askText(folder, occasion, turn.state)
      if (turn.due !== undefined) {
        prompt = promptFor(folder, turn.due)
        promptLine = PROMPT_TEXT.follows(turn.due.line, `${commandFor(occasion, folder)('stop')} --now`)
      }
      isHeard ||= turn.hears
      const said = reportTurn(occasion, folder, turn, isBlocked)
      notices.push(...said.notices)
      alerts.push(...said.alerts)
      recorded.push(...turn.entries.map((entry) => ({ root: folder.root, entry })))
    } catch (error) {
      const { root, task } = folder
      unusable.push({ root, path: stateDisplayPath(folder), task, detail: errorText(error) })
    }
  }
  notices.unshift(...unusable.map(unusableNotice))
  recorded.unshift(...unusable.map(unusableRecord))
  return { prompt, promptLine, notices, alerts, recorded }
}

function commandFor({ reader }: Occasion, folder: TaskFolder): (word: string) => string {
  const rootOption = rootOptionFor(reader, folder.root)
  return (word) => runCommandLine(folder, word, rootOption)
}

type Turn = Exclude<ReturnType<typeof takeTurn>, { command: 'none' }>

function reportTurn(occasion: Occasion, folder: TaskFolder, turn: Turn, isBlocked: boolean) {
  const notices: string[] = []
  const alerts: string[] = []
  const command = commandFor(occasion, folder)
  const workflow = `the workflow of task ${quote(folder.task, 80)}`
  if (turn.unfinished) {
    notices.push(
      `postflight-guard: ${workflow} could not check all finished phases in time, so the stop was allowed. It continues at the next stop.`,
    )
  }
  if (turn.hears) {
    notices.push(
      `postflight-guard: you interrupted ${workflow}, so this stop was allowed. The workflow continues after your next message; \`${quote(`${command('stop')} --now`)}\` ends it.`,
    )
  }
  const { outcome = '', why } = turn.state
  const need = needOf(turn.state)
  if (!isBlocked && need.kind === 'prompt' && occasion.payload.isPlanning && occasion.payload.event === 'Stop') {
    notices.push(planningNotice(workflow))
  }
  if (turn.command === 'finish') {
    const reason = why === undefined ? '' : `: ${quote(why)}`
    const resume = need.kind === 'resume' ? ` \`${quote(command('resume'))}\` continues it.` : ''
    notices.push(`postflight-guard: ${workflow} has ended (${outcome})${reason}.${resume}`)
    if (outcome === 'stalled' || outcome === 'failed') alerts.push(ALERT_TEXT.runEnded(taskWord(folder), outcome))
    // The user does not see a notice at a sub-agent's stop.
  } else if (need.kind === 'approval' && occasion.payload.event === 'Stop') {
    const todo = approval(`${folder.relative}/${need.artifact}`, command('approve'), command('reject'))
    const note = personNote(
      occasion.reader,
      ['workflow', 'approve', taskWord(folder)],
      rootOptionFor(occasion.reader, folder.root),
    )
    notices.push(`postflight-guard: ${workflow} needs your approval: ${todo}${note}. Then tell the agent to go on.`)
    alerts.push(ALERT_TEXT.needsApproval(taskWord(folder), need.phase))
  } else if (turn.wait !== undefined) alerts.push(ALERT_TEXT.waits(taskWord(folder), turn.wait.for))
  return { notices, alerts }
}

function runStopOf({ payload, startMs, deadline }: Occasion, isBlocked: boolean): RunStop {
  const isMain = payload.event === 'Stop'
  return {
    isMain,
    isNext: mayGetWork(payload) && !isBlocked,
    isBlocked,
    promptId: payload.prompt,
    followsBlock: payload.followsBlock,
    shells: payload.shellIds ?? [],
    startMs,
    isCall: payload.endingTool !== undefined,
    // Another session may have taken it over.
    drives: ({ hostSession }) => hostSession === payload.session,
    deadline,
  }
}

function askText(folder: TaskFolder, { payload, reader }: Occasion, state: WorkflowState): string {
  const wait = `${commandLine(['wait', taskWord(folder)], rootOptionFor(reader, folder.root))} --for`
  const check = runningCheck(folder, state)
  return PROMPT_TEXT.askToWait(folder.task, check === undefined ? payload.shells : [check.run], wait)
}

function promptFor(folder: TaskFolder, due: DuePrompt): string {
  if (due.batch !== undefined) {
    if (due.prompt.length <= REASON_LIMIT) return due.prompt
    const parts = due.batch.map((work, index) => ({ ...work, prompt: inFile(folder, `prompt-${index + 1}.md`, work) }))
    return `${due.prompt.split('\n', 1)[0]}\n\n${PROMPT_TEXT.batch(parts, TURN_ENDS.batch)}`
  }
  const isHandedOn = due.agent !== undefined || due.model !== undefined
  const dispatch = isHandedOn ? `${PROMPT_TEXT.dispatch(due.agent, due.model)}\n\n` : ''
  const whole = dispatch + due.prompt
  return whole.length <= REASON_LIMIT ? whole : dispatch + inFile(folder, 'prompt.md', due)
}

function inFile(folder: TaskFolder, name: string, { prompt }: DueWork): string {
  const file = path.join(folder.path, WORKFLOW_FOLDER, name)
  // After a power cut the prompt is sent again.
  replaceFile(file, `${prompt}\n`, { durable: false })
  return PROMPT_TEXT.inFile(file)
}
