import path from 'node:path'
import { inspectNamed, readInside } from '../../disk/folders.ts'
import { requireText } from '../../disk/read.ts'
import { FILE_DETAILS } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { type Finding, firstOf, type PlacedFinding, readYamlText } from '../../kernel/yaml-text.ts'
import { type Definition, readDefinition, snapshotOf } from '../definition/definition.ts'
import { isInsidePath, unknownPlaceholders } from '../definition/definition-limits.ts'
import { RULE_TEXT } from '../definition/definition-messages.ts'
import { checkDefinition, namesIn } from '../definition/definition-rules.ts'
import { type DefinitionFile, MAX_PROMPT_LENGTH } from '../definition/definition-schema.ts'

/** In bytes. */
const DEFINITION_LIMIT = 8_388_608
/** A state file may be twice as large: it also holds steps from artifacts. */
const SNAPSHOT_MEBIBYTES = 16

/** `isPartial`: the rest is checked only once these faults are fixed. */
export function loadDefinition(file: string) {
  const read = readYamlText(requireText(file, file, DEFINITION_LIMIT), /\.json$/i.test(file))
  if ('faults' in read) return partly(read.faults)
  const { value, place } = read
  const checked = checkDefinition(value)
  if (checked.file === undefined) return partly(place(checked.faults))
  const prompts = readPromptFiles(checked.file, path.dirname(file))
  const faults = place([...checked.faults, ...prompts.faults])
  const warnings = place(checked.warnings)
  const definition = faults.length > 0 ? undefined : makeReady(checked.file, prompts.texts)
  if (faults.length === 0 && definition === undefined) {
    faults.push(...place([{ path: [], detail: RULE_TEXT.definitionTooLong(SNAPSHOT_MEBIBYTES) }]))
  }
  return { faults, warnings, definition, isPartial: false }
}

function partly(faults: readonly PlacedFinding[]) {
  return { faults, warnings: [], definition: undefined, isPartial: true }
}

export function requireDefinition(file: string, shown: string): Definition {
  const { definition, faults } = loadDefinition(file)
  if (definition !== undefined) return definition
  throw new PostflightError('workflow-definition', { path: shown, ...firstOf(faults) })
}

/** Returns undefined if it would not fit into a state file. */
function makeReady(file: DefinitionFile, texts: ReadonlyMap<string, string>): Definition | undefined {
  const text = JSON.stringify(snapshotOf(file, (name) => texts.get(name)))
  if (Buffer.byteLength(text) > SNAPSHOT_MEBIBYTES * 1_048_576) return undefined
  // Reads it as from a state file.
  const definition = readDefinition(JSON.parse(text))
  if (definition === undefined) throw new Error('the snapshot of a checked definition is invalid')
  return definition
}

function readPromptFiles(file: DefinitionFile, folder: string) {
  const texts = new Map<string, string>()
  const faults: Finding[] = []
  const names = namesIn(file)
  for (const [index, phase] of file.phases.entries()) {
    for (const key of ['prompt_file', 'step_prompt_file'] as const) {
      const name = phase[key]
      // The rules report a path that leads outside.
      if (name === undefined || !isInsidePath(name)) continue
      const fault = (detail: string): void => {
        faults.push({ path: ['phases', index, key], detail: RULE_TEXT.promptFile(name, detail) })
      }
      const read = readInside(folder, name, MAX_PROMPT_LENGTH, inspectNamed)
      if (read.kind !== 'text') fault(read.kind === 'absent' ? FILE_DETAILS.missing : read.detail)
      else if (read.text === '') fault(RULE_TEXT.promptEmpty)
      else if (!read.whole) fault(RULE_TEXT.promptTooLong(MAX_PROMPT_LENGTH))
      else {
        texts.set(name, read.text)
        for (const unknown of unknownPlaceholders(read.text, names(phase))) fault(RULE_TEXT.placeholder(unknown))
      }
    }
  }
  return { texts, faults }
}
