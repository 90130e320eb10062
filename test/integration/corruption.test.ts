import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Command, type Corruption, listCells, type Subject } from '../stress/tables/corruption.ts'
import { observe } from '../stress/tables/corruption-run.ts'
import { makePackageCopy, type PackageCopy } from '../stress/tables/sandbox.ts'

/** A part of the table in `test/stress/tables/corruption.ts`. `npm run test:stress` runs all of it. */

const CHOSEN: readonly [Subject, Corruption, readonly Command[]][] = [
  ['marker', 'garbage', ['create', 'clear']],
  ['marker', 'link out', ['inspect', 'clear all']],
  ['marker', 'pipe', ['doctor', 'bypass']],
  ['marker', 'unreadable', ['force']],
  ['loop guard', 'garbage', ['create']],
  ['loop guard', 'folder', ['clear']],
  ['claims folder', 'link out', ['inspect', 'clear']],
  ['claim', 'pipe', ['step']],
  ['abandoned marker', 'link out', ['clear']],
  ['abandoned, alone', 'half', ['adopt']],
  ['lock', 'folder', ['step']],
  ['unparsed copy', 'dangling link', ['clear']],
  ['journal', 'pipe', ['logs', 'create']],
  ['journal folder', 'link out', ['logs']],
  ['reports folder', 'link out', ['create']],
  ['report', 'pipe', ['create']],
  ['settings', 'pipe', ['doctor', 'install']],
  ['settings', 'link out', ['doctor', 'uninstall']],
  ['task folder', 'link out', ['create']],
  ['specs folder', 'unreadable', ['clear']],
]

let pack: PackageCopy

beforeAll(() => {
  pack = makePackageCopy()
})
afterAll(() => pack.remove())

describe('broken state allows the stop, loses no file, and touches nothing outside the project', () => {
  it.each(CHOSEN)('%s: %s', async (subject, corruption, commands) => {
    const cell = listCells().find((one) => one.subject === subject && one.corruption === corruption)
    const codes = Object.fromEntries(commands.map((command) => [command, cell?.codes[command]]))
    const hook = subject === 'settings' ? '' : cell?.hook

    expect(await observe(pack, subject, corruption, commands, hook !== '')).toEqual({ hook, codes, faults: [] })
  })
})
