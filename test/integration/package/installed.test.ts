/** The packed package where it was installed: alone in a folder, and by each package manager. */

import { mkdirSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS } from '../../support/command-documents.ts'
import { commandIn, readDocument } from '../../support/documents.ts'
import { makeRepository } from '../../support/machines.ts'
import { extract, packOnce } from '../../support/packed.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import { PACKAGE, type ProcessResult, runProcess } from '../../support/process.ts'
import { claudeHookEnv, createProject, type JsonDocument, type Project } from '../../support/project.ts'

const flowOf = (phase: object): string => JSON.stringify({ name: 'flow', phases: [phase] })
const FLOW = flowOf({ id: 'plan', prompt: 'Plan.', artifact: 'plan.json', check: { run: 'true' } })
const APPROVAL = flowOf({ id: 'plan', prompt: 'Plan.', artifact: 'plan.md', approve: true })
const STEPS = flowOf({ id: 'work', steps: ['one', 'two'], step_prompt: '{{step}}' })

/** Command lines for each command, in an order in which each one has something to do. */
const LINES = [
  ...['create 259 x --step one', 'inspect', 'step 259 one', 'wait 259 --for answers'],
  ...['adopt 259 --host-session other --agent main', 'explain', 'bypass 259', 'clear 259', 'logs'],
  ...['trust --yes', 'done --all', 'workflow validate flow.json', 'workflow graph flow.json'],
  ...['workflow simulate spec-kit', 'workflow start 7 flow --definition flow.json', 'workflow next 7'],
  ...['workflow check 7', 'workflow stop 7'],
  ...['workflow start 8 flow --definition approval.json', 'workflow next 8', 'workflow approve 8'],
  ...['workflow start 9 flow --definition approval.json', 'workflow next 9', 'workflow reject 9 --reason no'],
  ...['workflow start 10 flow --definition steps.json', 'workflow next 10', 'workflow skip 10 --step 1'],
  ...['workflow retry 10 --step 1', 'workflow skip 10 --step 2'],
  ...['workflow share 10', 'workflow publish 10', 'workflow release 10', 'workflow status 7', 'workflow resume 7'],
  ...['workflow abort 7', 'workflow history 7', 'status', 'report --html report.html', 'statusline'],
  ...['completion bash', 'complete workflow', 'init --yes --dry-run', 'install', 'doctor', 'uninstall'],
]

/** Those that are refused in an agent's shell. */
const FOR_PEOPLE = /^(?:workflow approve|workflow reject|trust) /

/** Runs every command with `--json`, one after the other. */
async function runEveryCommand(project: Project, cli: string): Promise<void> {
  makeRepository(project)
  project.write('flow.json', FLOW)
  project.write('approval.json', APPROVAL)
  project.write('steps.json', STEPS)
  project.write('specs/done.yaml', 'done:\n  - when: src/**\n    check: "true"\n')
  for (const task of ['008', '009']) project.write(`specs/${task}_flow/plan.md`, 'A plan.\n')
  const agent = { ...project.env, POSTFLIGHT_HOST_SESSION: SESSION, POSTFLIGHT_AGENT: 'main' }
  for (const line of LINES) {
    const words = line.split(' ')
    const env = FOR_PEOPLE.test(line) ? project.env : agent
    const run = await runProcess(process.execPath, [cli, ...words, '--json'], { cwd: project.dir, env })
    expect([0, 1], `${line}: ${run.stderr}`).toContain(run.status)
    expect(readDocument(words, run.stdout), line).not.toHaveProperty('error')
    expect(run.stderr, line).toBe('')
  }
}

/** The names of the packages in a `node_modules`; package managers keep files of their own beside them. */
const packagesIn = (folder: string): string[] => readdirSync(folder).filter((name) => !name.startsWith('.'))

/** A package manager: its program, and how it installs a tarball, here and globally. */
interface Manager {
  readonly program: string
  readonly local: (tarball: string) => readonly string[]
  readonly global: (tarball: string, prefix: string) => readonly string[]
  /** Variables for a global installation. */
  readonly environment?: (prefix: string) => Readonly<Record<string, string>>
  readonly commands: string
}

const tool = (...names: string[]): string => join(PACKAGE, 'node_modules', ...names)

