/** Updates the table of docs/hosts.md: the clients that the host tests ran on and the number of cases that passed. */

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { TESTED_CLIENTS } from './client-cache.ts'

interface Row {
  client: string
  version: string
  date: string
  cases: string
}

const HERE = dirname(fileURLToPath(import.meta.url))
const PAGE = join(HERE, '..', '..', 'docs', 'hosts.md')
const BETWEEN_MARKS = /(<!-- tested-with:start -->\n)([\s\S]*?)(<!-- tested-with:end -->)/

/** Writes the results of the project's tests. Without the marks in the page, or without a client, it writes nothing. */
export function writeTestedWith(project: TestProject): void {
  const rows = rowsOf(project, new Date().toISOString().slice(0, 10))
  if (rows.length === 0) return
  const page = readFileSync(PAGE, 'utf8')
  const written = page.replace(BETWEEN_MARKS, (_all, start: string, table: string, end: string) =>
    [start, tableWith(table, rows), end].join(''),
  )
  if (written !== page) writeFileSync(PAGE, written)
}

/** The rows of the clients whose tests ran; each client has a folder beside this file. */
function rowsOf(project: TestProject, date: string): Row[] {
  const modules = project.vitest.state.getTestModules().filter((module) => module.project === project)
  return Object.entries(TESTED_CLIENTS).flatMap(([folder, { title, version }]) => {
    const states = modules
      .filter((module) => relative(HERE, module.moduleId).startsWith(folder + sep))
      .flatMap((module) => [...module.children.allTests()])
      .map((test) => test.result().state)
    const passed = states.filter((state) => state === 'passed').length
    const ran = passed + states.filter((state) => state === 'failed').length
    if (ran === 0) return []
    return [{ client: title, version, date, cases: passed === ran ? `${passed}` : `${passed} of ${ran}` }]
  })
}

function tableWith(table: string, rows: readonly Row[]): string {
  const kept = table
    .split('\n')
    .slice(2)
    .filter((line) => line !== '' && !rows.some((row) => line.startsWith(`| ${row.client} |`)))
  const added = rows.map(({ client, version, date, cases }) => `| ${client} | ${version} | ${date} | ${cases} |`)
  const lines = ['| client | version | date | cases |', '| --- | --- | --- | --- |', ...[...kept, ...added].sort()]
  return `${lines.join('\n')}\n`
}
