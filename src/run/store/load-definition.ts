import path from 'node:path'
import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml'
import { lookForNamed, readInside } from '../../disk/inside.ts'
import { readSmallFile } from '../../disk/read.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { FILE_DETAILS } from '../../kernel/file-messages.ts'
import { cut, inLine } from '../../kernel/text.ts'
import { type Definition, readDefinition } from '../definition/definition.ts'
import { isInsidePath } from '../definition/definition-limits.ts'
import { RULE_TEXT, SYNTAX_TEXT } from '../definition/definition-messages.ts'
import { checkDefinition, type DefinitionFinding, namesIn } from '../definition/definition-rules.ts'
import { type DefinitionFile, type FaultPath, MAX_PROMPT_LENGTH } from '../definition/definition-schema.ts'
import { jsonFault, twinKey, yamlFault } from '../definition/definition-syntax.ts'
import { unknownPlaceholders } from '../definition/placeholders.ts'
import { snapshotOf } from '../definition/snapshot.ts'

/** Reads and checks definition files, JSON or YAML; every finding has a line and a column. */

/** The size of the largest definition file that is read, in bytes. */
const DEFINITION_LIMIT = 8_388_608

/** The size of the largest snapshot. A state file may be twice as large: it also holds the steps taken from an artifact. */
const SNAPSHOT_MEBIBYTES = 16

/** A fault or a warning with its place in the file; lines and columns count from 1. */
export interface PlacedFinding {
  readonly line: number
  readonly column: number
  readonly where: string
  readonly detail: string
}

/** The findings in a definition file, and its definition. */
export interface LoadedDefinition {
  readonly faults: readonly PlacedFinding[]
  readonly warnings: readonly PlacedFinding[]
  /** The definition, ready to run; undefined where there are faults. */
  readonly definition: Definition | undefined
}

/** Reads and checks a definition. @throws {PostflightError} `file-unreadable` when the file cannot be read. */
export function loadDefinition(file: string): LoadedDefinition {
  const read = readSmallFile(file, DEFINITION_LIMIT)
  if (read.kind !== 'text' || !read.whole) {
    const detail = read.kind === 'absent' ? 'ENOENT' : read.kind === 'text' ? FILE_DETAILS.tooLarge : read.detail
    throw new PostflightError('file-unreadable', { path: file, detail })
  }
  try {
    return checkText(file, read.text.replace(/^\ufeff/, ''))
  } catch (error) {
    // The parsers are recursive: deep nesting exhausts the stack.
    if (!(error instanceof RangeError)) throw error
    const tooDeep = { line: 1, column: 1, where: '', detail: SYNTAX_TEXT.tooDeep }
    return { faults: [tooDeep], warnings: [], definition: undefined }
  }
}

function checkText(file: string, text: string): LoadedDefinition {
  const lines = new LineCounter()
  // YAML 1.2 includes JSON, so one parser gives places for both. Its warnings would go to stderr.
  const options = {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    logLevel: 'error',
    uniqueKeys: false,
  } as const
  const document = parseDocument(text, options)
  const placeAt = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const syntax = (/\.json$/i.test(file) ? jsonFault(text) : undefined) ?? yamlFault(document) ?? twinKey(document)
  if (syntax !== undefined) {
    const fault = { ...placeAt(syntax.offset), where: '', detail: inLine(cut(syntax.detail, 300)) }
    return { faults: [fault], warnings: [], definition: undefined }
  }
  const place = ({ path: at, detail }: DefinitionFinding): PlacedFinding => ({
    ...placeAt(offsetOf(document.contents, at)),
    where: inLine(at.join('.')),
    detail: inLine(detail),
  })
  const inOrder = (findings: readonly DefinitionFinding[]): PlacedFinding[] =>
    findings.map(place).sort((one, other) => one.line - other.line || one.column - other.column)
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    return { faults: [place({ path: [], detail: (error as Error).message })], warnings: [], definition: undefined }
  }
  const unbounded = boundFault(value)
  if (unbounded !== undefined)
    return { faults: [place({ path: [], detail: unbounded })], warnings: [], definition: undefined }
  const checked = checkDefinition(value)
  if (checked.file === undefined) return { faults: inOrder(checked.faults), warnings: [], definition: undefined }
  const prompts = readPromptFiles(checked.file, path.dirname(file))
  const faults = inOrder([...checked.faults, ...prompts.faults])
  const warnings = inOrder(checked.warnings)
  if (faults.length > 0) return { faults, warnings, definition: undefined }
  const definition = makeReady(checked.file, prompts.texts)
  return definition === undefined
    ? { faults: [place({ path: [], detail: RULE_TEXT.definitionTooLong(SNAPSHOT_MEBIBYTES) })], warnings, definition }
    : { faults, warnings, definition }
}

