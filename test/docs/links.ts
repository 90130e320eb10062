/** Follows the links of a page to files and headings of the package. */

import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { PACKAGE } from '../support/process.ts'
import { type Page, readPage } from './pages.ts'

/** The links and names of tests that lead nowhere. Addresses on the web are not followed. */
export function linkFaults(page: Page): string[] {
  const tests = page.inlineCode.flatMap(({ line, text }) => {
    if (!/^(?:unit|property|integration|docs|stress|hosts)\/[\w/-]+$/.test(text)) return []
    const exists = ['', '.ts', '.test.ts'].some((end) => existsSync(join(PACKAGE, 'test', `${text}${end}`)))
    return exists ? [] : [`${page.name}:${line}: the test ${text} does not exist`]
  })
  const links = page.links.flatMap(({ line, text }) => {
    if (/^[a-z]+:/.test(text)) return []
    const [path = '', anchor] = text.split('#')
    const target = path === '' ? page.name : posix.join(posix.dirname(page.name), decodeURIComponent(path))
    if (target !== page.name && !existsSync(join(PACKAGE, target)))
      return [`${page.name}:${line}: ${target} does not exist`]
    if (anchor === undefined || !target.endsWith('.md')) return []
    const { anchors } = target === page.name ? page : readPage(target)
    return anchors.has(anchor) ? [] : [`${page.name}:${line}: ${target} has no heading #${anchor}`]
  })
  return [...tests, ...links]
}
