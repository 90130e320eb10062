import type * as z from 'zod/mini'
import { approval, listed, quote } from '../../kernel/text.ts'
import { type CommandContext, recordInJournal } from '../../project/command-context.ts'
import { runCommandLine, type TaskFolder } from '../../project/task-folder.ts'
import { cameBack, driveRun, dueOf, peekTurn, runningCheck, type Turn } from '../../run/drive.ts'
import { needOf } from '../../run/machine/position.ts'
import { type DuePrompt, type DueWork, stepsOf, type TurnEnds } from '../../run/machine/prompt.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { RUN_OUTCOMES } from '../../run/machine/state-fields.ts'
import * as field from '../../views/documents.ts'
import { runExitCode } from '../../views/run-view.ts'
import { type Declaration, type Result, RUN_EXIT_CODES, type Run, TASK, timeoutOption } from '../command.ts'
import { checkIsRunning, publishChange, requireRunFolder } from '../runs.ts'

/** Drives a run without hooks. */

const NOTE = `
For the agent that does the work: if the last prompt left no result, this counts
an attempt. To look at a run, use \`postflight workflow status\`.`

export const declaration = {
  free: true,
  description: 'check the results of the last prompt, and print the next one',
  examples: ['workflow next 259 --json', 'workflow next 259 --peek'],
  notes: [NOTE, RUN_EXIT_CODES],
  declare: (command) =>
    command
      .argument(...TASK)
      .option('--peek', 'only print the prompt that is due now; counts no attempt and writes nothing', false)
      .addOption(timeoutOption('the time that the check of a phase may take')),
} satisfies Declaration

const workFields = () => ({
  step: field.optionalCount('Its step, from 1.'),
  attempt: field.optionalCount('Its attempt, from 1.'),
  prompt: field.optionalText('The text for the agent.'),
  agent: field.optionalText('The type of the agent to run it.'),
  model: field.optionalText('The model to run it.'),
  artifact: field.optionalText('The file that the agent must write, as a path in the task folder.'),
})

export const dueFields = () => ({
  phase: field.optionalText('The phase of the prompt.'),
  ...workFields(),
  batch: field.optional(
    field.objects(workFields()),
    'The prompts of several parallel steps, each for an agent of its own. Then `prompt` contains all of them.',
  ),
})

type WorkData = field.DocumentOf<() => z.ZodMiniObject<ReturnType<typeof workFields>, z.core.$strict>>

const NO_WORK: WorkData = { step: null, attempt: null, prompt: null, agent: null, model: null, artifact: null }

export function dueData(due: DuePrompt) {
  const { phase, batch, prompt } = due
  return batch === undefined
    ? { phase, ...workData(due), batch: null }
    : { phase, ...NO_WORK, prompt, batch: batch.map(workData) }
}

function workData({ step, attempt, prompt, agent, model, artifact }: DueWork): WorkData {
  return { step: step ?? null, attempt, prompt, agent: agent ?? null, model: model ?? null, artifact }
}

export const document = () =>
  field.object({
    command: field.described(
      field.oneOf(['prompt', 'wait', 'finish']),
      'What to do: give the prompt to an agent and ask again, ask again later, or end.',
    ),
    ...dueFields(),
    outcome: field.optional(field.oneOf(RUN_OUTCOMES), 'How the run ended.'),
    why: field.optionalText('Why it ended, or why to wait, in words.'),
  })

