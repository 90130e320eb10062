/** Processes of a run that are killed at any write, on a real disk: the next process continues the run. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SESSION, stop } from '../support/payloads.ts'
import { PACKAGE } from '../support/process.ts'
import { createProject, type JsonDocument, makeOld, type Project } from '../support/project.ts'

const IN_TASK = 'specs/007_flow'

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
    { id: 'work', steps: ['one'], max_step_attempts: 2 },
    {
      id: 'check',
      prompt: 'p',
      artifact: 'check.json',
      next: { pass: 'end', fail: 'make', verdict: '/ok' },
      max_visits: 2,
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
  const project = createProject()
  project.write('killer.cjs', KILLER)
  const flow = {
    ...FLOW,
    phases: FLOW.phases.map((phase) => (phase.id === 'work' ? { ...phase, max_visits: 2 } : phase)),
  }
  const file = project.write('flow.json', JSON.stringify(flow))
  await project.cli(['workflow', 'start', '7', 'flow', '--definition', file])
  for (;;) {
    const next = (await project.cli(['workflow', 'next', '7', '--json'])).json()
    answer(project, next)
    if (next.phase === 'check') return project
  }
}

function left(project: Project): Record<string, string> {
  const files = readdirSync(project.at(IN_TASK), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  )
  return Object.fromEntries(
    files
      .filter((name) => !name.startsWith('workflow'))
      .map((name) => [name, readFileSync(project.at(IN_TASK, name), 'utf8')]),
  )
}

describe('a transition that is killed at any write', () => {
  it('is completed by the next process, which loses nothing and asks for nothing twice', async () => {
    const template = await beforeGoingBack()
    const straight = await template.cli(['workflow', 'next', '7', '--json'], { cwd: copyOf(template, 'straight') })
    expect(straight.json()).toMatchObject({ command: 'prompt', phase: 'make', attempt: 1 })
    const wanted = left({ ...template, at: (...names) => join(template.base, 'straight', ...names) })
    expect(Object.keys(wanted).sort()).toEqual(
      ['artifacts/make/1-made.json', 'check.json', 'step-results/work/1-1.json', 'step-results/work/1-2.json'].sort(),
    )

    const killedAt = async (call: number): Promise<boolean> => {
      const folder = copyOf(template, `killed-${call}`)
      const killed = await template.shell(
        `exec node -r ./killer.cjs "${PACKAGE}/bin/postflight.js" workflow next 7 --json`,
        { cwd: folder, env: { DIE_AT: String(call) } },
      )
      if (killed.signal !== 'SIGKILL') return false
      // The next process waits for a killed process's lock until it is stale.
      const lock = join(folder, IN_TASK, 'workflow', '.postflight-lock')
      if (existsSync(lock)) makeOld(lock, 1)
      const resumed = await template.cli(['workflow', 'resume', '7'], { cwd: folder })
      expect(resumed.status, `call ${call}: ${resumed.stderr}`).toBe(0)
      const next = (await template.cli(['workflow', 'next', '7', '--json'], { cwd: folder })).json()
      expect(next, `call ${call}`).toMatchObject({ command: 'prompt', phase: 'make', attempt: 1 })
      const after = left({ ...template, at: (...names) => join(folder, ...names) })
      expect(after, `call ${call}`).toEqual(wanted)
      const litter = readdirSync(join(folder, IN_TASK, 'workflow')).filter((name) => name.endsWith('.tmp'))
      expect(litter, `call ${call}`).toEqual([])
      return true
    }
    let died = 0
    // After the last write, the process is not killed.
    while (died < 40 && (await killedAt(died))) died += 1
    expect(died).toBeLessThan(40)
    expect(died).toBeGreaterThan(8)
  }, 300_000)
})

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const ONE_PHASE = JSON.stringify({ name: 'flow', phases: [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }] })

describe('a command that is killed at any write', () => {
  it.each([
    ['start', []],
    ['stop', [['start']]],
    ['abort', [['start']]],
    ['resume', [['start'], ['stop']]],
  ])(
    'workflow %s loses no run, and leaves no run file behind',
    async (command, before) => {
      const words = (name: string): string[] =>
        name === 'start' ? ['workflow', 'start', '7', '--definition', 'flow.json'] : ['workflow', name, '7']
      const template = createProject()
      template.write('flow.json', ONE_PHASE)
      template.write('killer.cjs', KILLER)
      mkdirSync(template.at(IN_TASK))
      for (const [name = ''] of before) await template.cli(words(name), { env: ENV })

      const killedAt = async (call: number): Promise<boolean> => {
        const folder = copyOf(template, `killed-${call}`)
        const killed = await template.shell(
          `exec node -r ./killer.cjs "${PACKAGE}/bin/postflight.js" ${words(command).join(' ')}`,
          { cwd: folder, env: { ...ENV, DIE_AT: String(call) } },
        )
        if (killed.signal !== 'SIGKILL') return false
        const lock = join(folder, IN_TASK, 'workflow/.postflight-lock')
        if (existsSync(lock)) makeOld(lock, 1)
        const where = { cwd: folder, env: { ...template.env, ...ENV, CLAUDE_PROJECT_DIR: folder } }
        const run = await template.hook({ ...stop(), cwd: folder }, where)
        const state = join(folder, IN_TASK, 'workflow/state.json')
        const isActive =
          existsSync(state) && (await template.cli(['workflow', 'status', '7', '--json'], where)).json().active
        const running = join(folder, 'specs/.postflight/running')
        const files = existsSync(running) ? readdirSync(running).filter((name) => !name.startsWith('.')) : []
        // An active run is found by its file and goes on; without an active run the file is gone.
        expect(files, `call ${call}: ${run.stderr}`).toEqual(isActive ? ['007_flow'] : [])
        expect(run.answer.decision, `call ${call}`).toBe(isActive ? 'block' : undefined)
        return true
      }
      let died = 0
      while (died < 60 && (await killedAt(died))) died += 1
      expect(died).toBeLessThan(60)
      expect(died).toBeGreaterThan(4)
    },
    300_000,
  )
})

function copyOf(project: Project, name: string): string {
  const folder = join(project.base, name)
  cpSync(project.dir, folder, { recursive: true })
  return folder
}
