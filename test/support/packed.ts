/** The package as npm packs it. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE } from './process.ts'
import { createProject, type Project } from './project.ts'

/** What `npm pack` says about the tarball. */
export interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[]
}

/** Runs npm without a registry and without a build: it packs the built files. */
export function pack(home: string, ...words: string[]): Packed {
  const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--offline', ...words], {
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
  const [packed] = JSON.parse(output) as [Packed]
  return packed
}

/** Packs the package into the project's base. Returns the tarball's path. */
export function packInto(project: Project): string {
  return join(project.base, pack(project.home, '--pack-destination', project.base).filename)
}

export function extract(tarball: string, target: string): void {
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
}

/** A project with the packed package in node_modules, and with links to its binaries as npm makes them. */
export function installPacked(): Project {
  const project = createProject()
  const target = project.at('node_modules', 'postflight-guard')
  extract(packInto(project), target)
  mkdirSync(project.at('node_modules', '.bin'))
  const { bin } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  for (const [name, file] of Object.entries(bin)) {
    symlinkSync(join('..', 'postflight-guard', file), project.at('node_modules', '.bin', name))
  }
  return project
}
