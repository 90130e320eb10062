/** Checks the documents that commands print with `--json` against the schemas in `schema/`. */

import { expect } from 'vitest'
import type { CommandName } from '../../src/cli/commands/command-list.ts'
import { ERROR_DOCUMENT } from '../../src/views/documents.ts'
import { DOCUMENTS } from './command-documents.ts'
import { outputSchemaFile, schemaFaults } from './json-schemas.ts'

/** The one document of a command line; fails where it fits neither the command's schema nor that of errors. */
export function readDocument(words: readonly string[], text: string): object {
  const document = JSON.parse(text) as object
  const isError = 'error' in document
  const { error } = (isError ? ERROR_DOCUMENT : DOCUMENTS[commandIn(words)]).safeParse(document)
  expect(error?.issues, `${words.join(' ')}: ${text}`).toBe(undefined)
  const faults = schemaFaults(outputSchemaFile(isError ? 'error' : commandIn(words)), document)
  expect(faults, `${words.join(' ')}: ${text}`).toEqual([])
  return document
}

export function commandIn(words: readonly string[]): CommandName {
  const names = words.filter((word, at) => !word.startsWith('-') && words[at - 1] !== '--root')
  return names.slice(0, names[0] === 'workflow' ? 2 : 1).join(' ') as CommandName
}
