/** The `--json` output of every command, in each of its forms, compared with the schemas in `src/views/documents/`. */

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

/** A command line, the project that it needs, and a part of the document that it prints. */
interface Row {
  readonly words: readonly string[]
  readonly holds: object
  readonly ready?: (project: Project) => unknown
  readonly payload?: object
}

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

const withMarker =
  (content: object | '' | 'not json') =>
  (project: Project): string =>
    project.marker(TASK, content as Readonly<Record<string, unknown>>)

const withFlow = (project: Project): string => project.write('flow.json', JSON.stringify(FLOW))

const running = async (project: Project): Promise<void> => {
  withFlow(project)
  await after('workflow start 7 x --definition flow.json')(project)
}

const cloned = async (project: Project): Promise<void> => {
  makeRepository(project)
  await running(project)
}

const shared = async (project: Project): Promise<void> => {
  await cloned(project)
  await after('workflow share 7')(project)
}

const withCheck = async (project: Project): Promise<void> => {
  const phases = [{ id: 'plan', prompt: 'plan', artifact: 'plan.json', check: { run: 'true' } }]
  project.write('flow.json', JSON.stringify({ ...FLOW, phases }))
  await after('workflow start 7 x --definition flow.json')(project)
}

const withDone = (project: Project): string =>
  project.write('specs/done.yaml', 'done: [{ when: "specs/done.yaml", check: "true" }]')

const trusted = async (project: Project): Promise<void> => {
  withDone(project)
  expect((await project.cli(['trust', '--yes'])).status).toBe(0)
}

const aborted = async (project: Project): Promise<void> => {
  await running(project)
  await after('workflow abort 7')(project)
}

const withUnreadable = (project: Project): void => {
  mkdirSync(project.at('specs', TASK, '.postflight-pending'), { recursive: true })
}

const withAbandoned = (project: Project): string =>
  project.write(`specs/${TASK}/.postflight-abandoned`, JSON.stringify(FOREIGN))

