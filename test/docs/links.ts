/** Follows the links of a page to files and headings of the package. */

import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { PACKAGE } from '../support/process.ts'
import { type Page, readPage } from './pages.ts'

/** The links of a page that lead nowhere. Addresses on the web are not followed. */
export function linkFaults(page: Page): string[] {
  return page.links.flatMap(({ line, text }) => {
    if (/^[a-z]+:/.test(text)) return []
    const [path = '', anchor] = text.split('#')
    const target = path === '' ? page.name : posix.join(posix.dirname(page.name), decodeURIComponent(path))
    if (target !== page.name && !existsSync(join(PACKAGE, target)))
      return [`${page.name}:${line}: ${target} does not exist`]
    if (anchor === undefined || !target.endsWith('.md')) return []
    const { anchors } = target === page.name ? page : readPage(target)
    return anchors.has(anchor) ? [] : [`${page.name}:${line}: ${target} has no heading #${anchor}`]
  })
}
