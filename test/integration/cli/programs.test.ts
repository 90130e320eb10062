import { describe, expect, it } from 'vitest'
import { DOCUMENTS } from '../../support/command-documents.ts'
import { commandIn } from '../../support/documents.ts'
import { HOOK_EVENTS, type HookEvent, SESSION, shellRan, stop, subagentStop } from '../../support/payloads.ts'
import type { ProcessResult } from '../../support/process.ts'
import { claudeHookEnv, createProject, createSourceProject, type Project } from '../../support/project.ts'

/**
 * Most tests run the sources in their own process. Here each command and each event of the hook runs both ways: the built
 * files, as processes, must do the same.
 */

/** A command line, in which `ID` stands for the marker's id; or what the hook is given on stdin. */
type Line = string | HookEvent | { readonly hook: string; readonly words?: undefined }

const FLOW = JSON.stringify({
  name: 'flow',
  phases: [
    { id: 'plan', prompt: 'Plan {{task}}.', artifact: 'plan.json', check: { json: true } },
    { id: 'do', steps: ['one'], step_prompt: 'Do {{step}}.' },
  ],
})

const LINES: readonly Line[] = [
  ...['--version', '--help', 'workflow --help', 'nonsense', 'create 259 ../x --json', 'inspect 9 --json'],
  'create 259 x --operation research --step one --step two',
  { hook: shellRan('postflight create 259 x --operation research', 'created specs/259_x ID', { agent_id: 'agent-a' }) },
  ...HOOK_EVENTS,
  { hook: 'not JSON' },
  { hook: '' },
  { hook: { hook_event_name: 'PreCompact' } },
  ...['step 259 one', 'wait 259 --for answers', 'trust --yes', 'done --list', 'create 260 y --agent main'],
  'wait 260 --for answers',
  { hook: stop() },
  { hook: stop({ prompt_id: 'prompt-2' }) },
  ...['status', '--json', 'statusline', 'completion fish', 'complete -- workflow st', 'report 259 --json'],
  ...['inspect', 'inspect --json', 'explain', 'adopt 259 --host-session other --agent main --quiet', 'bypass 259'],
  { hook: subagentStop() },
  ...['create 259 --operation plan', 'clear 259 --json', 'workflow validate flow.json', 'workflow graph flow.json'],
  ...['workflow simulate flow.json --json', 'workflow start 7 flow --definition flow.json'],
  { hook: stop() },
  ...['workflow status', 'workflow next 7 --json', 'inspect --json', 'clear --all --dry-run'],
  ...['workflow check 7 --json', 'workflow skip 7 --step 1', 'workflow retry 7 --step 1', 'workflow approve 7'],
  ...['workflow reject 7 --reason no', 'workflow share 7', 'workflow publish 7', 'workflow release 7'],
  ...['workflow stop 7', 'workflow resume 7', 'workflow abort 7', 'workflow history 7', 'init --dry-run'],
  ...['init --yes', 'install --scope local', 'install --scope user', 'doctor --json', 'uninstall --scope local'],
  'logs -n 50',
]

/** Runs all of them in a project of its own; gives what each printed, and what lies there in the end. */
async function runAll(project: Project): Promise<unknown> {
  project.write('flow.json', FLOW)
  const env = claudeHookEnv(project, SESSION)
  const runs: unknown[] = []
  for (const line of LINES) {
    const run = typeof line === 'string' ? await project.cli(line.split(' '), { env }) : await ask(project, line, env)
    const { status, stdout, stderr } = run
    runs.push({ line, status, stdout: alike(project, stdout), stderr: alike(project, stderr) })
  }
  const files = Object.entries(project.snapshot()).map(([name, text]) => [alike(project, name), alike(project, text)])
  return { runs, files }
}

function ask(
  project: Project,
  { hook, words = [] }: Exclude<Line, string>,
  env: Record<string, string>,
): Promise<ProcessResult> {
  const marker = 'specs/259_x/.postflight-pending'
  const id = project.has(marker) ? JSON.parse(project.read(marker)).id : ''
  const input = typeof hook === 'string' ? hook : JSON.stringify({ cwd: project.dir, ...hook }).replace('ID', id)
  return project.hook(input, { words, env })
}

/** The text without what differs between two projects: their place, times, ids, identities of files. */
function alike(project: Project, text: string): string {
  return (
    text
      .replaceAll(project.base, '<base>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/(?:pf|wf)_[a-z0-9]{12}/g, '<id>')
      .replaceAll(/sess_\w+/g, '<session>')
      .replaceAll(/\bf[0-9a-z]+-[0-9a-z]{6,}\b/g, '<file>')
      .replaceAll(/\b\d+ s (old|ago)\b/g, 'seconds $1')
      .replaceAll(/("(?:age|duration)_ms":) ?\d+/g, '$1 0')
      .replaceAll(/("durations":)\{[^}]*\}/g, '$1 {}')
      // How long a run worked on a phase is left out for less than a second.
      .replaceAll(/( · \d+ s| *worked on \S+: .*)$/gm, '')
  )
}

describe('the built files, as processes,', () => {
  it('print and leave what the sources in this process do', async () => {
    const inProcess = await runAll(createSourceProject())
    expect(await runAll(createProject())).toEqual(inProcess)
    // Some sixty processes, one after another: slow on a busy machine.
  }, 180_000)

  it('are started for every command', () => {
    const commands = LINES.filter((line) => typeof line === 'string').map((line) => commandIn(line.split(' ')))
    expect(commands).toEqual(expect.arrayContaining(Object.keys(DOCUMENTS)))
  })
})
