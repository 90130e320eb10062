import { END, isArtifactPath, isPhaseId } from './definition.ts'
import { followers, phasesOnLoops, reachable } from './graph.ts'
import { schemaFaults } from './json-schema.ts'
import { RULE_TEXT } from './messages.ts'
import { unknownPlaceholders } from './prompt.ts'
import type { DefinitionFile, FaultPath, PhaseFile } from './schema.ts'

/** What a definition of the right shape must also keep to, and what in it is suspicious. */

/** A fault, or a warning, with its place. */
export interface Finding {
  readonly path: FaultPath
  readonly detail: string
}

/** Every fault and every warning. */
export function checkRules(file: DefinitionFile): { faults: Finding[]; warnings: Finding[] } {
  const ids = new Set([END, ...file.phases.map((phase) => phase.id)])
  const faults = [...file.phases.flatMap((phase, index) => phaseFaults(phase, index, ids)), ...twins(file)]
  return { faults, warnings: faults.length === 0 ? warningsOf(file) : [] }
}

function phaseFaults(phase: PhaseFile, index: number, ids: ReadonlySet<string>): Finding[] {
  const found: Finding[] = []
  const fault = (path: FaultPath, detail: string): void => {
    found.push({ path: ['phases', index, ...path], detail })
  }
  if (!isPhaseId(phase.id)) fault(['id'], RULE_TEXT.id(phase.id))
  if (phase.prompt !== undefined && phase.prompt_file !== undefined) fault(['prompt_file'], RULE_TEXT.both('prompt'))
  if (phase.step_prompt !== undefined && phase.step_prompt_file !== undefined) {
    fault(['step_prompt_file'], RULE_TEXT.both('step_prompt'))
  }
  if (phase.artifact === undefined && phase.steps === undefined) fault([], RULE_TEXT.leavesNothing)
  if (phase.steps === undefined) {
    if (phase.prompt === undefined && phase.prompt_file === undefined) fault([], RULE_TEXT.noPrompt)
    for (const name of ['step_prompt', 'step_prompt_file', 'max_step_attempts', 'on_exhausted'] as const) {
      if (phase[name] !== undefined) fault([name], RULE_TEXT.needsSteps(name))
    }
  }
  if (phase.artifact !== undefined && !isArtifactPath(phase.artifact))
    fault(['artifact'], RULE_TEXT.path(phase.artifact))
  if (phase.artifact === undefined && phase.check !== undefined) fault(['check'], RULE_TEXT.needsArtifact('check'))
  for (const name of ['prompt_file', 'step_prompt_file'] as const) {
    const value = phase[name]
    if (value !== undefined && !isArtifactPath(value)) fault([name], RULE_TEXT.path(value))
  }
  for (const name of ['prompt', 'step_prompt'] as const) {
    for (const unknown of unknownPlaceholders(phase[name] ?? '')) fault([name], RULE_TEXT.placeholder(unknown))
  }
  for (const one of phase.check?.json_schema === undefined ? [] : schemaFaults(phase.check.json_schema)) {
    fault(['check', 'json_schema', ...one.at.split('/').slice(1)], RULE_TEXT.keyword(one.keyword))
  }
  const { steps, next } = phase
  if (steps !== undefined && !Array.isArray(steps) && !isArtifactPath(steps.from)) {
    fault(['steps', 'from'], RULE_TEXT.path(steps.from))
  }
  if (typeof next === 'string' && !ids.has(next)) fault(['next'], RULE_TEXT.target(next))
  if (typeof next === 'object') {
    if (phase.artifact === undefined) fault(['next'], RULE_TEXT.needsArtifact('a verdict'))
    for (const way of ['pass', 'fail'] as const) {
      if (!ids.has(next[way])) fault(['next', way], RULE_TEXT.target(next[way]))
    }
  }
  return found
}

/** Names that some file system cannot tell apart are one name. */
function twins(file: DefinitionFile): Finding[] {
  const seen = new Set<string>()
  const found: Finding[] = []
  for (const [index, phase] of file.phases.entries()) {
    for (const name of ['id', 'artifact'] as const) {
      const value = phase[name]
      if (value === undefined) continue
      const key = `${name} ${value.toLowerCase()}`
      const detail = name === 'id' ? RULE_TEXT.twin(value) : RULE_TEXT.twinArtifact(value)
      if (seen.has(key)) found.push({ path: ['phases', index, name], detail })
      seen.add(key)
    }
  }
  return found
}

function warningsOf(file: DefinitionFile): Finding[] {
  const edges = followers(file)
  const reached = reachable(edges)
  const looping = phasesOnLoops(edges)
  const made = new Set(file.phases.map((phase) => phase.artifact))
  return file.phases.flatMap((phase, index) => {
    const found: Finding[] = []
    if (!reached.has(index)) found.push({ path: ['phases', index, 'id'], detail: RULE_TEXT.unreachable(phase.id) })
    if (phase.steps !== undefined && !Array.isArray(phase.steps) && !made.has(phase.steps.from)) {
      found.push({ path: ['phases', index, 'steps', 'from'], detail: RULE_TEXT.unmade(phase.steps.from) })
    }
    if (looping.has(index) && phase.max_visits === undefined) {
      found.push({ path: ['phases', index, 'id'], detail: RULE_TEXT.unbounded(phase.id) })
    }
    return found
  })
}
