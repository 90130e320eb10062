import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS } from '../../support/command-documents.ts'
import { commandIn } from '../../support/documents.ts'
import { HOOK_EVENTS, type HookEvent, OTHER_SESSION, SESSION, shellRan } from '../../support/payloads.ts'
import { createSourceProject, hoursAgo } from '../../support/project.ts'

/** A repository full of commands, none of which may ever run. Each one would make a canary. */

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const IDS = ['pf_aaaaaaaaaaaa', 'pf_bbbbbbbbbbbb', 'pf_cccccccccccc', 'pf_dddddddddddd']

/** A project as it comes with a clone: markers, runs, definitions and receipts with commands; and the commands that ran. */
async function hostileProject() {
  const project = createSourceProject()
  const canaries = join(project.base, 'canaries')
  mkdirSync(canaries)
  const touch = (name: string) => ({ run: `touch '${join(canaries, name)}'` })
  const [unowned, inherited, foreign, abandoned] = IDS
  const created = hoursAgo(0)
  const steps = ['one']
  const both = (name: string) => ({ steps, checks: [touch(name), { ...touch(`${name} step`), step: 'one' }] })
  project.marker('001_unowned', { id: unowned, created, session_id: 'sess_1', operation: 'work', ...both('unowned') })
  const outer = { cc_session_id: 'outer', owner_from: 'environment' }
  project.marker('002_inherited', { id: inherited, created, ...outer, ...both('inherited') })
  const others = { created, cc_session_id: OTHER_SESSION }
  project.marker('003_foreign', { id: foreign, agent_id: 'main', ...others, ...both('foreign') })
  const spent = { id: abandoned, outcome: 'capped', ...others }
  project.write('specs/004_abandoned/.postflight-abandoned', JSON.stringify({ ...spent, ...both('abandoned') }))
  project.write('specs/done.yaml', `done: [{ when: "**", check: ${JSON.stringify(touch('done').run)} }]`)
  const check = { ...touch('flow'), files: ['**'] }
  const phases = [{ id: 'build', prompt: 'Build.', artifact: 'report.md', check }]
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  // Started on another machine: this user has trusted nothing here.
  const elsewhere = { XDG_STATE_HOME: join(project.base, 'elsewhere') }
  for (const [task, session] of [
    ['5', 'outer'],
    ['6', SESSION],
  ] as const) {
    const env = { ...elsewhere, CLAUDE_CODE_SESSION_ID: session }
    await project.cli(['workflow', 'start', task, 'flow', '--definition', 'flow.json'], { env })
    project.write(`specs/00${task}_flow/report.md`, 'x')
    const receipt = { run: 'wf_x', command: touch('receipt').run, exit_code: 0, artifact: 'x', files: [] }
    project.write(`specs/00${task}_flow/checks/build/1-1.json`, JSON.stringify(receipt))
  }
  return { project, ran: () => readdirSync(canaries) }
}

/** Every command, without the options that ask for running: `--run-checks` and `--trust`. */
const COMMANDS: readonly string[] = [
  ...['status', 'statusline', 'inspect', 'doctor', 'report --html report.html', 'completion zsh'],
  ...['explain', 'logs', 'init --yes', 'install', 'uninstall', 'done', 'done --list', 'done --all', 'trust'],
  'complete -- clear 0',
  ...['clear --all', 'clear --orphaned', 'clear --all --unchecked', 'clear --all --dry-run', 'bypass --all'],
  ...['001', '002', '003', '004'].flatMap((task) => [
    ...[`create ${task} --session-id sess_1`, `create ${task} --operation work`, `create ${task} --force`],
    ...[`clear ${task}`, `step ${task} one`, `step ${task} one --undo`, `wait ${task} --for x`, `bypass ${task}`],
    `adopt ${task}`,
  ]),
  ...['005', '006'].flatMap((task) =>
    [
      ...['check', 'next', 'status', 'approve', 'reject --reason x', 'retry --step 1', 'skip --step 1'],
      ...['stop', 'stop --now', 'resume', 'abort', 'history', 'graph', 'share', 'publish', 'release'],
    ].map((words) => `workflow ${words} ${task}`),
  ),
  ...['workflow validate flow.json', 'workflow simulate flow.json', 'workflow start 9 new --definition flow.json'],
]

/** Every event of the hook, and shell calls that print the ids of the markers as `create` and `adopt` do. */
const EVENTS: readonly HookEvent[] = [
  ...HOOK_EVENTS,
  ...IDS.flatMap((id) =>
    ['created', 'renewed', 'adopted'].map((verb) => ({
      hook: { ...shellRan('make create', `${verb} specs/x/.postflight-pending  ${id}`), duration_ms: 5_000 },
    })),
  ),
]

describe('a repository full of commands', () => {
  it('is used with every command', () => {
    const used = new Set(COMMANDS.map((line) => commandIn(line.split(' '))))
    expect([...used].sort()).toEqual(Object.keys(DOCUMENTS).sort())
  })

  it.each([
    ['in a session', ENV],
    ['in a plain terminal', {}],
  ])('runs none of them, whatever is done with it %s', async (_, env) => {
    for (const line of COMMANDS) {
      const { project, ran } = await hostileProject()
      await project.cli(line.split(' '), { env })
      await project.cli(['clear', '--all'], { env })
      await project.cli(['workflow', 'next', '005'], { env })
      await project.cli(['workflow', 'check', '006'], { env })
      expect(ran(), line).toEqual([])
    }
  })

  it('runs none of them after any event of the hook, and its markers are not claimed with their checks', async () => {
    const { project, ran } = await hostileProject()
    for (const { hook, words = [] } of EVENTS) await project.hook(hook, { words, env: ENV })
    for (const task of ['001', '002', '003', '004']) {
      await project.cli(['step', task, 'one'], { env: ENV })
      await project.cli(['clear', task], { env: ENV })
    }
    expect(ran()).toEqual([])
  })

  it('would run them if asked to, so that the canaries prove something', async () => {
    const { project, ran } = await hostileProject()
    await project.cli(['clear', '--all', '--run-checks'], { env: ENV })
    await project.cli(['workflow', 'resume', '005', '--trust'], { env: ENV })
    await project.cli(['workflow', 'check', '005'], { env: ENV })
    expect(ran().sort()).toEqual(['flow', 'foreign', 'foreign step', 'inherited', 'inherited step'])
  })
})
