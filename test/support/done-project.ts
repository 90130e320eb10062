/** Projects with a definition of done. */

import { expect } from 'vitest'
import { SESSION, sessionStart } from './payloads.ts'
import { createSourceProject, type Project } from './project.ts'

export const RULES = `done:
  - when: ["src/**", package.json]
    check: test ! -f broken
  - when: docs/**
    unless: docs/drafts/**
    check: ["true", "echo docs"]
    name: docs
`

/** A project whose definition of done is trusted, in a session that has begun. */
export async function begun(rules = RULES): Promise<Project> {
  const project = createSourceProject()
  project.write('specs/done.yaml', rules)
  project.write('src/a.ts', 'a')
  project.write('docs/a.md', 'a')
  expect((await project.cli(['trust', '--yes'])).status).toBe(0)
  await project.hook(sessionStart('startup'))
  await later()
  return project
}

/** The file system's clock ticks every few ms: what is written now is later than what was written before. */
export const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 12))

export async function edit(project: Project, name: string): Promise<void> {
  await later()
  project.write(name, String(Math.random()))
}

export const agentShell = (session = SESSION) => ({ env: { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: session } })
