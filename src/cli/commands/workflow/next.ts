import { shellIdentity } from '../../../hosts/index.ts'
import { commandLine } from '../../../kernel/command-line.ts'
import { since } from '../../../marker/check-messages.ts'
import { type CommandContext, type CommandResult, recordInJournal } from '../../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../../project/task-folder.ts'
import { LOOKS_ONLY, settleWait } from '../../../run/machine/agent-stop.ts'
import { awaitsApproval, fileToApprove } from '../../../run/machine/approval.ts'
import { isResumable } from '../../../run/machine/control.ts'
import { currentPhase } from '../../../run/machine/position.ts'
import { stepsOf } from '../../../run/machine/prompt.ts'
import type { WorkflowState } from '../../../run/machine/state.ts'
import { DRIVER_TEXT, PHASE_CHECK_TEXT, STATUS_TEXT } from '../../../run/run-messages.ts'
import { peekTurn } from '../../../run/store/peek.ts'
import { checkStanding, runPhaseCheck } from '../../../run/store/phase-check.ts'
import { requireState } from '../../../run/store/state-store.ts'
import { requireTrust } from '../../../run/store/trust.ts'
import { type Look, type NoTurn, type Turn, takeTurn, turnEntry } from '../../../run/store/turn.ts'
import type { NextDocument } from '../../../views/documents/workflow/next.ts'
import { exitCodeOf } from '../../../views/run-view.ts'
import { NEXT_TEXT } from '../../../views/run-view-messages.ts'
import { dueData } from '../../workflow/due-data.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'
import { trusterOf } from '../../workflow/runner.ts'

/** `postflight workflow next`: drives a run without hooks. */

export interface NextOptions {
  readonly peek: boolean
  /** The time (ms) that the check of a phase may take. */
  readonly timeout: number
}

/**
 * Looks at the results of the last prompt and prints the next one. Only its own session drives a run: for others the
 * answer is `wait`, and nothing is counted.
 */
export async function next(
  context: CommandContext,
  task: string,
  options: NextOptions,
): Promise<CommandResult<NextDocument>> {
  const folder = requireRunFolder(context, task)
  const caller = shellIdentity(context.environment)?.session
  const asking = { sinceMs: context.findStart(), patience: 'command' } as const
  const isElsewhere = ({ active, hostSession }: WorkflowState): boolean =>
    active && hostSession !== undefined && hostSession !== caller
  // A shell does not know the host's id of the prompt, so a wait lasts as on a host without such ids.
  const event = { prompt: undefined, startMs: asking.sinceMs }
  const before = requireState(folder)
  if (!options.peek && !isElsewhere(before) && !settleWait(before, event, context.nowMs).isWaiting) {
    const waits = await checkFirst(context, folder, before, options.timeout)
    if (waits !== undefined) return waits
  }
  const look = (start: WorkflowState): Look | undefined => {
    if (isElsewhere(start)) return undefined
    if (!start.active) return { looking: GOES_ON }
    const { state: noted, isWaiting } = settleWait(start, event, context.nowMs)
    return { noted, looking: isWaiting ? LOOKS_ONLY : GOES_ON }
  }
  const turn = options.peek ? peek(folder, look, context.nowMs) : takeTurn(folder, asking, look)
  const resume = commandLine(['workflow', 'resume', taskWord(folder)], context.rootOption)
  if (turn.command === 'none') {
    const why = DRIVER_TEXT.isElsewhere(turn.state.hostSession ?? '', resume, caller !== undefined)
    return {
      exitCode: 0,
      data: { command: 'wait', ...NOTHING, why },
      lines: [NEXT_TEXT.wait(why)],
    }
  }
  const { state } = turn
  const entry = options.peek ? undefined : turnEntry(folder, turn)
  if (entry !== undefined) recordInJournal(context, folder.root, [entry])
  if (turn.command === 'wait' && state.wait !== undefined) return wait(STATUS_TEXT.waits(state.wait.for), 0)
  if (awaitsApproval(state)) {
    const [approve, reject] = ['approve', 'reject'].map((word) =>
      commandLine(['workflow', word, taskWord(folder)], context.rootOption),
    )
    return wait(
      NEXT_TEXT.awaitsApproval(state.phase, fileToApprove(state, folder.relative), approve ?? '', reject ?? ''),
      0,
    )
  }
  const lines = [
    ...turnLines(turn),
    ...(turn.command === 'finish' && isResumable(state) ? [STATUS_TEXT.resumes(resume)] : []),
  ]
  return { exitCode: exitCodeOf(turn.state), data: turnData(turn), lines, essential: lines }
}

/** Runs the check of the phase if it is due. Returns the answer where nothing can be decided now. */
async function checkFirst(
  context: CommandContext,
  folder: TaskFolder,
  state: WorkflowState,
  limitMs: number,
): Promise<CommandResult<NextDocument> | undefined> {
  const { run } = currentPhase(state).check
  if (run === undefined || checkStanding(folder, state).kind !== 'due') return undefined
  requireTrust(folder, state, trusterOf(context))
  const done = await runPhaseCheck(folder, state, { limitMs, obeysSignals: true })
  if (done.kind === 'busy') return wait(PHASE_CHECK_TEXT.running(run, since(done.sinceMs, context.nowMs)), 0)
  if (done.kind === 'ran') recordInJournal(context, folder.root, [done.entry])
  return done.kind === 'ran' && done.check.failure?.kind === 'interrupted'
    ? wait(PHASE_CHECK_TEXT.interrupted(run), 1)
    : undefined
}

function wait(why: string, exitCode: 0 | 1): CommandResult<NextDocument> {
  const lines = [NEXT_TEXT.wait(why)]
  return { exitCode, data: { command: 'wait', ...NOTHING, why }, lines, essential: lines }
}

function peek(folder: TaskFolder, look: (state: WorkflowState) => Look | undefined, nowMs: number): Turn | NoTurn {
  const state = requireState(folder)
  const looked = look(state)
  return looked === undefined
    ? { state, command: 'none' }
    : peekTurn(folder, looked.noted ?? state, { ...looked.looking, nowMs })
}

/** The work of the last prompt is over, and the next one may go out. */
const GOES_ON = { returned: true, mayPrompt: true } as const

const NOTHING = {
  phase: null,
  step: null,
  attempt: null,
  prompt: null,
  agent: null,
  model: null,
  artifact: null,
  batch: null,
  outcome: null,
  why: null,
}

function turnData({ command, due, state }: Turn): NextDocument {
  if (due === undefined) return { command, ...NOTHING, outcome: state.outcome ?? null, why: state.why ?? null }
  return { command, ...NOTHING, ...dueData(due) }
}

function turnLines({ command, due, state }: Turn): string[] {
  if (due === undefined) {
    return command === 'finish'
      ? [NEXT_TEXT.finish(state.outcome ?? '', state.why)]
      : [NEXT_TEXT.wait(NEXT_TEXT.nothingToDo)]
  }
  if (due.batch !== undefined) return [NEXT_TEXT.batch(due.phase, stepsOf(due)), '', due.prompt]
  return [
    NEXT_TEXT.prompt(due.phase, due.step, due.attempt),
    ...(due.agent === undefined ? [] : [NEXT_TEXT.agent(due.agent)]),
    ...(due.model === undefined ? [] : [NEXT_TEXT.model(due.model)]),
    '',
    due.prompt,
  ]
}
