/** The pages name every command and every host, and the files that they name exist. */

import fastGlob from 'fast-glob'
import { expect, it } from 'vitest'
import { HOST_TITLES } from '../../src/hosts/hook-hosts.ts'
import { DOCUMENTS } from '../support/command-documents.ts'
import { PACKAGE } from '../support/process.ts'
import { readPage } from './pages.ts'

const codeIn = (page: string): string[] => readPage(page).inlineCode.map(({ text }) => text)

/** The given words that stand in no code of the page. */
function absentFrom(page: string, wanted: readonly string[]): string[] {
  const code = [...codeIn(page), ...readPage(page).blocks.map(({ text }) => text)].join('\n')
  return wanted.filter((words) => !new RegExp(`\\b${words}\\b`).test(code))
}

it('docs/commands.md and docs/workflow.md show every command', () => {
  const [ofWorkflows, others] = [true, false].map((isOfWorkflow) =>
    Object.keys(DOCUMENTS).filter((command) => command.startsWith('workflow ') === isOfWorkflow),
  ) as [string[], string[]]
  expect(absentFrom('docs/workflow.md', ofWorkflows)).toEqual([])
  // Only the scripts of completion call the hidden command `complete`.
  const absent = absentFrom(
    'docs/commands.md',
    others.map((command) => `postflight ${command}`),
  )
  expect(absent).toEqual(['postflight complete'])
})

it('docs/hosts.md names every host', () => {
  expect(codeIn('docs/hosts.md')).toEqual(expect.arrayContaining(Object.keys(HOST_TITLES)))
})

it.each(['CONTRIBUTING.md', 'docs/design.md', 'test/README.md'])('the source files that %s names exist', (page) => {
  const files = fastGlob.sync(['*', '{src,test,scripts,bench,demo}/**'], { cwd: PACKAGE }).map((file) => `/${file}`)
  const named = codeIn(page).flatMap((code) => code.match(/[\w./*-]+\.(?:ts|js)\b/g) ?? [])
  const isThere = (name: string): boolean => {
    const pattern = new RegExp(`/${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
    return files.some((file) => pattern.test(file))
  }
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !name.startsWith('dist/') && !isThere(name))).toEqual([])
})
