import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Creates throw-away projects of a given size. */

export const SESSION = 'bench-session'
export const AGENT = 'bench-agent'
const FILES_PER_FOLDER = 20

const made: string[] = []

/** A project with `folders` task folders of 20 files each. */
export function makeProject(folders: number): string {
  const project = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'postflight-bench-'))
  made.push(project)
  for (let number = 1; number <= folders; number++) {
    const folder = taskFolder(project, number)
    fs.mkdirSync(folder, { recursive: true })
    for (let file = 1; file <= FILES_PER_FOLDER; file++)
      fs.writeFileSync(path.join(folder, `file-${file}.md`), 'text\n')
  }
  return project
}

/** The folder of a task by its number. */
export function taskFolder(project: string, number: number): string {
  return path.join(project, 'specs', `${String(number).padStart(3, '0')}_task`)
}

/** Writes a marker, as `create` does, and removes the count of an earlier run. */
export function putMarker(
  project: string,
  number: number,
  session: string = SESSION,
  steps: readonly string[] = [],
): void {
  const folder = taskFolder(project, number)
  for (const name of ['.postflight-loop-guard', '.postflight-claims', '.postflight-abandoned']) {
    fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
  // The same marker again would count as one that was given up and that git brought back.
  fs.rmSync(path.join(project, 'specs', '.postflight', 'given-up'), { recursive: true, force: true })
  const marker = {
    id: `pf_${String(number).padStart(12, '0')}`,
    session_id: 'sess_1',
    skill: 'bench',
    task_number: number,
    operation: 'research',
    reason: 'Postflight pending: status update, artifact linking, git commit',
    created: new Date().toISOString(),
    stop_hook_active: false,
    cc_session_id: session,
    agent_id: AGENT,
    ...(steps.length > 0 && { steps: steps.map((name) => ({ name, done: false })) }),
  }
  fs.writeFileSync(path.join(folder, '.postflight-pending'), `${JSON.stringify(marker, null, 2)}\n`)
}

/** A project in which a workflow of `phases` phases of ten steps runs; `finishStep` leaves a result for its step. */
export function makeWorkflow(phases: number, cli: string): { project: string; finishStep: () => void } {
  const project = makeProject(1)
  const file = path.join(project, 'flow.json')
  const steps = Array.from({ length: 10 }, (_, index) => `step ${index + 1} of the work, in a few words`)
  const definition = {
    name: 'bench',
    phases: Array.from({ length: phases }, (_, index) => ({
      id: `phase-${index + 1}`,
      steps,
      step_prompt: 'Do {{step}}, and run the tests that belong to it.',
    })),
  }
  fs.writeFileSync(file, JSON.stringify(definition))
  const run = spawnSync(
    process.execPath,
    [cli, 'workflow', 'start', '1', '--definition', file, '--host-session', SESSION],
    { cwd: project, encoding: 'utf8' },
  )
  if (run.status !== 0) throw new Error(run.stderr)
  const result = path.join(taskFolder(project, 1), 'step-result.json')
  return { project, finishStep: () => fs.writeFileSync(result, '{"success": true}') }
}

/** A payload as Claude Code sends it when the main conversation stops. */
export function mainStopPayload(project: string): string {
  const { agent_id: _agent, agent_type: _type, ...common } = JSON.parse(stopPayload(project))
  return JSON.stringify({ ...common, hook_event_name: 'Stop' })
}

/** Removes all projects. */
export function removeProjects(): void {
  for (const project of made) fs.rmSync(project, { recursive: true, force: true })
}

/** A payload as Claude Code sends it when the sub-agent stops. */
export function stopPayload(project: string): string {
  return JSON.stringify({
    session_id: SESSION,
    transcript_path: path.join(project, 'transcript.jsonl'),
    cwd: project,
    hook_event_name: 'SubagentStop',
    stop_hook_active: false,
    agent_id: AGENT,
    agent_type: 'general-purpose',
    last_assistant_message: 'Done. '.repeat(200),
    background_tasks: [],
  })
}