/** The maximum number of values in a definition, and of levels. Aliases may repeat values, and lead in a circle. */
const MAX_VALUES = 1_000_000
const MAX_LEVELS = 100

/** Why a value is too much to be checked. */
function boundFault(top: unknown): string | undefined {
  const open: (readonly [value: unknown, level: number])[] = [[top, 0]]
  let count = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, level] = next
    if (typeof value !== 'object' || value === null) continue
    if (level === MAX_LEVELS) return SYNTAX_TEXT.tooDeep
    const parts = Object.values(value)
    count += parts.length
    if (count > MAX_VALUES) return SYNTAX_TEXT.tooManyValues
    for (const part of parts) open.push([part, level + 1])
  }
  return undefined
}

/**
 * The definition, ready to run.
 * @throws {PostflightError} `workflow-definition` with the first fault, `file-unreadable`.
 */
export function requireDefinition(file: string, shown: string): Definition {
  const { definition, faults } = loadDefinition(file)
  if (definition !== undefined) return definition
  const [{ line, column, where, detail }, ...others] = faults as readonly [PlacedFinding, ...PlacedFinding[]]
  throw new PostflightError('workflow-definition', {
    path: shown,
    place: `:${line}:${column}`,
    detail: where === '' ? detail : `${where}: ${detail}`,
    more: others.length,
  })
}

/** The definition, ready to run; undefined when it is too large for a state file. */
function makeReady(file: DefinitionFile, texts: ReadonlyMap<string, string>): Definition | undefined {
  const text = JSON.stringify(snapshotOf(file, (name) => texts.get(name)))
  if (Buffer.byteLength(text) > SNAPSHOT_MEBIBYTES * 1_048_576) return undefined
  // The same reading as from the state file.
  const definition = readDefinition(JSON.parse(text))
  if (definition === undefined) throw new Error('the snapshot of a checked definition is invalid')
  return definition
}

function readPromptFiles(
  file: DefinitionFile,
  folder: string,
): { texts: Map<string, string>; faults: DefinitionFinding[] } {
  const texts = new Map<string, string>()
  const faults: DefinitionFinding[] = []
  const names = namesIn(file)
  for (const [index, phase] of file.phases.entries()) {
    for (const key of ['prompt_file', 'step_prompt_file'] as const) {
      const name = phase[key]
      // A path that leads outside is reported by the rules, and not followed here.
      if (name === undefined || !isInsidePath(name)) continue
      const at = ['phases', index, key]
      const read = readInside(folder, name, MAX_PROMPT_LENGTH, lookForNamed)
      if (read.kind !== 'text') {
        const detail = read.kind === 'absent' ? FILE_DETAILS.missing : read.detail
        faults.push({ path: at, detail: RULE_TEXT.promptFile(name, detail) })
      } else if (!read.whole) {
        faults.push({ path: at, detail: RULE_TEXT.promptFile(name, RULE_TEXT.promptTooLong(MAX_PROMPT_LENGTH)) })
      } else {
        texts.set(name, read.text)
        for (const unknown of unknownPlaceholders(read.text, names(phase))) {
          faults.push({ path: at, detail: RULE_TEXT.promptFile(name, RULE_TEXT.placeholder(unknown)) })
        }
      }
    }
  }
  return { texts, faults }
}

/** The offset of the last part of a path that exists: the key of a pair, or an entry of a list. */
function offsetOf(contents: unknown, at: FaultPath): number {
  let node = contents
  let offset = startOf(node)
  for (const part of at) {
    if (isMap(node)) {
      const pair = node.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === part)
      if (pair === undefined) return offset
      offset = startOf(pair.key)
      node = pair.value
      continue
    }
    const items: unknown = (node as { items?: unknown } | null)?.items
    if (!Array.isArray(items)) return offset
    node = items[Number(part)]
    offset = startOf(node)
  }
  return offset
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}