const ROWS: readonly Row[] = [
  { words: ['create', '7', 'x'], holds: { renewed: false, replaced: null } },
  { words: ['create', '7'], holds: { error: { code: 'marker-of-other-session' } }, ready: withMarker(FOREIGN) },
  { words: ['create', '7', '--force'], holds: { replaced: FOREIGN.id }, ready: withMarker(FOREIGN) },
  { words: ['create', '7', '--force'], holds: { replaced: true }, ready: withMarker('') },

  { words: ['clear', '7'], holds: { cleared: [{ marker_id: FOREIGN.id }] }, ready: withMarker(FOREIGN) },
  {
    words: ['clear', '7'],
    holds: { cleared: [], settled: [{ task: TASK, outcome: 'aborted', resume: null }] },
    ready: aborted,
  },
  {
    words: ['clear', '--all'],
    holds: { cleared: [], running: [{ task: TASK, stop: 'postflight workflow stop 007_x --now' }] },
    ready: running,
  },

  { words: ['status'], holds: { clean: true, items: [] } },
  { words: ['status'], holds: { clean: false, items: [{ kind: 'abandoned' }] }, ready: withAbandoned },
  { words: ['status'], holds: { items: [{ kind: 'unreadable' }] }, ready: withUnreadable },
  { words: ['status'], holds: { clean: true, ended: [{ kind: 'aborted' }] }, ready: aborted },
  { words: ['statusline'], holds: { text: '', pending: 0 } },
  { words: ['statusline'], holds: { abandoned: 1 }, ready: withAbandoned },
  { words: ['report'], holds: { file: null, tasks: [] } },
  { words: ['report'], holds: { tasks: [{ promises: [{ standing: 'abandoned' }] }] }, ready: withAbandoned },
  { words: ['report', '7'], holds: { tasks: [{ runs: [{ standing: 'running' }] }] }, ready: running },
  { words: ['completion', 'fish'], holds: { script: expect.stringContaining('complete -c postflight') } },
  { words: ['complete', 'work'], holds: { words: [{ value: 'workflow' }], files: false } },
  { words: ['inspect'], holds: { pending: 0, markers: [] } },
  { words: ['inspect'], holds: { markers: [{ state: 'unreadable', reason: null }] }, ready: withMarker('not json') },
  { words: ['inspect'], holds: { markers: [{ state: 'unreadable' }] }, ready: withUnreadable },
  { words: ['inspect'], holds: { markers: [{ state: 'abandoned' }] }, ready: withAbandoned },
  { words: ['inspect'], holds: { pending: 0, markers: [] }, ready: running },

  { words: ['step', '7', 'two'], holds: { remaining: 1 }, ready: withMarker({ steps: ['one', 'two'] }) },

  {
    words: ['wait', '7', '--for', 'an answer'],
    holds: { for: 'an answer', count: 1 },
    ready: withMarker({ ...FOREIGN, cc_session_id: SESSION }),
  },
  { words: ['wait', '7', '--for', 'x'], holds: { error: { code: 'wait-refused' } }, ready: withMarker(FOREIGN) },

  { words: ['bypass', '7'], holds: { bypassed: [{ marker_id: null }] }, ready: withMarker('') },
  {
    words: ['bypass', '--all'],
    holds: { bypassed: [], stopped: [{ task: TASK, resume: 'postflight workflow resume 007_x' }] },
    ready: running,
  },

  { words: ['trust', '--yes'], holds: { error: { code: 'trust-agent' } }, ready: withDone },
  { words: ['done'], holds: { error: { code: 'done-none' } } },
  { words: ['done', '--list'], holds: { error: { code: 'done-untrusted' } }, ready: withDone },
  { words: ['done', '--list'], holds: { rules: [{ due: true }], checks: [] }, ready: trusted },
  { words: ['done', '--all'], holds: { rules: [{ green: true }], checks: [{ run: 'true' }] }, ready: trusted },

  { words: ['adopt', '7'], holds: { revived: false, owner: { agent: 'main' } }, ready: withMarker(FOREIGN) },
  { words: ['adopt', '7'], holds: { revived: true }, ready: withAbandoned },

  { words: ['explain'], holds: { payload: { host_session: null }, markers: [], answer: {} } },
  {
    words: ['explain', '--payload', '-'],
    holds: { markers: [{ rule: 'block', answer: 'block' }], answer: { decision: 'block' } },
    ready: withMarker({ ...FOREIGN, cc_session_id: SESSION }),
    payload: subagentStop(),
  },
  {
    words: ['explain', '--payload', '-'],
    holds: { markers: [{ rule: null, row: null }], answer: { systemMessage: expect.any(String) } },
    ready: withUnreadable,
    payload: subagentStop(),
  },
  { words: ['explain', '--payload', '-'], holds: { runs: [{ answer: 'driver' }] }, ready: running, payload: stop() },
  {
    words: ['explain', '--payload', '-'],
    holds: { why: expect.any(String), answer: { hookSpecificOutput: { hookEventName: 'SessionStart' } } },
    ready: withMarker(FOREIGN),
    payload: sessionStart('startup'),
  },

  {
    words: ['logs'],
    holds: { entries: [{ count: 'of another program' }] },
    ready: (project) =>
      project.write('specs/.postflight/journal.jsonl', '{"event":"block","count":"of another program"}\n'),
  },

  { words: ['init', '--yes'], holds: { scope: 'local', changed: true, dry_run: false } },
  { words: ['init', '--dry-run'], holds: { changed: true, dry_run: true, backups: [] } },
  { words: ['init'], holds: { error: { code: 'needs-answer' } } },
  {
    words: ['install'],
    holds: { backup: expect.any(String), command: expect.any(String) },
    ready: (project) => project.write('.claude/settings.json', '{}'),
  },
  {
    words: ['install', '--reactive', 'rules.json'],
    holds: { changed: true, rules: 'rules.json', notes: [expect.any(String)] },
    ready: (project) => {
      project.write('rules.json', '[{ "tool": "bash", "prompt": "Look.", "tools": ["read"] }]')
    },
  },
  { words: ['install', '--host', 'opencode'], holds: { backup: null, plugin: expect.any(String), taken_out_of: [] } },
  { words: ['uninstall'], holds: { changed: false, removed_file: false } },
  { words: ['uninstall'], holds: { changed: true, removed_file: true }, ready: after('install') },

  {
    words: ['doctor'],
    holds: { findings: expect.arrayContaining([expect.objectContaining({ check: 'workflow' })]) },
    ready: running,
  },

  { words: ['workflow', 'validate', 'flow.json'], holds: { valid: true, phases: 2 }, ready: withFlow },
  {
    words: ['workflow', 'validate', 'flow.json'],
    holds: { valid: false, phases: null },
    ready: (project) => project.write('flow.json', '{"name": "x"}'),
  },
  { words: ['workflow', 'start', '7', 'x', '--definition', 'flow.json'], holds: { active: true }, ready: withFlow },
  { words: ['workflow', 'status', '7'], holds: { phases: [{ gate: 'strict' }, { artifact: null }] }, ready: running },
  { words: ['workflow', 'status'], holds: { workflows: [{ active: true }] }, ready: running },
  {
    words: ['workflow', 'status'],
    holds: { workflows: [{ error: { code: 'workflow-state' } }] },
    ready: (project) => project.write(`specs/${TASK}/workflow/state.json`, '{'),
  },
  { words: ['workflow', 'next', '7'], holds: { command: 'prompt', step: null, agent: 'planner' }, ready: running },
  { words: ['workflow', 'next', '7'], holds: { command: 'finish', outcome: 'aborted' }, ready: aborted },
  { words: ['workflow', 'check', '7'], holds: { error: { code: 'check-none' } }, ready: running },
  { words: ['workflow', 'check', '7'], holds: { result: 'too-early', failed: null }, ready: withCheck },
  { words: ['workflow', 'stop', '7'], holds: { active: false, outcome: 'stopped' }, ready: running },
  { words: ['workflow', 'resume', '7'], holds: { active: true, taken_over_from: null }, ready: running },
  { words: ['workflow', 'abort', '7'], holds: { outcome: 'aborted' }, ready: running },
  {
    words: ['workflow', 'history', '7'],
    holds: { history: [{ event: 'start' }, { visit: 1 }, { event: 'end' }] },
    ready: aborted,
  },
  {
    words: ['workflow', 'simulate', 'flow.json'],
    holds: { outcome: 'completed', path: [{ phase: 'plan', visit: 1 }, {}] },
    ready: withFlow,
  },
  { words: ['workflow', 'approve', '7'], holds: { error: { code: 'approval-agent' } }, ready: running },
  {
    words: ['workflow', 'reject', '7', '--reason', 'no'],
    holds: { error: { code: 'approval-agent' } },
    ready: running,
  },
  { words: ['workflow', 'retry', '7', '--step', '1'], holds: { error: { code: 'run-step' } }, ready: running },
  { words: ['workflow', 'skip', '7', '--step', '1'], holds: { error: { code: 'run-step' } }, ready: running },
  { words: ['workflow', 'share', '7'], holds: { shared: { remote: 'origin', is_published: true } }, ready: cloned },
  { words: ['workflow', 'share', '7', 'up'], holds: { error: { code: 'remote-unknown' } }, ready: cloned },
  { words: ['workflow', 'publish', '7'], holds: { shared: { problem: null } }, ready: shared },
  { words: ['workflow', 'release', '7'], holds: { active: false, outcome: 'moved' }, ready: shared },
  { words: ['status', '--shared'], holds: { runs: [{ here: true, needs: 'prompt' }] }, ready: shared },
  { words: ['workflow', 'graph', '7'], holds: { mermaid: expect.stringContaining('flowchart') }, ready: running },
]

describe.concurrent('a document with --json', () => {
  it.each(ROWS.map((row) => [row.words.join(' '), row] as const))(
    '%s',
    async (_line, { words, holds, ready, payload }) => {
      const project = createSourceProject()
      await ready?.(project)

      const run = await project.cli([...words, '--json'], {
        env: { ...SESSION_ENV, CLAUDECODE: '1', CLAUDE_PROJECT_DIR: project.dir },
        ...(payload !== undefined && { input: JSON.stringify({ cwd: project.dir, ...payload }) }),
      })

      // json() compares the document with the schema of its command.
      expect(run.json()).toMatchObject(holds)
    },
  )

  it('has a schema for every command', () => {
    expect([...new Set(ROWS.map(({ words }) => commandIn(words)))].sort()).toEqual(Object.keys(DOCUMENTS).sort())
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
