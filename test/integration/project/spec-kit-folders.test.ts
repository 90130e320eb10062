import { mkdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SESSION, subagentStop } from '../../support/payloads.ts'
import { createProject, createSourceProject, type Project } from '../../support/project.ts'

const ALBUMS = 'specs/001-photo-albums'

/** A project as spec-kit leaves it: the folders have a dash after the number. */
function specKitProject(make: typeof createProject = createSourceProject): Project {
  const project = make()
  project.write(`${ALBUMS}/spec.md`, '# Photo albums\n')
  project.write(`${ALBUMS}/contracts/api.yaml`, 'openapi: 3.1.0\n')
  project.write('specs/002-sharing/spec.md', '# Sharing\n')
  return project
}

const FLOW = JSON.stringify({ name: 'flow', phases: [{ id: 'report', prompt: 'Report.', artifact: 'report.md' }] })

describe.concurrent('a project with the folders of spec-kit', () => {
  it('has its tasks found by number, from create to clear', async () => {
    const project = specKitProject()
    const words = ['create', '1', '--host-session', SESSION, '--agent', 'main', '--step', 'commit', '--json']
    const path = project.at(ALBUMS, '.postflight-pending')
    expect((await project.cli(words)).json()).toMatchObject({ task: '001-photo-albums', path })
    expect(JSON.parse(project.read(`${ALBUMS}/.postflight-pending`))).toMatchObject({ task_number: 1 })
    const session = `--host-session ${SESSION}`
    const lines = ['inspect 001', 'step 1 commit', `wait 1 --for review ${session}`, 'bypass 1', `adopt 1 ${session}`]
    for (const line of [...lines, 'clear 1']) {
      expect({ line, ...(await project.cli(line.split(' '))) }).toMatchObject({ line, status: 0, stderr: '' })
    }
    expect(project.has(`${ALBUMS}/.postflight-pending`)).toBe(false)
  })

  it('has its markers found at a stop, by launcher and hook', async () => {
    const project = specKitProject(createProject)
    await project.cli(['create', '2', '--host-session', SESSION, '--agent', 'agent-a'])
    const { answer } = await project.hook(subagentStop({ agent_id: 'agent-a' }))
    expect(answer.decision).toBe('block')
    expect(answer.reason).toContain('002-sharing')
  })

  it('has its runs found by number', async () => {
    const project = specKitProject()
    project.write('flow.json', FLOW)
    const start = ['start', '1', '--definition', 'flow.json', '--host-session', SESSION]
    const others = ['status', 'next', 'history', 'graph', 'stop', 'resume', 'abort'].map((command) => [command, '1'])
    for (const words of [start, ...others]) {
      expect({ words, ...(await project.cli(['workflow', ...words])) }).toMatchObject({ words, status: 0 })
    }
    expect(project.has(`${ALBUMS}/workflow/state.json`)).toBe(true)
  })

  it('gets new folders with the same separator', async () => {
    const project = specKitProject()
    await project.cli(['create', '3', 'search'])
    project.write('flow.json', FLOW)
    await project.cli(['workflow', 'start', '4', 'export', '--definition', 'flow.json', '--host-session', SESSION])
    expect(project.has('specs/003-search/.postflight-pending')).toBe(true)
    expect(project.has('specs/004-export/workflow/state.json')).toBe(true)
  })

  it('never gets a second folder for a number, whatever the separator', async () => {
    const project = specKitProject()
    const same = await project.cli(['create', '1', 'photo-albums', '--json'])
    const typed = await project.cli(['create', '1_photo-albums', '--json'])
    const other = await project.cli(['create', '1', 'search'])
    expect([same.json().task, typed.json().task]).toEqual(['001-photo-albums', '001-photo-albums'])
    expect(other).toMatchObject({ status: 1, stderr: expect.stringContaining('001-photo-albums') })
    expect(project.has('specs/001_photo-albums')).toBe(false)
  })

  it('may have folders numbered by time, which are named in full', async () => {
    const project = specKitProject()
    mkdirSync(project.at('specs/20260319-143022-albums'))
    project.write('flow.json', FLOW)
    const created = await project.cli(['create', '20260319-143022-albums', '--json'])
    const started = await project.cli(['workflow', 'start', '20260319-143022-albums', '--definition', 'flow.json'])
    expect([created.json().task, started.status]).toEqual(['20260319-143022-albums', 0])
  })

  it('is asked which one is meant if a number has two folders', async () => {
    const project = specKitProject()
    mkdirSync(project.at('specs/001_old'))
    const { status, stderr } = await project.cli(['create', '1'])
    expect(status).not.toBe(0)
    expect(stderr).toContain('001-photo-albums, 001_old')
  })
})
