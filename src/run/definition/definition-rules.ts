import { expandPatterns, isInsidePattern, PATTERNS_TOO_WIDE } from '../../kernel/file-pattern.ts'
import type { FaultPath, Finding } from '../../kernel/yaml-text.ts'
import { MAX_SCHEMA_DEPTH, type SchemaFault, schemaFaults } from './artifact-schema.ts'
import { endless, reachedFrom, reversed, waysIn } from './definition.ts'
import {
  ARTIFACT_OF,
  END,
  INPUT_OF,
  isArtifactPath,
  isInsidePath,
  isPhaseId,
  MAX_CASE_LENGTH,
  MAX_CASES,
  MAX_FAULTS,
  MAX_INPUTS,
  PLAIN_WORD,
  STEP_FIELD,
  unknownPlaceholders,
} from './definition-limits.ts'
import { RULE_TEXT } from './definition-messages.ts'
import { checkShape, type DefinitionFile, type PhaseFile } from './definition-schema.ts'

const STEP_FIELDS = [
  ...(['step_prompt', 'step_prompt_file', 'step_check', 'parallel'] as const),
  ...(['max_step_attempts', 'max_skips', 'on_exhausted'] as const),
]

export function checkRules(file: DefinitionFile): { faults: Finding[]; warnings: Finding[] } {
  const ids = new Set([END, ...file.phases.map(({ id }) => id)])
  const names = namesIn(file)
  const faults = [
    ...inputFaults(file),
    ...file.phases.flatMap((phase, index) => phaseFaults(phase, index, ids, names(phase))),
    ...twins(file),
    ...artifactsBelowArtifacts(file),
  ]
  // If a target is unknown, or two phases have the same id, the graph of the phases is unknown.
  const isGraph = !faults.some(({ path }) => path[2] === 'next' || path[2] === 'id')
  return { faults: faults.slice(0, MAX_FAULTS), warnings: warningsOf(file, isGraph).slice(0, MAX_FAULTS) }
}

export function namesIn({ phases, inputs = {} }: DefinitionFile) {
  const known = new Set([
    ...phases.flatMap(({ id, artifact }) => (artifact === undefined ? [] : ARTIFACT_OF + id)),
    ...Object.keys(inputs).map((name) => INPUT_OF + name),
  ])
  return ({ steps }: PhaseFile) => {
    const fields = Array.isArray(steps)
      ? steps.flatMap((step) => (typeof step === 'object' ? Object.keys(step) : []))
      : []
    const stepNames = new Set(fields.map((name) => STEP_FIELD + name))
    // The fields of steps from an artifact are not known yet.
    const isOpen = steps !== undefined && !Array.isArray(steps)
    return (name: string): boolean => known.has(name) || stepNames.has(name) || (isOpen && name.startsWith(STEP_FIELD))
  }
}

function inputFaults({ inputs = {} }: DefinitionFile): Finding[] {
  const found: Finding[] = []
  const names = Object.keys(inputs)
  if (names.length > MAX_INPUTS) found.push({ path: ['inputs'], detail: RULE_TEXT.tooManyInputs(MAX_INPUTS) })
  for (const name of names) {
    const { required, default: value } = inputs[name] ?? {}
    if (!PLAIN_WORD.test(name)) found.push({ path: ['inputs', name], detail: RULE_TEXT.inputName(name) })
    if (required === true && value !== undefined) {
      found.push({ path: ['inputs', name, 'default'], detail: RULE_TEXT.requiredDefault(name) })
    }
  }
  return found
}

