/** The JSON Schemas of the package: what is generated for `schema/`, and what is published there. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as z from 'zod/mini'
import { journalEntryDocument } from '../../src/cli/commands/logs.ts'
import { DEFINITION_SCHEMA } from '../../src/run/definition/definition-schema.ts'
import { ERROR_DOCUMENT } from '../../src/views/documents.ts'
import { DOCUMENTS } from './command-documents.ts'
import { PACKAGE } from './process.ts'

const FOLDER = join(PACKAGE, 'schema')

/** The published file for the document of a command: `output/workflow-start.schema.json`. */
export function outputSchemaFile(command: string): string {
  return `output/${command.replaceAll(' ', '-')}.schema.json`
}

/** The zod schema and the title of every file in `schema/` that is generated. */
const SOURCES: Readonly<Record<string, readonly [schema: z.core.$ZodType, title: string]>> = {
  'workflow.schema.json': [DEFINITION_SCHEMA, 'postflight-guard workflow'],
  'journal-entry.schema.json': [journalEntryDocument(), 'postflight-guard: a line of .postflight/journal.jsonl'],
  [outputSchemaFile('error')]: [ERROR_DOCUMENT, 'postflight --json: an error'],
  ...Object.fromEntries(
    Object.entries(DOCUMENTS).map(([name, schema]) => [outputSchemaFile(name), [schema, `postflight ${name} --json`]]),
  ),
}

/** The texts that the files in `schema/` must have, by their names. */
export function generatedSchemas(): Record<string, string> {
  const texts = Object.entries(SOURCES).map(([file, [schema, title]]) => {
    const { $schema, ...rest } = z.toJSONSchema(schema)
    return [file, `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`]
  })
  return Object.fromEntries(texts)
}

export function publishedSchemas(): string[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
}

export function readSchema(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Record<string, unknown>
}

// The patterns that zod writes say more than the formats.
const ajv = new Ajv2020({ allErrors: true, validateFormats: false })

/** The faults of a value by a published schema, each with its place; none for a valid one. */
export function schemaFaults(file: string, value: unknown): string[] {
  const validate = ajv.getSchema(file) ?? ajv.addSchema(readSchema(file), file).getSchema(file)
  if (validate === undefined) throw new Error(`${file} was not compiled`)
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  )
}
