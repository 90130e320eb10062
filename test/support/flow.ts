/** A workflow run of task 7, by the sources: what its person, its agent and its disk do. */

import { expect } from 'vitest'
import { type Fields, SESSION, stop } from './payloads.ts'
import {
  claudeHookEnv,
  createSourceProject,
  type HookRun,
  type JsonDocument,
  type Project,
  type RunOptions,
} from './project.ts'

/** The session of the payloads, which may drive a run. */
export const IN_SESSION = { CLAUDE_CODE_SESSION_ID: SESSION }

export const IN_TASK = 'specs/007_flow'

export interface Flow extends Project {
  workflow(...words: string[]): ReturnType<Project['cli']>
  next(options?: RunOptions): Promise<JsonDocument>
  /** Writes a file of the task folder. Returns its path. */
  put(name: string, text: string | Uint8Array): string
  leave(success: boolean, file?: string): void
  state(): JsonDocument
  /** What `workflow status 7` says. */
  status(): Promise<JsonDocument>
  /** The answer at a stop of that session, or at another event, on Claude Code. */
  stopped(payload?: Fields, env?: Readonly<Record<string, string>>): Promise<HookRun['answer']>
}

/** A project with the definition `flow.json`. */
export function flowProject(phases: readonly object[], more: object = {}, make = createSourceProject): Flow {
  const project = make()
  project.write('flow.json', JSON.stringify({ name: 'flow', phases, ...more }))
  const put: Flow['put'] = (name, text) => project.write(`${IN_TASK}/${name}`, text)
  return {
    ...project,
    put,
    workflow: (...words) => project.cli(['workflow', ...words]),
    async next(options) {
      const run = await project.cli(['workflow', 'next', '7', '--json'], options)
      const document = run.json()
      const isNegative = document.command === 'finish' && document.outcome !== 'completed'
      expect(run.status, run.stderr).toBe(isNegative ? 1 : 0)
      return document
    },
    leave: (success, file = 'step-result.json') => void put(file, JSON.stringify({ success })),
    state: () => JSON.parse(project.read(`${IN_TASK}/workflow/state.json`)),
    status: async () => (await project.cli(['workflow', 'status', '7', '--json'])).json(),
    stopped: async (payload = stop(), env = {}) =>
      (await project.hook(payload, { env: { ...claudeHookEnv(project, SESSION), ...env } })).answer,
  }
}

export async function startFlow(
  phases: readonly object[],
  {
    more,
    make,
    env,
    words = [],
  }: { more?: object; make?: (() => Project) | undefined; words?: readonly string[] } & RunOptions = {},
): Promise<Flow> {
  const project = flowProject(phases, more, make)
  const start = ['workflow', 'start', '7', 'flow', '--definition', 'flow.json', ...words]
  const run = await project.cli(start, env && { env })
  expect(run.status, run.stderr).toBe(0)
  return project
}
