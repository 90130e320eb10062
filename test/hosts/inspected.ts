/** What the tests look at in a project, whichever client ran there: files, markers, the journal, and the CLI's answers. */

import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from './claude-code/project.ts'

interface JournalLine {
  event: string
  task?: string
  agent?: string
  count?: number
  outcome?: string
  detail?: string
  marker_id?: string
  host_session?: string
}

/** A project from outside. `root` is a root for tasks below the project's folder, if it is not that folder. */
export interface Inspected {
  /** Runs the CLI as a user does in a separate terminal. */
  postflight(...args: string[]): SpawnSyncReturns<string>
  /** The text of a file in the project, or undefined. */
  read(name: string): string | undefined
  /** The marker of a task as JSON, or undefined. */
  marker(task: string, root?: string): Record<string, unknown> | undefined
  /** The state of the run of task 7 as JSON. */
  state(): Record<string, unknown>
  /** The names of the files in a task's folder, sorted. */
  files(task: string, root?: string): string[]
  journal(root?: string): JournalLine[]
  /** The journal in short: `create`, `claim`, `block 1`, … */
  story(root?: string): string[]
  /** The story without the events that those around them imply. */
  mainEvents(): string[]
  /** The subjects of the commits, newest first. */
  subjects(): string[]
}

export function inspected(project: Project, packageFolder: string): Inspected {
  const read = (name: string): string | undefined => {
    const file = join(project.dir, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  const journal = (root = '.'): JournalLine[] => {
    const lines = (read(join(root, 'specs', '.postflight', 'journal.jsonl')) ?? '').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalLine)
  }
  const story = (root?: string): string[] =>
    journal(root).map(({ event, count }) => (count === undefined ? event : `${event} ${count}`))
  return {
    read,
    journal,
    postflight: (...args) =>
      spawnSync(process.execPath, [join(packageFolder, 'bin', 'postflight.js'), ...args], {
        cwd: project.dir,
        env: { PATH: project.path, HOME: project.home },
        encoding: 'utf8',
      }),
    marker(task, root = '.') {
      const text = read(join(root, 'specs', task, '.postflight-pending'))
      return text === undefined ? undefined : JSON.parse(text)
    },
    state: () => JSON.parse(read('specs/007_flow/workflow/state.json') ?? '{}'),
    files(task, root = '.') {
      const folder = join(project.dir, root, 'specs', task)
      return existsSync(folder) ? readdirSync(folder).sort() : []
    },
    story,
    subjects: () =>
      spawnSync('git', ['log', '--format=%s'], { cwd: project.dir, encoding: 'utf8' }).stdout.trim().split('\n'),
    mainEvents: () => story().filter((event) => !['claim', 'check', 'wait-end'].includes(event)),
  }
}
