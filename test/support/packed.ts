/** The package as npm packs it. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE } from './process.ts'
import { createProject, type Project } from './project.ts'

/** The tarball, and what `npm pack` says about it. */
export interface Packed {
  readonly tarball: string
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[]
}

let packed: Packed | undefined

/** Packs the package, once for each test file: the tarball is removed with the projects of the file. */
export function packOnce(): Packed {
  if (packed === undefined || !existsSync(packed.tarball)) packed = pack()
  return packed
}

/** Runs npm without a registry and without a build: it packs the built files. */
function pack(): Packed {
  const { base, home } = createProject()
  const words = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', base]
  const output = execFileSync('npm', words, {
    cwd: PACKAGE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      npm_config_cache: join(home, '.npm'),
      npm_config_update_notifier: 'false',
    },
  })
  const [{ filename, files }] = JSON.parse(output) as [{ filename: string; files: Packed['files'] }]
  return { tarball: join(base, filename), files }
}

export function extract(tarball: string, target: string): void {
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
}

/** A project with the packed package in node_modules, and with links to its binaries as npm makes them. */
export function installPacked(): Project {
  const project = createProject()
  const target = project.at('node_modules', 'postflight-guard')
  extract(packOnce().tarball, target)
  mkdirSync(project.at('node_modules', '.bin'))
  const { bin } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  for (const [name, file] of Object.entries(bin)) {
    symlinkSync(join('..', 'postflight-guard', file), project.at('node_modules', '.bin', name))
  }
  return project
}
