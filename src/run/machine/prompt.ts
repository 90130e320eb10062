import { cut, oneLine, stripControl } from '../../kernel/text.ts'
import { ARTIFACT_OF, fill, INPUT_OF, type PLACEHOLDERS, STEP_FIELD } from '../definition/definition-limits.ts'
import type { Next, Phase } from '../definition/phase-fields.ts'
import { MAX_STEP_LENGTH, namedByStep, stepAsText, stepField } from '../definition/steps.ts'
import { PROMPT_TEXT, stepWords, TURN_ENDS } from '../run-messages.ts'
import {
  currentPhase,
  isFromBefore,
  isInStep,
  isRejected,
  rejectedBecause,
  stepAt,
  stepLine,
  stepResultFile,
  stepsOut,
  withBatch,
} from './position.ts'
import { visitsOf, type WorkflowState } from './state.ts'
import type { StepInWork } from './state-fields.ts'

/** In characters. */
export const PROMPT_LIMIT = 60_000

export type DueWork = Readonly<ReturnType<typeof dueWork>>

export interface DuePrompt extends DueWork {
  readonly phase: string
  /** Several steps at once: `prompt` contains all; the other fields are the first one's. */
  readonly batch: readonly DueWork[] | undefined
}

export type TurnEnds = Readonly<Record<keyof typeof TURN_ENDS, string>>

export interface TaskLocation {
  readonly task: string
  /** Absolute: an agent may have left the project's folder. */
  readonly folder: string
  readonly checkCommand?: string
  /** For a run without a hook that sends the next prompt. */
  readonly turnEnds?: TurnEnds | undefined
}

export function duePrompt(state: WorkflowState, location: TaskLocation): DuePrompt {
  const phase = currentPhase(state)
  const steps = isInStep(state) ? stepsOut(withBatch(state, phase)) : []
  const [first, ...others] = steps.map((step) => dueWork(state, phase, location, step))
  if (first === undefined) return { phase: phase.id, ...dueWork(state, phase, location), batch: undefined }
  if (others.length === 0) return { phase: phase.id, ...first, batch: undefined }
  const batch = [first, ...others]
  const titled = (words: string): string => PROMPT_TEXT.batchTitle(...namesOf(state, location), phase.id, words)
  const wordsWith = (texts: string[]): string => stepWords(stepsOf({ batch }), state.totalSteps, texts)
  const words = wordsWith(steps.map(({ step }) => stepLine(state, step)))
  const prompt = `${titled(wordsWith([]))}\n\n${PROMPT_TEXT.batch(batch, turnEndOf(location, 'batch'))}`
  return { phase: phase.id, ...first, words, line: titled(words), prompt, batch }
}

export function stepsOf({ batch = [] }: Pick<DuePrompt, 'batch'>): number[] {
  return batch.map(({ step }) => step ?? 0)
}

/**
 * `work`: undefined for the phase's own prompt. Steps and attempts of the result count from 1; `words`, for people: "step 3
 * of 8: add the route"; `artifact`: path in the task folder.
 */
function dueWork(state: WorkflowState, phase: Phase, location: TaskLocation, work?: StepInWork) {
  const own = { attempts: state.phaseAttempts, maxAttempts: state.maxPhaseAttempts, failure: state.lastFailure }
  const { attempts, maxAttempts, failure } = work ?? own
  const attempt = attempts + 1
  const artifact = work === undefined ? (phase.artifact ?? '') : stepResultFile(phase, work.step)
  const titled = (words: string | undefined): string =>
    PROMPT_TEXT.title(...namesOf(state, location), phase.id, words, attempt, maxAttempts)
  const wordsWith = (texts: string[]): string | undefined => work && stepWords([work.step + 1], state.totalSteps, texts)
  const words = wordsWith(work === undefined ? [] : [stepLine(state, work.step)])
  const target = `${location.folder}/${artifact}`
  const prompt = joined(titled(wordsWith([])), filled(state, phase, location, work), [
    ...entryReasons(state, location),
    ...failureTexts(state, failure, work === undefined && isFromBefore(state)),
    ...(work === undefined ? ownDemands(phase, target, location) : stepDemands(phase, target, location)),
  ])
  const step = work === undefined ? '' : stepAt(state, work.step)
  const agent = namedByStep(step, 'agent') ?? phase.agent
  const model = namedByStep(step, 'model') ?? phase.model
  return { step: work && work.step + 1, words, line: titled(words), attempt, prompt, agent, model, artifact }
}

function ownDemands(phase: Phase, target: string, location: TaskLocation): string[] {
  const written = PROMPT_TEXT.artifact(target, demands(phase))
  const { run } = phase.check
  if (run === undefined) return [written, turnEndOf(location, 'alone')]
  const last = `${turnEndOf(location, 'afterCheck')} ${PROMPT_TEXT.checkVoid}`
  return [written, PROMPT_TEXT.check(run, location.checkCommand ?? ''), last]
}

