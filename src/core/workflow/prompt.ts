import { PROMPT_TEXT } from '../messages/runs.ts'
import { cut, oneLine, stripControl } from '../text.ts'
import type { Phase } from './phase-fields.ts'
import { currentPhase, isInStep, stepText } from './position.ts'
import { visitsOf, type WorkflowState } from './state.ts'

/** The prompts: a template of the definition, followed by what to write to which file and what happens next. */

/** The maximum length of a prompt, in characters. */
export const PROMPT_LIMIT = 60_000

/** The placeholders of templates. */
export const PLACEHOLDERS = [
  ...['workflow', 'task', 'task_folder', 'phase', 'visit', 'attempt', 'max_attempts'],
  ...['artifact', 'previous_artifact', 'verdict', 'step', 'step_number', 'total_steps', 'failure'],
] as const

/** What begins the placeholder of another phase's artifact: `{{artifact:PHASE}}`. */
const ARTIFACT_OF = 'artifact:'

/** The unknown placeholders in a template. `makers`: the phases that have an artifact. */
export function unknownPlaceholders(template: string, makers: ReadonlySet<string>): string[] {
  const names = [...template.matchAll(/\{\{\s*([^{}]*?)\s*\}\}/g)].map((match) => String(match[1]))
  const isKnown = (name: string): boolean =>
    name.startsWith(ARTIFACT_OF)
      ? makers.has(name.slice(ARTIFACT_OF.length))
      : (PLACEHOLDERS as readonly string[]).includes(name)
  return [...new Set(names)].filter((name) => !isKnown(name))
}

/** A prompt that is due. Steps and attempts count from 1. */
export interface DuePrompt {
  readonly phase: string
  readonly step: number | undefined
  readonly attempt: number
  readonly prompt: string
  readonly agent: string | undefined
  readonly model: string | undefined
  /** The file that the agent must write: a path in the task folder. */
  readonly artifact: string
}

/** A task and its folder. */
export interface TaskPlace {
  readonly task: string
  /** The absolute path of the folder: an agent may have left the project's folder. */
  readonly folder: string
  /** The command that runs the check of a phase. */
  readonly checkCommand?: string
}

/** The result file of a step. */
export const STEP_RESULT_FILE = 'step-result.json'

/** The current prompt of a state. */
export function duePrompt(state: WorkflowState, place: TaskPlace): DuePrompt {
  const phase = currentPhase(state)
  const inStep = isInStep(state)
  const attempt = (inStep ? state.stepAttempts : state.phaseAttempts) + 1
  const limit = inStep ? state.maxStepAttempts : state.maxPhaseAttempts
  const artifact = inStep ? STEP_RESULT_FILE : (phase.artifact ?? '')
  const target = `${place.folder}/${artifact}`
  const values: Record<(typeof PLACEHOLDERS)[number], string> = {
    workflow: state.name,
    task: place.task,
    task_folder: place.folder,
    phase: phase.id,
    visit: String(visitsOf(state, phase.id)),
    attempt: String(attempt),
    max_attempts: String(limit),
    artifact: pathOf(place, phase.artifact),
    previous_artifact: pathOf(place, state.previousArtifact),
    verdict: state.ledBy?.reason ?? state.ledBy?.verdict ?? '',
    step: inStep ? stepText(state, state.currentStep) : '',
    step_number: inStep ? String(state.currentStep + 1) : '',
    total_steps: String(state.totalSteps),
    failure: state.lastFailure ?? '',
  }
  const template = (inStep ? phase.stepPrompt : phase.prompt) ?? PROMPT_TEXT.standard(inStep)
  const named = (text: string): string => oneLine(text, 200)
  const parts = [
    PROMPT_TEXT.title(
      named(state.name),
      named(place.task),
      phase.id,
      inStep ? [state.currentStep + 1, state.totalSteps] : undefined,
      attempt,
      limit,
    ),
    fill(template, { ...artifactValues(state, place), ...values }).trim(),
    ...entryReasons(state, place),
    ...(state.lastFailure === undefined
      ? []
      : [PROMPT_TEXT.failure(cut(stripControl(state.lastFailure).trim(), 3000))]),
    inStep ? PROMPT_TEXT.stepResult(target) : PROMPT_TEXT.artifact(target, demands(phase)),
    ...(inStep || phase.check.run === undefined
      ? [PROMPT_TEXT.next]
      : [PROMPT_TEXT.check(phase.check.run, place.checkCommand ?? ''), PROMPT_TEXT.nextAfterCheck]),
  ]
  const prompt = cut(stripControl(parts.join('\n\n')), PROMPT_LIMIT)
  return {
    phase: phase.id,
    step: inStep ? state.currentStep + 1 : undefined,
    attempt,
    prompt,
    agent: phase.agent,
    model: phase.model,
    artifact,
  }
}

/** Why the phase was entered again, and where its last artifact lies now. A reason is told at the first visit too. */
function entryReasons(state: WorkflowState, place: TaskPlace): string[] {
  const { ledBy, previousArtifact } = state
  const visit = visitsOf(state, state.phase)
  if (visit === 1 && ledBy?.reason === undefined) return []
  return [
    ...(ledBy === undefined ? [] : [PROMPT_TEXT.ledBy(ledBy.phase, ledBy.verdict, ledBy.reason, visit)]),
    ...(previousArtifact === undefined ? [] : [PROMPT_TEXT.previousArtifact(pathOf(place, previousArtifact))]),
  ]
}

/** The paths of all artifacts, for `{{artifact:PHASE}}`. */
function artifactValues({ definition }: WorkflowState, place: TaskPlace): Record<string, string> {
  return Object.fromEntries(
    definition.phases.map(({ id, artifact }) => [`${ARTIFACT_OF}${id}`, pathOf(place, artifact)]),
  )
}

function pathOf({ folder }: TaskPlace, artifact: string | undefined): string {
  return artifact === undefined ? '' : `${folder}/${artifact}`
}

/** The template with its values. A placeholder inside a value stays as it is. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  const known = new Map(Object.entries(values))
  return template.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (whole, name: string) => known.get(name) ?? whole)
}

function demands({ check, next }: Phase): string[] {
  return [
    ...(check.minBytes === undefined ? [] : [PROMPT_TEXT.minBytes(check.minBytes)]),
    ...(check.json === true || check.jsonSchema !== undefined || next.verdict !== undefined ? [PROMPT_TEXT.json] : []),
    ...(check.jsonSchema === undefined ? [] : [PROMPT_TEXT.schema(JSON.stringify(check.jsonSchema))]),
    ...(next.verdict === undefined ? [] : [PROMPT_TEXT.verdict(next.verdict)]),
  ]
}