function phaseFaults(phase: PhaseFile, index: number, ids: ReadonlySet<string>, isKnown: (name: string) => boolean) {
  const found: Finding[] = []
  const fault = (path: FaultPath, detail: string): void => {
    found.push({ path: ['phases', index, ...path], detail })
  }
  const lacks = (...names: readonly (keyof PhaseFile)[]): boolean => names.every((name) => phase[name] === undefined)
  if (!isPhaseId(phase.id)) fault(['id'], RULE_TEXT.id(phase.id))
  if (lacks('artifact', 'steps')) fault([], RULE_TEXT.leavesNothing)
  if (lacks('artifact') && Array.isArray(phase.steps) && phase.steps.length === 0) fault(['steps'], RULE_TEXT.noSteps)
  if (lacks('steps')) {
    if (lacks('prompt', 'prompt_file')) fault([], RULE_TEXT.noPrompt)
    for (const name of STEP_FIELDS) {
      if (phase[name] !== undefined) fault([name], RULE_TEXT.needsSteps(name))
    }
  }
  if (phase.artifact !== undefined && !isArtifactPath(phase.artifact))
    fault(['artifact'], RULE_TEXT.path(phase.artifact))
  if (lacks('artifact') && phase.check !== undefined) fault(['check'], RULE_TEXT.needsArtifact('check'))
  for (const name of ['prompt', 'step_prompt'] as const) {
    const fileName = `${name}_file` as const
    const file = phase[fileName]
    if (file !== undefined && phase[name] !== undefined) fault([fileName], RULE_TEXT.both(name))
    if (file !== undefined && !isInsidePath(file)) fault([fileName], RULE_TEXT.promptPath(file))
    for (const unknown of unknownPlaceholders(phase[name] ?? '', isKnown)) fault([name], RULE_TEXT.placeholder(unknown))
  }
  if (phase.approve === true) {
    if (lacks('artifact')) fault(['approve'], RULE_TEXT.needsArtifact('approve'))
    if (phase.gate === 'advisory') fault(['approve'], RULE_TEXT.approveAdvisory)
  }
  if (phase.check?.files !== undefined && phase.check.run === undefined)
    fault(['check', 'files'], RULE_TEXT.filesNeedRun)
  const patterns = phase.check?.files ?? []
  for (const [at, pattern] of patterns.entries()) {
    if (!isInsidePattern(pattern)) fault(['check', 'files', at], RULE_TEXT.pattern(pattern))
  }
  if (patterns.every(isInsidePattern) && expandPatterns(patterns) === undefined) {
    fault(['check', 'files'], PATTERNS_TOO_WIDE)
  }
  for (const name of ['check', 'step_check'] as const) {
    const schema = phase[name]?.json_schema
    for (const one of schema === undefined ? [] : schemaFaults(schema)) {
      fault([name, 'json_schema', ...one.path], schemaFaultText(one))
    }
  }
  const { steps, next } = phase
  if (steps !== undefined && !Array.isArray(steps) && !isArtifactPath(steps.from)) {
    fault(['steps', 'from'], RULE_TEXT.path(steps.from))
  }
  for (const [at, step] of (Array.isArray(steps) ? steps : []).entries()) {
    for (const name of ['agent', 'model'] as const) {
      const value = typeof step === 'object' ? step[name] : undefined
      if (value !== undefined && typeof value !== 'string') fault(['steps', at, name], RULE_TEXT.stepText(name))
    }
  }
  if (typeof next === 'string' && !ids.has(next)) fault(['next'], RULE_TEXT.target(next, [...ids]))
  if (typeof next === 'object') {
    if (lacks('artifact')) fault(['next'], RULE_TEXT.needsArtifact('a verdict'))
    for (const [way, target] of targetsByPath(next).slice(0, MAX_CASES)) {
      if (!ids.has(target)) fault(['next', ...way], RULE_TEXT.target(target, [...ids]))
    }
    if ('cases' in next) {
      const names = Object.keys(next.cases)
      if (names.length === 0) fault(['next', 'cases'], RULE_TEXT.noCases)
      if (names.length > MAX_CASES) fault(['next', 'cases'], RULE_TEXT.tooManyCases(MAX_CASES))
      for (const name of names) {
        if (name.length > MAX_CASE_LENGTH) fault(['next', 'cases', name], RULE_TEXT.caseLength(MAX_CASE_LENGTH))
      }
      if (phase.gate === 'advisory' && next.default === undefined) fault(['next'], RULE_TEXT.advisoryCases)
    }
  }
  return found
}

function targetsByPath(next: Exclude<PhaseFile['next'], string | undefined>): [FaultPath, string][] {
  if ('pass' in next)
    return [
      [['pass'], next.pass],
      [['fail'], next.fail],
    ]
  const cases = Object.entries(next.cases).map(([name, target]): [FaultPath, string] => [['cases', name], target])
  return next.default === undefined ? cases : [...cases, [['default'], next.default]]
}

