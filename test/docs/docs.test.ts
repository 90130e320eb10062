import { afterAll, describe, expect, it } from 'vitest'
import { groupedLines } from '../support/grouped-lines.ts'
import { checksOf } from './check-page.ts'
import { pageNames, readPage } from './pages.ts'
import type { Unrun } from './shell-blocks.ts'

const unrun: Record<string, Unrun[]> = {}

// bash, and a PATH of folders that Windows does not have.
describe.skipIf(process.platform === 'win32')('the pages are true', () => {
  afterAll(() => {
    const leftOut = Object.entries(unrun).flatMap(([name, blocks]) =>
      blocks.map(({ line, reason }) => ({ place: `${name}:${line}`, why: reason })),
    )
    console.log([`${leftOut.length} blocks were not run as they are:`, ...groupedLines(leftOut)].join('\n'))
  })

  describe.each(pageNames())('%s', (name) => {
    const blocks: Unrun[] = []
    unrun[name] = blocks
    it.concurrent.each(checksOf(readPage(name), blocks))('$title', async (check) => {
      expect(await check.faults()).toEqual([])
    })
  })
})