function stepDemands({ stepCheck: { jsonSchema } }: Phase, target: string, location: TaskLocation): string[] {
  const schema = jsonSchema === undefined ? [] : [PROMPT_TEXT.stepSchema(JSON.stringify(jsonSchema))]
  return [PROMPT_TEXT.stepResult(target), ...schema, turnEndOf(location, 'alone')]
}

function turnEndOf({ turnEnds = TURN_ENDS }: TaskLocation, kind: keyof TurnEnds): string {
  return turnEnds[kind]
}

function namesOf(state: WorkflowState, location: TaskLocation): [workflow: string, task: string] {
  return [oneLine(state.name, 200), oneLine(location.task, 200)]
}

/** Cuts only the template: the rest says which file decides. */
function joined(title: string, template: string, rest: readonly string[]): string {
  const [before, after] = [`${title}\n\n`, `\n\n${rest.join('\n\n')}`].map(stripControl)
  return cut(`${before}${cut(stripControl(template), PROMPT_LIMIT - `${before}${after}`.length)}${after}`, PROMPT_LIMIT)
}

/** A rejection is a reason until the next artifact: steps and failed attempts may come before. */
function failureTexts(state: WorkflowState, failure: string | undefined, isBefore = false): string[] {
  const shown = (why: string): string => cut(stripControl(why).trim(), 3000)
  const last = failure === undefined ? [] : [PROMPT_TEXT[isBefore ? 'before' : 'failure'](shown(failure))]
  if (!isRejected(state)) return last
  const rejection = rejectedBecause(state.approval?.note ?? '')
  return rejection === failure ? last : [PROMPT_TEXT.earlierFailure(shown(rejection)), ...last]
}

function filled(state: WorkflowState, phase: Phase, location: TaskLocation, work: StepInWork | undefined): string {
  const step = work === undefined ? undefined : stepAt(state, work.step)
  const values: Record<(typeof PLACEHOLDERS)[number], string> = {
    workflow: state.name,
    task: location.task,
    task_folder: location.folder,
    phase: phase.id,
    visit: String(visitsOf(state, phase.id)),
    attempt: String((work?.attempts ?? state.phaseAttempts) + 1),
    max_attempts: String(work?.maxAttempts ?? state.maxPhaseAttempts),
    artifact: pathOf(location, phase.artifact),
    previous_artifact: pathOf(location, state.previousArtifact),
    verdict: state.ledBy?.reason ?? state.ledBy?.verdict ?? '',
    step: step === undefined ? '' : cut(stepAsText(step), MAX_STEP_LENGTH),
    step_number: work === undefined ? '' : String(work.step + 1),
    total_steps: String(state.totalSteps),
    failure: (work === undefined ? state.lastFailure : work.failure) ?? '',
  }
  const known = new Map<string, string>(Object.entries(values))
  for (const { id, artifact } of state.definition.phases) known.set(`${ARTIFACT_OF}${id}`, pathOf(location, artifact))
  for (const [name, value] of Object.entries(state.inputs)) known.set(`${INPUT_OF}${name}`, value)
  const template = (work === undefined ? phase.prompt : phase.stepPrompt) ?? PROMPT_TEXT.standard(work !== undefined)
  return fill(template, (name) =>
    name.startsWith(STEP_FIELD)
      ? cut(stepField(step ?? '', name.slice(STEP_FIELD.length)), MAX_STEP_LENGTH)
      : known.get(name),
  ).trim()
}

function entryReasons(state: WorkflowState, location: TaskLocation): string[] {
  const { ledBy, previousArtifact } = state
  const visit = visitsOf(state, state.phase)
  const isFirst = visit === 1 && ledBy?.reason === undefined
  return [
    ...(ledBy === undefined || isFirst ? [] : [PROMPT_TEXT.ledBy(ledBy.phase, ledBy.verdict, ledBy.reason, visit)]),
    ...(previousArtifact === undefined ? [] : [PROMPT_TEXT.previousArtifact(pathOf(location, previousArtifact))]),
  ]
}

function pathOf({ folder }: TaskLocation, artifact: string | undefined): string {
  return artifact === undefined ? '' : `${folder}/${artifact}`
}

function demands({ check, next }: Phase): string[] {
  return [
    ...(check.minBytes === undefined ? [] : [PROMPT_TEXT.minBytes(check.minBytes)]),
    ...(check.json === true || check.jsonSchema !== undefined || next.verdict !== undefined ? [PROMPT_TEXT.json] : []),
    ...(check.jsonSchema === undefined ? [] : [PROMPT_TEXT.schema(JSON.stringify(check.jsonSchema))]),
    ...(next.verdict === undefined ? [] : [verdictDemand(next.verdict, next)]),
  ]
}

function verdictDemand(pointer: string, { cases, otherwise }: Next): string {
  if (cases === undefined) return PROMPT_TEXT.verdict(pointer)
  return PROMPT_TEXT.caseVerdict(pointer, Object.keys(cases), otherwise !== undefined)
}

export function promptRecord({ phase, words, batch, attempt }: DuePrompt, isRepeated: boolean): string {
  const facts = [phase, words, batch === undefined && `attempt ${attempt}`]
  return `prompt${isRepeated ? ' again' : ''}: ${facts.filter(Boolean).join(', ')}`
}
