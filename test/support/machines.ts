/** Several machines with a git remote in common: each has its own home, its own clone and its own name. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createProject, type Project, type ProjectOptions } from './project.ts'

/** A project with a name among machines. */
export interface Machine extends Project {
  readonly name: string
  workflow(...words: string[]): ReturnType<Project['cli']>
  /** The state of its run of task 7. */
  state(): Record<string, unknown>
}

/** The folder of the runs of these tests. */
export const WALK = 'specs/007_walk'

export const WALK_PHASES = [
  { id: 'plan', prompt: 'Plan.', artifact: 'plan.md', approve: true },
  { id: 'build', prompt: 'Build.', artifact: 'built.md' },
]

/** Runs git without the user's configuration. */
export function git(folder: string, ...words: string[]): string {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...identity, ...words], { cwd: folder, env, encoding: 'utf8', input: '' }).trim()
}

/** The remote and the machines. `url`: the address of the remote, if not that of its folder. */
export function createMachines<Name extends string>(
  names: readonly Name[],
  options: ProjectOptions & { readonly url?: (remote: string) => string } = {},
): { readonly remote: string } & Readonly<Record<Name, Machine>> {
  const { url = (remote: string) => `file://${remote}`, ...others } = options
  const projects = names.map((name) => [name, createProject({ sources: true, ...others, name })] as const)
  const remote = join(projects[0]?.[1].base ?? '', 'remote')
  mkdirSync(remote)
  git(remote, 'init', '-q', '--bare')
  const machines = projects.map(([name, project]) => {
    cloneInPlace(project, url(remote))
    project.write('walk.json', JSON.stringify({ name: 'walk', phases: WALK_PHASES }))
    const env = { ...project.env, POSTFLIGHT_MACHINE: name }
    const cli: Project['cli'] = (words, given = {}) => project.cli(words, { ...given, env: { ...env, ...given.env } })
    const workflow: Machine['workflow'] = (...words) => cli(['workflow', ...words])
    const state: Machine['state'] = () => JSON.parse(project.read(`${WALK}/workflow/state.json`))
    const machine: Machine = { ...project, env, name, cli, workflow, state }
    return [name, machine] as const
  })
  return { remote, ...(Object.fromEntries(machines) as Record<Name, Machine>) }
}

function cloneInPlace(project: Project, url: string): void {
  // The folder that marks a project is not a repository yet.
  rmSync(project.at('.git'), { recursive: true })
  git(project.dir, 'init', '-q')
  git(project.dir, 'remote', 'add', 'origin', url)
}

/** Makes a project a repository with a remote. */
export function makeRepository(project: Project): void {
  const remote = join(project.base, 'remote')
  git(project.base, 'init', '-q', '--bare', 'remote')
  cloneInPlace(project, `file://${remote}`)
}

/** The commits of the run in the remote, oldest first, each with its subject. */
export function publishedLog(remote: string, id: string): { commit: string; subject: string }[] {
  const lines = git(remote, 'log', '--reverse', '--format=%H %s', `refs/postflight/${id}`).split('\n')
  return lines.map((line) => ({ commit: line.slice(0, 40), subject: line.slice(41) }))
}
