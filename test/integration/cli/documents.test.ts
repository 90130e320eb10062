/** The `--json` output of every command, in each of its forms, compared with their schemas. */

import { mkdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { journalEntryDocument } from '../../../src/cli/commands/logs.ts'
import { DOCUMENTS } from '../../support/command-documents.ts'
import { commandIn } from '../../support/documents.ts'
import { makeRepository } from '../../support/machines.ts'
import { OTHER_SESSION, SESSION, sessionStart, stop, subagentStop } from '../../support/payloads.ts'
import { startCli } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'

/** A command line, a part of the document that it prints, what makes the project that it needs, and the hook's payload. */
type Row = [line: string, holds: object, ready?: (project: Project) => unknown, payload?: object]

const SESSION_ENV = { POSTFLIGHT_HOST_SESSION: SESSION, POSTFLIGHT_AGENT: 'main' }
const TASK = '007_x'
const FOREIGN = { id: 'pf_abcdefghijkl', cc_session_id: OTHER_SESSION, reason: 'pending', operation: 'plan' }
const FLOW = {
  name: 'flow',
  phases: [
    { id: 'plan', prompt: 'plan', artifact: 'plan.json', agent: 'planner', model: 'large' },
    { id: 'do', prompt: 'do', steps: ['one', 'two'], step_prompt: 'do {{step}}', gate: 'advisory' },
  ],
}

/** Prepares a project by running command lines. */
const after =
  (...lines: readonly string[]) =>
  async (project: Project): Promise<void> => {
    for (const line of lines) {
      const run = await project.cli(line.split(' '), { env: SESSION_ENV })
      expect(run.status, `${line}: ${run.stderr}`).toBe(0)
    }
  }

const withFile =
  (name: string, text: string) =>
  (project: Project): string =>
    project.write(name, text)

const withMarker = (content: object | string) =>
  withFile(`specs/${TASK}/.postflight-pending`, typeof content === 'string' ? content : JSON.stringify(content))

const withFlow = withFile('flow.json', JSON.stringify(FLOW))
const withDone = withFile('specs/done.yaml', 'done: [{ when: "specs/done.yaml", check: "true" }]')
const withAbandoned = withFile(`specs/${TASK}/.postflight-abandoned`, JSON.stringify(FOREIGN))

/** Prepares a project by these, one after another. */
const each =
  (...steps: readonly ((project: Project) => unknown)[]) =>
  async (project: Project): Promise<void> => {
    for (const step of steps) await step(project)
  }

const started = after('workflow start 7 x --definition flow.json')
const running = each(withFlow, started)
const aborted = each(running, after('workflow abort 7'))
const cloned = each(makeRepository, running)
const shared = each(cloned, after('workflow share 7'))
const CHECKED = [{ id: 'plan', prompt: 'plan', artifact: 'plan.json', check: { run: 'true' } }]
const withCheck = each(withFile('flow.json', JSON.stringify({ ...FLOW, phases: CHECKED })), started)

const trusted = async (project: Project): Promise<void> => {
  withDone(project)
  expect((await project.cli(['trust', '--yes'])).status).toBe(0)
}

const withUnreadable = (project: Project): void => {
  mkdirSync(project.at('specs', TASK, '.postflight-pending'), { recursive: true })
}

const ROWS: readonly Row[] = [
  ['create 7 x', { renewed: false, replaced: null }],
  ['create 7', { error: { code: 'marker-of-other-session' } }, withMarker(FOREIGN)],
  ['create 7 --force', { replaced: FOREIGN.id }, withMarker(FOREIGN)],
  ['create 7 --force', { replaced: true }, withMarker('')],

  ['clear 7', { cleared: [{ marker_id: FOREIGN.id }] }, withMarker(FOREIGN)],
  ['clear 7', { cleared: [], settled: [{ task: TASK, outcome: 'aborted', resume: null }] }, aborted],
  ['clear --all', { cleared: [], running: [{ task: TASK, stop: 'postflight workflow stop 007_x --now' }] }, running],

  ['status', { clean: true, items: [] }],
  ['status', { clean: false, items: [{ kind: 'abandoned' }] }, withAbandoned],
  ['status', { items: [{ kind: 'unreadable' }] }, withUnreadable],
  ['status', { clean: true, ended: [{ kind: 'aborted' }] }, aborted],
  ['statusline', { text: '', pending: 0 }],
  ['statusline', { abandoned: 1 }, withAbandoned],
  ['report', { file: null, tasks: [] }],
  ['report', { tasks: [{ promises: [{ standing: 'abandoned' }] }] }, withAbandoned],
  ['report 7', { tasks: [{ runs: [{ standing: 'running' }] }] }, running],
  ['completion fish', { script: expect.stringContaining('complete -c postflight') }],
  ['complete work', { words: [{ value: 'workflow' }], files: false }],
  ['inspect', { pending: 0, markers: [] }],
  ['inspect', { markers: [{ state: 'unreadable', reason: null }] }, withMarker('not json')],
  ['inspect', { markers: [{ state: 'unreadable' }] }, withUnreadable],
  ['inspect', { markers: [{ state: 'abandoned' }] }, withAbandoned],
  ['inspect', { pending: 0, markers: [] }, running],

  ['step 7 two', { remaining: 1 }, withMarker({ steps: ['one', 'two'] })],

  ['wait 7 --for answers', { for: 'answers', count: 1 }, withMarker({ ...FOREIGN, cc_session_id: SESSION })],
  ['wait 7 --for x', { error: { code: 'wait-refused' } }, withMarker(FOREIGN)],

  ['bypass 7', { bypassed: [{ marker_id: null }] }, withMarker('')],
  ['bypass --all', { bypassed: [], stopped: [{ task: TASK, resume: 'postflight workflow resume 007_x' }] }, running],

  ['trust --yes', { error: { code: 'trust-agent' } }, withDone],
  ['done', { error: { code: 'done-none' } }],
  ['done --list', { error: { code: 'done-untrusted' } }, withDone],
  ['done --list', { rules: [{ due: true }], checks: [] }, trusted],
  ['done --all', { rules: [{ green: true }], checks: [{ run: 'true' }] }, trusted],

  ['adopt 7', { revived: false, owner: { agent: 'main' } }, withMarker(FOREIGN)],
  ['adopt 7', { revived: true }, withAbandoned],

  ['explain', { payload: { host_session: null }, markers: [], answer: {} }],
  [
    'explain --payload -',
    { markers: [{ rule: 'block', answer: 'block' }], answer: { decision: 'block' } },
    withMarker({ ...FOREIGN, cc_session_id: SESSION }),
    subagentStop(),
  ],
  [
    'explain --payload -',
    { markers: [{ rule: null, row: null }], answer: { systemMessage: expect.any(String) } },
    withUnreadable,
    subagentStop(),
  ],
  ['explain --payload -', { runs: [{ answer: 'driver' }] }, running, stop()],
  [
    'explain --payload -',
    { why: expect.any(String), answer: { hookSpecificOutput: { hookEventName: 'SessionStart' } } },
    withMarker(FOREIGN),
    sessionStart('startup'),
  ],

  [
    'logs',
    { entries: [{ count: 'many' }] },
    withFile('specs/.postflight/journal.jsonl', '{"event":"block","count":"many"}\n'),
  ],

  ['init --yes', { scope: 'local', changed: true, dry_run: false }],
  ['init --dry-run', { changed: true, dry_run: true, backups: [] }],
  ['init', { error: { code: 'needs-answer' } }],
  ['install', { backup: expect.any(String), command: expect.any(String) }, withFile('.claude/settings.json', '{}')],
  [
    'install --reactive rules.json',
    { changed: true, rules: 'rules.json', notes: [expect.any(String)] },
    withFile('rules.json', '[{ "tool": "bash", "prompt": "Look.", "tools": ["read"] }]'),
  ],
  ['install --host opencode', { backup: null, plugin: expect.any(String), taken_out_of: [] }],
  ['uninstall', { changed: false, removed_file: false }],
  ['uninstall', { changed: true, removed_file: true }, after('install')],

  ['doctor', { findings: expect.arrayContaining([expect.objectContaining({ check: 'workflow' })]) }, running],

  ['workflow validate flow.json', { valid: true, phases: 2 }, withFlow],
  ['workflow validate flow.json', { valid: false, phases: null }, withFile('flow.json', '{"name": "x"}')],
  ['workflow start 7 x --definition flow.json', { active: true }, withFlow],
  ['workflow status 7', { phases: [{ gate: 'strict' }, { artifact: null }] }, running],
  ['workflow status', { workflows: [{ active: true }] }, running],
  [
    'workflow status',
    { workflows: [{ error: { code: 'workflow-state' } }] },
    withFile(`specs/${TASK}/workflow/state.json`, '{'),
  ],
  ['workflow next 7', { command: 'prompt', step: null, agent: 'planner' }, running],
  ['workflow next 7', { command: 'finish', outcome: 'aborted' }, aborted],
  ['workflow check 7', { error: { code: 'check-none' } }, running],
  ['workflow check 7', { error: { code: 'workflow-over' } }, aborted],
  ['workflow check 7', { result: 'too-early', failed: null }, withCheck],
  ['workflow stop 7', { active: false, outcome: 'stopped' }, running],
  ['workflow resume 7', { active: true, taken_over_from: null }, running],
  ['workflow abort 7', { outcome: 'aborted' }, running],
  ['workflow history 7', { history: [{ event: 'start' }, { visit: 1 }, { event: 'end' }] }, aborted],
  ['workflow simulate flow.json', { outcome: 'completed', path: [{ phase: 'plan', visit: 1 }, {}] }, withFlow],
  ['workflow approve 7', { error: { code: 'approval-agent' } }, running],
  ['workflow reject 7 --reason no', { error: { code: 'approval-agent' } }, running],
  ['workflow retry 7 --step 1', { error: { code: 'run-step' } }, running],
  ['workflow skip 7 --step 1', { error: { code: 'run-step' } }, running],
  ['workflow share 7', { shared: { remote: 'origin', is_published: true } }, cloned],
  ['workflow share 7 up', { error: { code: 'remote-unknown' } }, cloned],
  ['workflow publish 7', { shared: { problem: null } }, shared],
  ['workflow release 7', { active: false, outcome: 'moved' }, shared],
  ['status --shared', { runs: [{ here: true, needs: 'prompt' }] }, shared],
  ['workflow graph 7', { mermaid: expect.stringContaining('flowchart') }, running],
]

describe.concurrent('a document with --json', () => {
  it.each<Row>(ROWS)('%s', async (line, holds, ready, payload) => {
    const project = createSourceProject()
    await ready?.(project)
    const run = await project.cli([...line.split(' '), '--json'], {
      env: { ...SESSION_ENV, CLAUDECODE: '1', CLAUDE_PROJECT_DIR: project.dir },
      ...(payload !== undefined && { input: JSON.stringify({ cwd: project.dir, ...payload }) }),
    })
    // json() compares the document with the schema of its command.
    expect(run.json()).toMatchObject(holds)
  })

  it('has a schema for every command', () => {
    expect([...new Set(ROWS.map(([line]) => commandIn(line.split(' '))))].sort()).toEqual(Object.keys(DOCUMENTS).sort())
  })

  it('has a JSON Schema that allows no other properties', () => {
    for (const document of Object.values(DOCUMENTS)) {
      const { anyOf, ...one } = z.toJSONSchema(document)
      for (const form of anyOf ?? [one]) expect(form).toMatchObject({ type: 'object', additionalProperties: false })
    }
  })

  it('is printed on each line with --watch', async () => {
    const project = createSourceProject()
    await aborted(project)
    const run = await project.cli(['workflow', 'status', '7', '--watch', '--json'])
    expect(run.stdout).toMatch(/^[^\n]+\n$/)
    expect(run.json()).toMatchObject({ outcome: 'aborted' })
  })

  it('is an entry of the journal on each line with --follow', async ({ expect, onTestFinished }) => {
    const project = createSourceProject()
    project.write('specs/.postflight/journal.jsonl', '{"event":"block","count":1}\n{"event":"clear"}\n')
    const { stdout } = startCli(project, ['logs', '--follow', '--json'], onTestFinished)
    await expect.poll(stdout, { timeout: 10_000 }).toMatch(/^[^\n]+\n[^\n]+\n$/)
    const entries = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(entries.map((entry) => journalEntryDocument().safeParse(entry).success)).toEqual([true, true])
  })
})