function schemaFaultText({ path, problem }: SchemaFault): string {
  const keyword = path.at(-1) ?? ''
  if (problem === 'not-schema') return RULE_TEXT.notSchema(MAX_SCHEMA_DEPTH)
  return problem === 'unknown' ? RULE_TEXT.unknownKeyword(keyword) : RULE_TEXT.valueKind(keyword, problem)
}

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

function artifactsBelowArtifacts(file: DefinitionFile): Finding[] {
  const artifacts = new Set(file.phases.map(({ artifact }) => artifact?.toLowerCase()))
  return file.phases.flatMap(({ artifact = '' }, index) => {
    const parts = artifact.split('/')
    const above = parts.slice(1).map((_, count) => parts.slice(0, count + 1).join('/'))
    const taken = above.find((one) => artifacts.has(one.toLowerCase()))
    if (taken === undefined) return []
    return [{ path: ['phases', index, 'artifact'], detail: RULE_TEXT.belowArtifact(artifact, taken) }]
  })
}

function warningsOf(file: DefinitionFile, isGraph: boolean): Finding[] {
  const ways = waysIn(file)
  const leading = reversed(ways)
  const byId = new Map(file.phases.map((phase) => [phase.id, phase]))
  const [start = ''] = ways.keys()
  const reached = reachedFrom(start, ways)
  const stuck = new Set(endless(ways, start))
  const forms = new Map<string, string>()
  return file.phases.flatMap((phase, index) => {
    const found: Finding[] = []
    const warn = (path: FaultPath, detail: string): void => {
      found.push({ path: ['phases', index, ...path], detail })
    }
    const { id } = phase
    let before: ReadonlyMap<string, string> | undefined
    const leadsHere = (from: string): boolean => {
      before ??= reachedFrom(id, leading)
      return before.has(from)
    }
    if (isGraph && id !== start && !reached.has(id)) warn(['id'], RULE_TEXT.unreachable(id))
    const isOnLoop = isGraph && phase.max_visits === undefined && reachedFrom(id, ways, id).has(id)
    if (isOnLoop) warn(['id'], RULE_TEXT.unbounded(id))
    if (isGraph && stuck.has(id)) warn(['next'], RULE_TEXT.endless(id))
    for (const target of isGraph ? (ways.get(id) ?? []) : []) {
      const steps = byId.get(target)?.steps
      const isChecklist = steps !== undefined && !Array.isArray(steps) && 'checklist' in steps
      if (isChecklist && leadsHere(target)) warn(['next'], RULE_TEXT.backToChecklist(target, steps.from))
    }
    if (phase.artifact !== undefined) {
      const other = forms.get(phase.artifact.normalize().toLowerCase())
      if (other !== undefined && other.toLowerCase() !== phase.artifact.toLowerCase()) {
        warn(['artifact'], RULE_TEXT.otherForm(phase.artifact))
      }
      forms.set(phase.artifact.normalize().toLowerCase(), phase.artifact)
    }
    if (phase.steps !== undefined && !Array.isArray(phase.steps)) {
      const { from } = phase.steps
      const makers = file.phases.filter(({ artifact }) => artifact === from)
      const isChecked = makers.every(({ check }) => check?.json_schema !== undefined)
      const isChecklist = 'checklist' in phase.steps
      // A list of tasks may have existed before the run.
      if (makers.length === 0 && isChecklist) return found
      if (makers.length === 0) warn(['steps', 'from'], RULE_TEXT.unmade(from))
      else if (isGraph && !makers.some((one) => leadsHere(one.id))) {
        warn(['steps', 'from'], RULE_TEXT.madeLater(from, phase.id))
      } else if (!isChecked && !isChecklist) warn(['steps', 'from'], RULE_TEXT.unlisted(from))
    }
    return found
  })
}

export function checkDefinition(value: unknown) {
  const shape = checkShape(value)
  if ('faults' in shape) return { faults: shape.faults, warnings: [], file: undefined }
  return { ...checkRules(shape.value), file: shape.value }
}
