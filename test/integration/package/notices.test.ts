import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../../support/process.ts'

const NOTICES = readFileSync(join(PACKAGE, 'THIRD-PARTY-NOTICES'), 'utf8')

/** The folder of a package as Node finds it from `folder`. */
function findPackage(name: string, folder: string): string {
  const found = join(folder, 'node_modules', name)
  return existsSync(found) ? found : findPackage(name, dirname(folder))
}

function readManifest(folder: string): { name: string; version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Dependencies of micromark of which no code is in a bundle: its types, its debug build, and its output of HTML. */
const NOT_BUNDLED = [
  ...['@types/debug', '@types/ms', 'debug', 'dequal', 'devlop', 'micromark-util-types', 'ms'],
  ...['micromark-util-decode-numeric-character-reference', 'micromark-util-encode', 'micromark-util-sanitize-uri'],
  // Its constants are inlined.
  'micromark-util-symbol',
]

/** The folders of the packages that the sources import (not only their types), and of all that those depend on. */
function bundledPackages(): string[] {
  const statements = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(join(PACKAGE, 'src', name), 'utf8').split(/^(?=import|export)|(?=\bimport\()/m))
  const imported = statements
    .map((text) => /^(?:(?:import|export) (?!type\b)[^'"=]* from |import\()'([^.'][^']*)'/.exec(text)?.[1])
    .filter((name) => name !== undefined && !name.startsWith('node:'))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(String(name))?.[0] as string)
  const found = [...new Set(imported)].map((name) => findPackage(name, PACKAGE))
  for (const folder of found) {
    const needed = Object.keys(readManifest(folder).dependencies ?? {}).map((name) => findPackage(name, folder))
    found.push(...needed.filter((one) => !found.includes(one)))
  }
  return found.filter((folder) => !NOT_BUNDLED.includes(readManifest(folder).name))
}

describe('THIRD-PARTY-NOTICES', () => {
  it('names every package in the bundles, with its version', () => {
    const named = [...NOTICES.matchAll(/^-{80}\n\n(\S+ \S+) \(.+\)$/gm)].map(([, title]) => title)
    const expected = bundledPackages().map((folder) => `${readManifest(folder).name} ${readManifest(folder).version}`)
    expect(expected.length).toBeGreaterThan(10)
    expect(named).toEqual(expected.sort())
  })

  it('repeats the licence text of each of them', () => {
    for (const folder of bundledPackages()) {
      const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)) as string
      const text = readFileSync(join(folder, licence), 'utf8').replaceAll('\r\n', '\n').trim()
      expect(text.length, folder).toBeGreaterThan(200)
      expect(NOTICES, folder).toContain(text)
    }
  })
})