export const run: Run<typeof declaration, typeof document> = async (context, [task], options) => {
  const folder = requireRunFolder(context, task)
  const caller = context.session
  // A shell does not know the prompt's id, so a wait lasts as on a host without such ids.
  const occasion = cameBack(context.findStart(), ({ hostSession }) => [undefined, caller].includes(hostSession))
  const turn = options.peek
    ? peekTurn(folder, occasion, context.nowMs)
    : await driveRun(folder, {
        findOccasion: () => occasion,
        truster: context,
        check: { limitMs: options.timeout, survivesSignals: true },
        record: (entries) => recordInJournal(context, folder, ...entries),
      })
  if (!options.peek) await publishChange(context, folder)
  if (turn.command === 'checking') return wait(checkIsRunning(context, turn), 0)
  if (turn.command === 'interrupted') {
    return wait(`the check \`${quote(turn.run ?? '', 200)}\` was interrupted, so nothing was counted`, 1)
  }
  const line = (word: string): string => runCommandLine(folder, word, context.rootOption)
  const resume = line('resume')
  if (turn.command === 'none') {
    const { hostSession = '' } = turn.state
    const driver = `session ${quote(hostSession, 80)} drives this workflow; \`${line('status')}\` shows how far it is`
    const takeOver =
      caller === undefined
        ? `To take it over, run \`${resume}\` in the agent's shell, or set POSTFLIGHT_HOST_SESSION for both commands.`
        : `\`${resume}\` takes it over.`
    return wait(`${driver}. ${takeOver}`, 0)
  }
  const { command, state } = turn
  const due =
    turn.due && (await mustAsk(context, folder, state)) ? dueOf(folder, state, turnEnds(line('next'))) : turn.due
  const need = needOf(state)
  if (need.kind === 'approval') {
    const how = approval(`${folder.relative}/${need.artifact}`, line('approve'), line('reject'))
    return wait(`a person must approve the result of phase ${need.phase}: ${how}`, 0)
  }
  const check = command === 'wait' ? runningCheck(folder, state) : undefined
  if (check !== undefined) return wait(checkIsRunning(context, check), 0)
  if (command === 'wait' && turn.wait !== undefined) return wait(`waits for: ${quote(turn.wait.for, 500)}`, 0)
  const decided = due === undefined ? { outcome: state.outcome ?? null, why: state.why ?? null } : dueData(due)
  const lines = [...turnLines({ ...turn, due }), ...(need.kind === 'resume' ? [`\`${resume}\` continues it`] : [])]
  return { exitCode: runExitCode(state), data: { command, ...NOTHING, ...decided }, lines, essential: lines }
}

/** Whether no hook is known to send the next prompt. */
async function mustAsk(context: CommandContext, { root }: TaskFolder, { hostSession }: WorkflowState) {
  if (hostSession === undefined) return true
  // Loaded only for a run with a session.
  const { findMissingHook } = await import('../workflow/driver-check.ts')
  return findMissingHook(context, root, hostSession) !== undefined
}

export function turnEnds(next: string): TurnEnds {
  const alone = `Then you are done with this prompt. The orchestrating agent runs \`${next}\` again, which checks the result and prints the next prompt.`
  return { alone, afterCheck: alone, batch: `When all have finished, run \`${next}\`.` }
}

function wait(why: string, exitCode: 0 | 1): Result<typeof document> {
  const lines = [`wait: ${why}`]
  return { exitCode, data: { command: 'wait', ...NOTHING, why }, lines, essential: lines }
}

const NOTHING = { phase: null, ...NO_WORK, batch: null, outcome: null, why: null }

function turnLines({ command, due, state }: Turn): string[] {
  if (due === undefined) {
    if (command !== 'finish') return ['wait: nothing to do now']
    const { outcome = '', why } = state
    const because = why === undefined ? '' : ` (${quote(why, 500)})`
    return [`finish: ${outcome}${because}`]
  }
  const { agent, model } = due.batch === undefined ? due : {}
  return [
    dueLine(due),
    ...(agent === undefined ? [] : [`agent: ${quote(agent, 200)}`]),
    ...(model === undefined ? [] : [`model: ${quote(model, 200)}`]),
    '',
    due.prompt,
  ]
}

export function dueLine(due: DuePrompt): string {
  const { phase, step, attempt, batch } = due
  if (batch !== undefined) return `prompt: phase ${phase}, steps ${listed(stepsOf(due))} at the same time`
  const place = step === undefined ? phase : `${phase}, step ${step}`
  return `prompt: phase ${place}, attempt ${attempt}`
}
