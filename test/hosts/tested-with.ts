/** README's table of the clients that the host tests ran on, and how many of their cases passed. */

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { TESTED_CLIENTS } from './client-cache.ts'

/** A row of the table. */
interface Row {
  client: string
  version: string
  date: string
  cases: string
}

const HERE = dirname(fileURLToPath(import.meta.url))
const README = join(HERE, '..', '..', 'README.md')
const BETWEEN_MARKS = /(<!-- tested-with:start -->\n)([\s\S]*?)(<!-- tested-with:end -->)/

/** Writes what the project's tests have come to. Without the marks in README, or without a client, nothing. */
export function writeTestedWith(project: TestProject): void {
  const rows = rowsOf(project, new Date().toISOString().slice(0, 10))
  if (rows.length === 0) return
  const readme = readFileSync(README, 'utf8')
  const written = readme.replace(BETWEEN_MARKS, (_all, start: string, table: string, end: string) =>
    [start, tableWith(table, rows), end].join(''),
  )
  if (written !== readme) writeFileSync(README, written)
}

/** One row for each client of which tests ran: each has a folder of its own beside this file. */
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

/** The table with the new rows in it; those of clients that did not run now stay. */
function tableWith(table: string, rows: readonly Row[]): string {
  const kept = table
    .split('\n')
    .slice(2)
    .filter((line) => line !== '' && !rows.some((row) => line.startsWith(`| ${row.client} |`)))
  const added = rows.map(({ client, version, date, cases }) => `| ${client} | ${version} | ${date} | ${cases} |`)
  const lines = ['| client | version | date | cases |', '| --- | --- | --- | --- |', ...[...kept, ...added].sort()]
  return `${lines.join('\n')}\n`
}
