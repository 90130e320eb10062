/** Processes of a run that are killed at any write, on a real disk: the next process continues the run. */

import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, stop } from '../support/payloads.ts'
import { LAUNCHER, PACKAGE } from '../support/process.ts'
import { createSourceProject, type JsonDocument, makeOld, type Project } from '../support/project.ts'
import { filesBelow } from './support/files.ts'

const IN_TASK = 'specs/007_flow'
const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const BACK_AT_MAKE = { command: 'prompt', phase: 'make', attempt: 1 }

/** Ends the process before the N-th call that changes a file. */
const KILLER = `
const fs = require('node:fs')
let left = Number(process.env.DIE_AT)
for (const name of ['openSync', 'writeSync', 'renameSync', 'unlinkSync', 'linkSync', 'mkdirSync']) {
  const original = fs[name]
  fs[name] = (...words) => {
    const changes = name !== 'openSync' || (typeof words[1] === 'string' ? words[1] !== 'r' : (words[1] & 3) !== 0)
    if (changes && left-- === 0) process.kill(process.pid, 'SIGKILL')
    return original(...words)
  }
}
`

const FLOW = {
  name: 'flow',
  phases: [
    { id: 'make', prompt: 'p', artifact: 'made.json' },
    { id: 'work', steps: ['one'], max_step_attempts: 2, max_visits: 2 },
    {
      ...{ id: 'check', prompt: 'p', artifact: 'check.json', max_visits: 2 },
      next: { pass: 'end', fail: 'make', verdict: '/ok' },
    },
  ],
}

/** The agent's results: the second attempt at the step succeeds, and the second check passes. */
function answer(project: Project, next: JsonDocument): void {
  const visit = /"visit":2/.test(project.read(`${IN_TASK}/workflow/state.json`)) ? 2 : 1
  if (next.phase === 'make') project.write(`${IN_TASK}/made.json`, `{"visit": ${visit}}`)
  if (next.phase === 'check') project.write(`${IN_TASK}/check.json`, `{"ok": ${next.prompt.includes('second')}}`)
  if (next.phase === 'work') project.write(`${IN_TASK}/step-result.json`, `{"success": ${next.attempt === 2}}`)
}

/** A project just before the transition with the most writes: an artifact leads back to an earlier phase. */
async function beforeGoingBack(): Promise<Project> {
  const project = createSourceProject({ files: { 'killer.cjs': KILLER } })
  const file = project.write('flow.json', JSON.stringify(FLOW))
  await project.cli(['workflow', 'start', '7', 'flow', '--definition', file])
  for (;;) {
    const next = (await project.cli(['workflow', 'next', '7', '--json'])).json()
    answer(project, next)
    if (next.phase === 'check') return project
  }
}

function resultsIn(folder: string): Record<string, string> {
  const files = Object.entries(filesBelow(join(folder, IN_TASK)))
  return Object.fromEntries(files.filter(([name]) => name.endsWith('.json') && !name.startsWith('workflow')))
}

/** Kills a command at one write after another, each time in a copy of the project, until it is not killed; checks each copy. */
async function killAtEachWrite(
  template: Project,
  words: readonly string[],
  check: (folder: string, where: string) => Promise<void>,
): Promise<number> {
  for (let call = 0; call < 60; call++) {
    const folder = copyOf(template, `killed-${call}`)
    const killed = await template.shell(
      `exec node -r ./killer.cjs "${PACKAGE}/bin/postflight.js" workflow ${words.join(' ')}`,
      { cwd: folder, env: { ...ENV, DIE_AT: String(call) } },
    )
    if (killed.signal !== 'SIGKILL') return call
    // The next process waits for a killed process's lock until it is stale.
    const lock = join(folder, IN_TASK, 'workflow/.postflight-lock')
    if (existsSync(lock)) makeOld(lock, 1)
    await check(folder, `call ${call}`)
  }
  throw new Error('it is killed at any call')
}

describe('a transition that is killed at any write', () => {
  it('is completed by the next process, which loses nothing and asks for nothing twice', async () => {
    const template = await beforeGoingBack()
    const next = ['workflow', 'next', '7', '--json']
    const straight = copyOf(template, 'straight')
    expect((await template.cli(next, { cwd: straight })).json()).toMatchObject(BACK_AT_MAKE)
    const wanted = resultsIn(straight)
    expect(Object.keys(wanted).sort()).toEqual(
      ['artifacts/make/1-made.json', 'check.json', 'step-results/work/1-1.json', 'step-results/work/1-2.json'].sort(),
    )
    const writes = await killAtEachWrite(template, ['next', '7', '--json'], async (folder, where) => {
      const resumed = await template.cli(['workflow', 'resume', '7'], { cwd: folder })
      expect(resumed.status, `${where}: ${resumed.stderr}`).toBe(0)
      expect((await template.cli(next, { cwd: folder })).json(), where).toMatchObject(BACK_AT_MAKE)
      expect(resultsIn(folder), where).toEqual(wanted)
      const litter = readdirSync(join(folder, IN_TASK, 'workflow')).filter((name) => name.endsWith('.tmp'))
      expect(litter, where).toEqual([])
    })
    expect(writes).toBeGreaterThan(8)
  }, 300_000)
})

const ONE_PHASE = JSON.stringify({ name: 'flow', phases: [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }] })
const START = ['start', '7', '--definition', 'flow.json']

describe('a command that is killed at any write', () => {
  it.each([
    ['start', START, []],
    ['stop', ['stop', '7'], [START]],
    ['abort', ['abort', '7'], [START]],
    ['resume', ['resume', '7'], [START, ['stop', '7']]],
  ])(
    'workflow %s loses no run, and leaves no run file behind',
    async (_, command, before) => {
      const template = createSourceProject()
      template.write('flow.json', ONE_PHASE)
      template.write('killer.cjs', KILLER)
      mkdirSync(template.at(IN_TASK))
      for (const words of before) await template.cli(['workflow', ...words], { env: ENV })
      const writes = await killAtEachWrite(template, command, async (folder, call) => {
        const where = { cwd: folder, env: { ...template.env, ...ENV, CLAUDE_PROJECT_DIR: folder } }
        const run = await template.hook({ ...stop(), cwd: folder }, { ...where, program: [LAUNCHER] })
        const state = join(folder, IN_TASK, 'workflow/state.json')
        const isActive =
          existsSync(state) && (await template.cli(['workflow', 'status', '7', '--json'], where)).json().active
        const running = join(folder, 'specs/.postflight/running')
        const files = existsSync(running) ? readdirSync(running).filter((name) => !name.startsWith('.')) : []
        // An active run is found by its file and goes on; without an active run the file is gone.
        expect(files, `${call}: ${run.stderr}`).toEqual(isActive ? ['007_flow'] : [])
        expect(run.answer.decision, call).toBe(isActive ? 'block' : undefined)
      })
      expect(writes).toBeGreaterThan(4)
    },
    300_000,
  )
})

function copyOf(project: Project, name: string): string {
  const folder = join(project.base, name)
  cpSync(project.dir, folder, { recursive: true })
  return folder
}
