/** Checks a page: each of its blocks, its code in sentences, and its links. */

import { commandFaults } from './command-lines.ts'
import { dataFaults, isData } from './data-blocks.ts'
import { linkFaults } from './links.ts'
import type { Block, Page } from './pages.ts'
import { isShell, sessionFaults, sessionsOf, type Unrun } from './shell-blocks.ts'

/** A part of a page's check. Each of them stands alone. */
export interface Check {
  readonly title: string
  faults(): Promise<string[]>
}

/** The checks of a page. When they have run, `unrun` lists the blocks that were not. */
export function checksOf(page: Page, unrun: Unrun[]): Check[] {
  return [
    { title: 'links and names of tests lead to files and headings', faults: async () => linkFaults(page) },
    {
      title: 'fences and their comments are known',
      faults: async () => page.blocks.flatMap((one) => fenceFaults(page, one)),
    },
    { title: 'commands in sentences exist', faults: () => sentenceFaults(page) },
    ...sessionsOf(page).map((session) => ({
      title: `line ${session.map(({ line }) => line).join(', ')}: the commands work`,
      faults: () => sessionFaults(page, session, unrun),
    })),
    ...page.blocks.filter(isData).map((block) => ({
      title: `line ${block.line}: the data are valid`,
      faults: () => dataFaults(page, block, unrun),
    })),
  ]
}

export async function pageFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const check of checksOf(page, [])) faults.push(...(await check.faults()))
  return faults
}

/** A block that escapes the other checks by its fence is a fault. */
function fenceFaults(page: Page, block: Block): string[] {
  const at = `${page.name}:${block.line}`
  const faults = block.directions.faults.map((fault) => `${at}: ${fault}`)
  if (block.language === '') faults.push(`${at}: the fence has no language (text, if nothing in it can be checked)`)
  const hidden = !isShell(block) && !isData(block) && block.directions.outputOf === undefined
  if (hidden && /^(?:\$|postflight|npx|npm) /m.test(block.text))
    faults.push(`${at}: commands in a block of ${block.language}`)
  return faults
}

async function sentenceFaults(page: Page): Promise<string[]> {
  const faults = await Promise.all(
    page.inlineCode.map(async ({ line, text }) =>
      (await commandFaults(text)).map((fault) => `${page.name}:${line}: ${fault}`),
    ),
  )
  return faults.flat()
}
