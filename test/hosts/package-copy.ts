/** A copy of this package for a test: neither a build in the meantime nor a test that breaks it may affect other tests. */

import { cpSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

export function copyPackageTo(folder: string): void {
  for (const name of publishedFiles()) cpSync(join(PACKAGE, name), join(folder, name), { recursive: true })
}

function publishedFiles(): string[] {
  const { files } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { files: string[] }
  return ['package.json', ...files].filter((name) => existsSync(join(PACKAGE, name)))
}

/** The first block of bash of README below a heading. */
export function readmeBlock(heading: string): string {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
  return /```bash\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(`\n${heading}\n`)))?.[1] as string
}