const MANAGERS: Readonly<Record<string, Manager>> = {
  npm: {
    program: 'npm',
    local: (tarball) => ['install', '--offline', '--no-audit', '--save-dev', tarball],
    global: (tarball, prefix) => ['install', '--offline', '--no-audit', '--global', '--prefix', prefix, tarball],
    commands: 'bin',
  },
  pnpm: {
    program: tool('pnpm', 'bin', 'pnpm.cjs'),
    local: (tarball) => ['add', '--offline', '--save-dev', tarball],
    global: (tarball) => ['add', '--offline', '--global', tarball],
    environment: (prefix) => ({ PNPM_HOME: prefix }),
    commands: '.',
  },
  yarn: {
    program: tool('yarn', 'bin', 'yarn.js'),
    local: (tarball) => ['add', '--offline', '--dev', `file:${tarball}`],
    global: (tarball, prefix) => [
      ...['global', 'add', '--offline', '--prefix', prefix],
      ...['--global-folder', join(prefix, 'packages'), `file:${tarball}`],
    ],
    commands: 'bin',
  },
}

/** A project in a path with spaces, with a manifest of its own. */
function createConsumer(): Project {
  const project = createProject({ name: 'my own project' })
  project.write('package.json', '{ "name": "consumer", "version": "1.0.0", "private": true }\n')
  return project
}

async function runManager(
  project: Project,
  { program, commands, environment }: Manager,
  words: readonly string[],
  prefix: string,
): Promise<void> {
  // npm lies beside this Node; the others are scripts.
  const path = [join(prefix, commands), project.env.PATH, String(process.env.PATH)].join(delimiter)
  const env = { ...project.env, PATH: path, CI: '1', npm_config_update_notifier: 'false', ...environment?.(prefix) }
  const [file, ...args] = program === 'npm' ? [program] : [process.execPath, program]
  const run = await runProcess(String(file), [...args, ...words], { cwd: project.dir, env })
  expect(run.status, `${run.stdout}${run.stderr}`).toBe(0)
}

/** Creates a marker by a command, and asks a hook about it. */
async function guards(project: Project, command: (...words: string[]) => Promise<ProcessResult>, hook: string) {
  const created = await command('create', '259', 'x', '--host-session', SESSION, '--agent', 'main')
  expect(created).toMatchObject({ status: 0, stderr: '' })
  const run = await project.hook(stop(), { program: ['sh', '-c', hook], env: claudeHookEnv(project, SESSION) })
  return run.answer.decision
}

describe('the packed package', () => {
  it('is tested with every command', () => {
    expect(LINES.map((line) => commandIn(line.split(' ')))).toEqual(expect.arrayContaining(Object.keys(DOCUMENTS)))
  })

  it('runs every command when it is alone in a folder', async () => {
    const project = createProject()
    const folder = join(project.base, 'alone', 'the package')
    extract(packOnce().tarball, folder)
    await runEveryCommand(project, join(folder, 'bin', 'postflight.js'))
    expect(readdirSync(folder)).not.toContain('node_modules')
    // Some fifty processes, one after another: slow on a busy machine.
  }, 180_000)

  describe.each(Object.entries(MANAGERS))('installed by %s', (_name, manager) => {
    it('is one package, whose hook guards the project', async () => {
      const project = createConsumer()
      await runManager(project, manager, manager.local(packOnce().tarball), project.home)
      expect(packagesIn(project.at('node_modules'))).toEqual(['postflight-guard'])
      const postflight = (...words: string[]) =>
        runProcess(project.at('node_modules', '.bin', 'postflight'), words, { cwd: project.dir, env: project.env })
      expect(await postflight('install')).toMatchObject({ status: 0, stderr: '' })
      const settings: JsonDocument = JSON.parse(project.read('.claude/settings.json'))
      expect(await guards(project, postflight, settings.hooks.Stop[0].hooks[0].command)).toBe('block')
    })

    it('globally, under a prefix, has both commands on the PATH', async () => {
      const project = createConsumer()
      const prefix = join(project.base, 'the prefix')
      mkdirSync(prefix)
      await runManager(project, manager, manager.global(packOnce().tarball, prefix), prefix)
      const env = { ...project.env, PATH: [join(prefix, manager.commands), project.env.PATH].join(delimiter) }
      const postflight = (...words: string[]) => runProcess('postflight', words, { cwd: project.dir, env })
      expect(await guards(project, postflight, `PATH="${env.PATH}" postflight-hook`)).toBe('block')
      expect(project.has('node_modules')).toBe(false)
    })
  })
})
