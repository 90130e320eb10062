/** `examples/spec-kit.yaml` on a folder after spec-kit's published layout and templates. */

import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../../support/process.ts'
import { createSourceProject, type JsonDocument, type Project } from '../../support/project.ts'

const IN_TASK = 'specs/001-photo-albums'
const EXAMPLE = `${PACKAGE}/examples/spec-kit.yaml`

/** As long as the example asks for. */
const SPEC = `# Feature Specification: Photo Albums

${'1. **Given** a photo, **When** it is dragged onto an album, **Then** the album shows it\n'.repeat(3)}`

const PLAN = `# Implementation Plan: Photo Albums\n\n${'**Language/Version**: TypeScript 5.9\n'.repeat(6)}`

const TASKS = `---
description: "Task list for photo albums"
---

# Tasks: Photo Albums

## Format: \`[ID] [P?] [Story] Description\`

- **[P]**: Can run in parallel (different files, no dependencies)

## Phase 1: Setup (Shared Infrastructure)

- [x] T001 Create project structure per implementation plan
- [ ] T002 [P] Configure linting and formatting tools

---

**⚠️ CRITICAL**: No user story work can begin until this phase is complete

- [ ] T003 Setup database schema in src/db/schema.sql

> **NOTE: Write these tests FIRST, ensure they FAIL before implementation**

- [ ] T004 [P] [US1] Contract test for POST /albums in tests/contract/test_albums.ts

\`\`\`bash
- [ ] Task: "Contract test for POST /albums"
\`\`\`
`

/** A project as \`specify init\` and the slash commands leave it, up to some file. */
function specKitProject(files: Readonly<Record<string, string>>): Project {
  const project = createSourceProject({ files: { '.specify/memory/constitution.md': '# Constitution\n' } })
  for (const name of ['spec', 'plan', 'tasks', 'checklist']) {
    project.write(`.specify/templates/${name}-template.md`, '# [FEATURE NAME]\n')
  }
  project.write(`${IN_TASK}/checklists/requirements.md`, '- [ ] No [NEEDS CLARIFICATION] markers\n')
  project.write(`${IN_TASK}/contracts/albums.yaml`, 'openapi: 3.1.0\n')
  for (const [name, text] of Object.entries(files)) project.write(`${IN_TASK}/${name}`, text)
  return project
}

async function workflow(project: Project, ...words: string[]): Promise<JsonDocument> {
  const run = await project.cli(['workflow', ...words, '--json'])
  expect(run, run.stderr).toMatchObject({ status: 0 })
  return run.json()
}

describe('the example for spec-kit', () => {
  it("continues from the folder's present state: the open tasks are done in their order, once a person has approved them", async () => {
    const project = specKitProject({ 'spec.md': SPEC, 'plan.md': PLAN, 'tasks.md': TASKS })
    await workflow(project, 'start', '1', '--definition', EXAMPLE)
    expect(await workflow(project, 'next', '1')).toMatchObject({ command: 'wait' })
    await workflow(project, 'approve', '1')
    const done: string[] = []
    for (;;) {
      const { phase, prompt } = await workflow(project, 'next', '1')
      if (phase !== 'implement') break
      done.push(/^T\d+ .*$/m.exec(prompt)?.[0] ?? prompt)
      project.write(`${IN_TASK}/step-result.json`, '{"success": true}')
    }
    expect(done).toEqual([
      'T002 [P] Configure linting and formatting tools',
      'T003 Setup database schema in src/db/schema.sql',
      'T004 [P] [US1] Contract test for POST /albums in tests/contract/test_albums.ts',
    ])
    expect(project.read(`${IN_TASK}/tasks.md`)).toBe(TASKS.replaceAll(/- \[ \] (?=T\d)/g, '- [x] '))
    expect(project.read(`${IN_TASK}/spec.md`)).toBe(SPEC)
    project.write(`${IN_TASK}/checklists/acceptance.md`, 'All scenarios hold: the tests say so. '.repeat(3))
    const end = await project.cli(['workflow', 'next', '1', '--json'])
    expect(end.json()).toMatchObject({ command: 'finish', outcome: 'completed' })
  })

  it('begins with the specification in an empty folder, and names the feature', async () => {
    const project = specKitProject({})
    const feature = 'Sort photos into albums'
    await workflow(project, 'start', '1', '--definition', EXAMPLE, '--set', `feature=${feature}`)
    const due = await workflow(project, 'next', '1')
    expect(due).toMatchObject({ phase: 'specify', artifact: 'spec.md', prompt: expect.stringContaining(feature) })
    project.write(`${IN_TASK}/spec.md`, SPEC)
    expect(await workflow(project, 'next', '1')).toMatchObject({ phase: 'plan', artifact: 'plan.md' })
  })
})
