import path from 'node:path'
import { inspectNamed } from '../../disk/folders.ts'
import { attempt } from '../../kernel/values.ts'
import type { Definition } from '../definition/definition.ts'
import { isInsidePath } from '../definition/definition-limits.ts'
import type { WorkflowState } from '../machine/state.ts'
import { listExamples } from '../store/find-definition.ts'
import { requireDefinition } from '../store/load-definition.ts'

type OwnDefinitions = Readonly<Record<'root' | 'packageFolder', string>>

/** Whether this checkout or machine already has the run's definition. `known`: the state of that run here. */
export function hasOwnPrompts(state: WorkflowState, known: WorkflowState | undefined, own: OwnDefinitions): boolean {
  // A prompt_file may be checked out with CRLF.
  const textOf = (one?: Definition): string => JSON.stringify(one?.snapshot ?? null).replaceAll('\\r\\n', '\\n')
  const isSame = (definition?: Definition): boolean => textOf(definition) === textOf(state.definition)
  return isSame(known?.definition) || isSame(ownDefinition(state.definitionFile, own))
}

function ownDefinition(named: string | undefined, { root, packageFolder }: OwnDefinitions): Definition | undefined {
  if (named === undefined || !isInsidePath(named.replace(':', ''))) return undefined
  const example = listExamples(packageFolder).find(({ name }) => named === `${EXAMPLE}${name}`)
  // An invalid definition cannot be the run's.
  return attempt(() => {
    const found = example === undefined ? inspectNamed(root, named) : undefined
    const file = example?.file ?? (found?.kind === 'file' ? found.path : undefined)
    return file === undefined ? undefined : requireDefinition(file, named)
  })
}

const EXAMPLE = 'example:'

export function definitionName(file: string, { root, packageFolder }: OwnDefinitions): string | undefined {
  const example = listExamples(packageFolder).find((one) => one.file === file)
  if (example !== undefined) return `${EXAMPLE}${example.name}`
  const relative = path.relative(root, file).split(path.sep).join('/')
  return relative.startsWith('../') || path.isAbsolute(relative) ? undefined : relative
}
