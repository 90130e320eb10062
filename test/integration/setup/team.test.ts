/** The team path of docs/install.md: a lead sets the project up, a teammate with nothing of the lead's clones it. */

import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packOnce } from '../../support/packed.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import { PACKAGE, type ProcessResult, runProcess } from '../../support/process.ts'
import { claudeHookEnv, copyPackage, createProject, type JsonDocument } from '../../support/project.ts'

/** The commands of the page, for a project beside the clone of this repository. */
function commandsOfPage(): string {
  const page = readFileSync(join(PACKAGE, 'docs/install.md'), 'utf8')
  return /\n## For a team\n[\s\S]*?```bash\n([\s\S]*?)```/.exec(page)?.[1] as string
}

/** A person with a home of their own, whose npm knows no registry and has an empty cache. */
function person(base: string, name: string): (script: string, folder: string) => Promise<ProcessResult> {
  const home = join(base, name)
  mkdirSync(home)
  const env = {
    PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    npm_config_cache: join(home, '.npm'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: `${name}@example.org` },
    ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: `${name}@example.org` },
  }
  return (script, cwd) => runProcess('bash', ['-e', '-c', script], { cwd, env, limitMs: 60_000 })
}

function stopCommand(folder: string): string {
  const settings: JsonDocument = JSON.parse(readFileSync(join(folder, '.claude/settings.json'), 'utf8'))
  return settings.hooks.Stop[0].hooks[0].command
}

/** A project whose package.json names the package by `specifier`; with `folder`, somewhere in a larger repository. */
function packagedProject(specifier: string, folder: string): { init: () => Promise<ProcessResult> } {
  const project = createProject({ specs: false, sources: true })
  const root = project.at(folder)
  mkdirSync(join(root, 'specs'), { recursive: true })
  project.write(join(folder, 'package.json'), JSON.stringify({ devDependencies: { 'postflight-guard': specifier } }))
  const packageFolder = copyPackage(join(root, 'node_modules/postflight-guard'))
  return { init: () => project.cli(['init', '--yes', '--root', root], { packageFolder }) }
}

describe('a team', () => {
  it('is guarded after npm ci in a clone, with a fresh home and a fresh cache, if the lead did what the page says', async () => {
    const project = createProject({ git: false, specs: false })
    const { tarball } = packOnce()
    cpSync(tarball, join(project.base, 'postflight-guard', basename(tarball)))
    project.write('package.json', '{ "name": "app", "private": true, "scripts": { "test": "node --version" } }\n')
    project.write('.gitignore', 'node_modules/\n*.tgz\n')
    const lead = person(project.base, 'lead')
    const set = await lead(`git init --quiet --initial-branch main\n${commandsOfPage()}`, project.dir)
    expect(set, set.stdout + set.stderr).toMatchObject({ status: 0 })
    const teammate = person(project.base, 'teammate')
    const installed = await teammate(`git clone --quiet "${project.dir}" clone && cd clone && npm ci`, project.base)
    expect(installed, installed.stdout + installed.stderr).toMatchObject({ status: 0 })
    const clone = join(project.base, 'clone')
    const created = await teammate(
      `npx --no-install postflight create 259 x --agent main --host-session ${SESSION}`,
      clone,
    )
    expect(created, created.stderr).toMatchObject({ status: 0 })
    const run = await project.hook(stop({ cwd: clone }), {
      program: ['sh', '-c', stopCommand(clone)],
      env: { ...claudeHookEnv(project, SESSION), CLAUDE_PROJECT_DIR: clone },
    })
    expect(run.answer.decision).toBe('block')
    // npm and npx start seven times: slow on a busy machine.
  }, 180_000)

  it.each([
    ['file:../postflight-guard/postflight-guard-0.1.0.tgz', '.', true],
    ['file:/opt/postflight-guard-0.1.0.tgz', '.', true],
    ['link:../postflight-guard', '.', true],
    ['file:vendor/postflight-guard-0.1.0.tgz', '.', false],
    ['./vendor/../vendor/postflight-guard-0.1.0.tgz', '.', false],
    // Beside the project, in the same repository.
    ['file:../vendor/postflight-guard-0.1.0.tgz', 'packages/app', false],
    ['git+https://example.org/postflight-guard.git', '.', false],
    ['^0.1.0', '.', false],
  ])('is notified by init of a package that only one machine has: %s, in %s', async (specifier, folder, isOutside) => {
    const { stdout } = await packagedProject(specifier, folder).init()
    expect(stdout.includes(`names postflight-guard by "${specifier}"`)).toBe(isOutside)
    expect(stdout.includes('Warning')).toBe(isOutside)
  })
})
