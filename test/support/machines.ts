/** Several machines with a git remote in common: each has its own home, its own clone and its own name. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProject, type Project, type ProjectOptions } from './project.ts'

export interface Machine extends Project {
  readonly name: string
  workflow(...words: string[]): ReturnType<Project['cli']>
  /** The same in a process of its own, which can be killed or run beside others. */
  process(...words: string[]): ReturnType<Project['cli']>
  /** The state of its run of task 7. */
  state(): Record<string, unknown>
}

export const WALK = 'specs/007_walk'

export const WALK_PHASES = [
  { id: 'plan', prompt: 'Plan.', artifact: 'plan.md', approve: true },
  { id: 'build', prompt: 'Build.', artifact: 'built.md' },
]

export function git(folder: string, ...words: string[]): string {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...identity, ...words], { cwd: folder, env, encoding: 'utf8', input: '' }).trim()
}

export type Machines<Name extends string> = { readonly remote: string } & Readonly<Record<Name, Machine>>

/** The remote and the machines. `url`: the address of the remote, if not that of its folder. `from`: what they copy. */
export function createMachines<Name extends string>(
  names: readonly Name[],
  options: ProjectOptions & { readonly url?: (remote: string) => string; readonly from?: Machines<Name> } = {},
): Machines<Name> {
  const { url = (remote: string) => `file://${remote}`, from, ...others } = options
  const projects = names.map((name) => [name, createProject({ sources: true, ...others, name })] as const)
  const remote = join(projects[0]?.[1].base ?? '', 'remote')
  if (from !== undefined) cpSync(from.remote, remote, { recursive: true })
  writeRepository(remote, '[core]\n\tbare = true\n[receive]\n\tautogc = false\n')
  const machines = projects.map(([name, project]) => {
    if (from !== undefined) cpSync(from[name].dir, project.dir, { recursive: true })
    cloneInPlace(project, url(remote))
    if (from === undefined) project.write('walk.json', JSON.stringify({ name: 'walk', phases: WALK_PHASES }))
    const env = { ...project.env, POSTFLIGHT_MACHINE: name }
    const cli: Project['cli'] = (words, given = {}) => project.cli(words, { ...given, env: { ...env, ...given.env } })
    const workflow: Machine['workflow'] = (...words) => cli(['workflow', ...words])
    const process: Machine['process'] = (...words) => cli(['workflow', ...words], { input: '' })
    const state: Machine['state'] = () => JSON.parse(project.read(`${WALK}/workflow/state.json`))
    const machine: Machine = { ...project, env, name, cli, workflow, process, state }
    return [name, machine] as const
  })
  return { remote, ...(Object.fromEntries(machines) as Record<Name, Machine>) }
}

/** Runs `arrange` once, for the tests of a file that begin with copies of what it returns. */
export function once<Arranged>(arrange: () => Promise<Arranged>): () => Promise<Arranged> {
  let first: Promise<Arranged> | undefined
  return () => {
    first ??= arrange()
    return first
  }
}

function cloneInPlace(project: Project, url: string): void {
  const config = `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`
  writeRepository(project.at('.git'), config)
}

/** What `git init` makes, without starting it. It waits for no disk and starts no threads. */
function writeRepository(folder: string, config: string): void {
  for (const name of ['objects', 'refs', 'hooks']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  const quick = '[core]\n\trepositoryformatversion = 0\n\tfsync = none\n[pack]\n\tthreads = 1\n'
  writeFileSync(join(folder, 'config'), `${quick}${config}`)
}

export function makeRepository(project: Project): void {
  const remote = join(project.base, 'remote')
  writeRepository(remote, '[core]\n\tbare = true\n')
  cloneInPlace(project, `file://${remote}`)
}

/** The commits of the run in the remote, oldest first, each with its subject. */
export function publishedLog(remote: string, id: string): { commit: string; subject: string }[] {
  const lines = git(remote, 'log', '--reverse', '--format=%H %s', `refs/postflight/${id}`).split('\n')
  return lines.map((line) => ({ commit: line.slice(0, 40), subject: line.slice(41) }))
}
