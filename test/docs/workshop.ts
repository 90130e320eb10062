/** The projects that blocks of shell run in: a fresh repository that depends on the packed package, without a network. */

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, realpathSync, renameSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { installPacked, packOnce } from '../support/packed.ts'
import { type ProcessResult, runProcess } from '../support/process.ts'
import { createProject, type Project } from '../support/project.ts'

/** The workflow that a project has for commands that need one. */
const FLOW = `name: two phases
phases:
  - { id: plan, prompt: Write the plan., artifact: plan.json }
  - { id: execute, steps: { from: plan.json, pointer: /steps }, step_prompt: 'Do {{step}}' }
`

const TOOLS = ['npm', 'npx']

/** The time (ms) after which a block is killed. */
const LIMIT_MS = 40_000

let template: Project | undefined

/** The shell of an agent on Claude Code, in a project. */
export interface Workshop {
  readonly project: Project
  run(script: string): Promise<ProcessResult>
  standIn(program: string): void
}

const GIT = { name: 'Reader', email: 'reader@example.org' }
const ENV = {
  CLAUDECODE: '1',
  CLAUDE_CODE_SESSION_ID: '5f0c1f2e-0000-4000-8000-000000000000',
  NO_COLOR: '1',
  ...{ GIT_AUTHOR_NAME: GIT.name, GIT_AUTHOR_EMAIL: GIT.email },
  ...{ GIT_COMMITTER_NAME: GIT.name, GIT_COMMITTER_EMAIL: GIT.email },
  ...{ npm_config_offline: 'true', npm_config_update_notifier: 'false' },
  ...{ npm_config_audit: 'false', npm_config_fund: 'false' },
}

/** A repository with the packed package, `npm test`, and a workflow. Every block gets a copy. */
function makeTemplate(): Project {
  const packed = installPacked()
  const project = createProject({ git: false, specs: false })
  renameSync(packed.at('node_modules'), project.at('node_modules'))
  project.write('package.json', '{ "name": "my-project", "private": true, "scripts": { "test": "node --version" } }\n')
  project.write('.gitignore', 'node_modules/\n')
  project.write('flow.yaml', FLOW)
  for (const words of ['init --quiet --initial-branch main', 'add .', 'commit --quiet --message project']) {
    execFileSync('git', words.split(' '), { cwd: project.dir, env: { ...project.env, ...ENV }, stdio: 'ignore' })
  }
  placeTarball(project)
  return project
}

export function createWorkshop(): Workshop {
  // The projects of another file were removed at its end.
  if (template === undefined || !existsSync(template.base)) template = makeTemplate()
  const project = createProject({ git: false, specs: false })
  for (const name of ['project', 'postflight-guard']) {
    cpSync(join(template.base, name), join(project.base, name), { recursive: true, verbatimSymlinks: true })
  }
  for (const name of TOOLS) symlinkSync(realpathSync(which(name)), join(project.base, 'bin', name))
  const PATH = [join(project.base, 'bin'), project.at('node_modules', '.bin'), '/usr/bin', '/bin'].join(':')
  const env = { ...project.env, ...ENV, PATH, npm_config_cache: join(project.home, '.npm') }
  return {
    project,
    run: (script) => runProcess('bash', ['-c', script], { cwd: project.dir, env, limitMs: LIMIT_MS }),
    standIn: (program) => {
      // First on the PATH, and in place of a program that is really there.
      const file = project.write('stand-in', '#!/bin/sh\ncat > /dev/null\n', 0o755)
      renameSync(file, join(project.base, 'bin', program))
    },
  }
}

/** Puts the tarball where `npm pack` leaves it in a clone beside the project. */
function placeTarball(project: Project): void {
  const { tarball } = packOnce()
  cpSync(tarball, join(project.base, 'postflight-guard', basename(tarball)))
}

function which(program: string): string {
  return spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim()
}

export function hasProgram(program: string): boolean {
  return which(program) !== ''
}
