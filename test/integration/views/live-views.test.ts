/** `status --watch`, `inspect --watch` and `workflow status --watch` in a pseudo-terminal, as a person leaves them open. */

import { describe, expect, it } from 'vitest'
import { CLI, skipNote } from '../../support/process.ts'
import { createSourceProject, type Project } from '../../support/project.ts'
import {
  HAS_TERMINAL,
  startCommandInTerminal,
  startInTerminal,
  type TerminalSize,
} from '../../support/pseudo-terminal.ts'

const WIDE = { columns: 80, rows: 24 }
const NARROW = { columns: 40, rows: 24 }
const patient = { timeout: 15_000 }

/** A project with a pending marker and a run. */
async function busyProject(): Promise<Project> {
  const project = createSourceProject()
  const steps = ['--step', 'update status', '--step', 'git commit']
  const words = ['create', '259', 'prove_completeness', '--operation', 'research', ...steps]
  expect((await project.cli(words)).status).toBe(0)
  await startRun(project)
  return project
}

async function startRun(project: Project): Promise<void> {
  const phases = [{ id: 'only', prompt: 'do it', artifact: 'out.txt' }]
  project.write('flow.json', JSON.stringify({ name: 'flow', phases }))
  expect((await project.cli(['workflow', 'start', '7', 'flow', '--definition', 'flow.json'])).status).toBe(0)
}

type OnTestFinished = (action: () => void) => void

const start = (project: Project, words: string, size: TerminalSize, onTestFinished: OnTestFinished) =>
  startInTerminal(project, words, size, onTestFinished, { NO_COLOR: '1' })

async function quit(view: ReturnType<typeof start>): Promise<void> {
  view.type('q')
  expect(await view.ended).toBe(0)
}

describe
  .skipIf(!HAS_TERMINAL)
  .concurrent(`a view that stays open${skipNote(HAS_TERMINAL, 'script or stty is not installed')}`, () => {
    it.for([
      ['80 columns', WIDE],
      ['40 columns', NARROW],
    ] as const)(
      'shows the status in %s, within the width, and nothing is lost',
      async ([, size], { expect, onTestFinished }) => {
        const project = await busyProject()
        const view = start(project, 'status --watch', size, onTestFinished)
        await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('q quits'))
        const rows = view.screen()
        expect(view.isAlternate()).toBe(true)
        expect(view.isCursorVisible()).toBe(false)
        expect(rows[0]).toMatch(/^postflight status/)
        expect(rows.at(-1)).toMatch(/^last change \d\d:\d\d:\d\d · q quits$/)
        for (const row of rows) expect(row.length).toBeLessThanOrEqual(size.columns)
        const { lines } = await plainStatus(project)
        const shown = rows.slice(1, -1).join(' ').replace(/\s+/g, '')
        for (const line of lines) expect(shown).toContain(line.replace(/\s+/g, '').replace(/\d+sold.*|\d+sago.*/, ''))
        await quit(view)
      },
    )

    it('follows what changes, and paints only rows that changed', async ({ expect, onTestFinished }) => {
      const project = await busyProject()
      const view = start(project, 'inspect --watch', WIDE, onTestFinished)
      await expect.poll(view.screen, patient).toContain('  · 1. update status')
      const before = view.output().length
      await project.cli(['step', '259', 'update status'])
      await expect.poll(view.screen, patient).toContain('  ✓ 1. update status')
      const since = view.output().slice(before)
      expect(since).toContain('✓ 1. update status')
      expect(since).not.toContain('2. git commit')
      expect(since).not.toContain('\u001b[2J')
      await quit(view)
    })

    it.for([
      ['q', 'q', 0],
      ['Ctrl-C', '\u0003', 0],
      ['SIGTERM', undefined, 143],
    ] as const)('gives the terminal back after %s', async ([, key, code], { expect, onTestFinished }) => {
      const project = await busyProject()
      const view = start(project, 'inspect --watch', WIDE, onTestFinished)
      await expect.poll(view.screen, patient).toContain('  · 1. update status')
      // Without a shell's job control, Ctrl-Z changes nothing.
      view.type('\u001a')
      await expect.poll(() => view.output().split('\u001b[?1049h').length, patient).toBe(3)
      if (key === undefined) view.signal('TERM')
      else view.type(key)
      expect(await view.ended).toBe(code)
      expect([view.isAlternate(), view.isCursorVisible()]).toEqual([false, true])
      expect(view.output()).toContain('\u001b[?7h')
      // The shell after it reads lines again, and shows what it showed before.
      expect(view.output()).not.toContain('raw')
      expect(view.screen().join('\n')).toMatch(new RegExp(`^tty=.*\n(Terminated.*\n)?ended=${code}`))
    })

    const suspended = `--version; set -m; node "${CLI}" inspect --watch; stty cols 40 rows 12; fg`
    it.for([
      ['running', 'inspect --watch', '', 2],
      ['suspended', suspended, '\u001a', 3],
    ] as const)('fits itself into a new size, %s', async ([, words, key, starts], { expect, onTestFinished }) => {
      const project = await busyProject()
      const view = start(project, words, WIDE, onTestFinished)
      await expect.poll(view.screen, patient).toContain('  · 1. update status')
      view.type(key)
      await expect.poll(() => view.output().split('\u001b[?1049h').length, patient).toBeGreaterThanOrEqual(starts)
      view.resize({ columns: 40, rows: 12 })
      await expect.poll(() => view.screen().at(-1), patient).toMatch(/^last change/)
      const rows = view.screen()
      expect(rows).toHaveLength(12)
      expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(40)
      await quit(view)
    })

    const STATUS = `node "${CLI}" status --watch`
    it.for([
      ['if its terminal is closed', STATUS],
      // The leader of a session (`ssh -t`, `tmux`) gets SIGCONT too, in any order.
      ['if it is continued without its terminal', `setsid ${STATUS} & echo $! > pid; wait $!`],
    ] as const)('ends with SIGHUP %s', async ([, words], { expect, onTestFinished }) => {
      const project = await busyProject()
      const line = `trap "" HUP; ${words}; echo $? > ended`
      const env = { ...project.env, TERM: 'xterm' }
      const { output, pid, ended } = startCommandInTerminal(line, project.dir, env, onTestFinished)
      await expect.poll(output, patient).toContain('q quits')
      process.kill(pid ?? 0, 'SIGKILL')
      await ended
      if (project.has('pid')) process.kill(Number(project.read('pid')), 'SIGCONT')
      await expect.poll(() => project.has('ended') && project.read('ended'), patient).toBe('129\n')
    })

    it('has colours, and NO_COLOR removes only those', async ({ expect, onTestFinished }) => {
      const project = await busyProject()
      const coloured = startInTerminal(project, 'status --watch', WIDE, onTestFinished)
      const plain = start(project, 'status --watch', WIDE, onTestFinished)
      for (const view of [coloured, plain]) {
        await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('q quits'))
        view.type('q')
        expect(await view.ended).toBe(0)
        expect(view.output()).toContain('\u001b[?1049h')
      }
      expect(coloured.output()).toContain('\u001b[33m●')
      expect(plain.output()).not.toMatch(/\u001b\[\d+m/)
    })

    it('of one run ends with the run, and leaves its last picture', async ({ expect, onTestFinished }) => {
      const project = createSourceProject()
      const view = start(project, 'workflow status 7 --watch', WIDE, onTestFinished)
      const waits = 'no workflow of task 7 yet: waiting until it starts'
      await expect.poll(view.screen, patient).toContain(waits)
      await startRun(project)
      await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('▶ only'))
      await project.cli(['workflow', 'next', '7'])
      project.write('specs/007_flow/out.txt', 'x')
      await project.cli(['workflow', 'next', '7'])
      expect(await view.ended).toBe(0)
      expect(view.isAlternate()).toBe(false)
      expect(view.screen().join('\n')).toMatch(/completed[\s\S]*✓ only/)
    })

    it('of a running phase changes its time, which is not a change', async ({ expect, onTestFinished }) => {
      const project = await busyProject()
      await project.cli(['workflow', 'next', '7'])
      const view = start(project, 'workflow status 7 --watch', WIDE, onTestFinished)
      await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('▶ only'))
      const [phase, foot] = [view.screen().find((row) => row.includes('▶ only')), view.screen().at(-1)]
      await expect.poll(view.screen, patient).not.toContainEqual(phase)
      expect(view.screen().at(-1)).toBe(foot)
      await quit(view)
    })

    it('of all runs stays open after the last one has ended', async ({ expect, onTestFinished }) => {
      const project = await busyProject()
      const view = start(project, 'workflow status --watch', WIDE, onTestFinished)
      await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('▶ only'))
      await project.cli(['workflow', 'abort', '7'])
      await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('aborted'))
      expect(view.isAlternate()).toBe(true)
      await quit(view)
    })

    it('shows a failure that may pass, and continues', async ({ expect, onTestFinished }) => {
      const project = await busyProject()
      const view = start(project, 'workflow status 7 --watch', WIDE, onTestFinished)
      await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('▶ only'))
      const state = project.read('specs/007_flow/workflow/state.json')
      project.write('specs/007_flow/workflow/state.json', '{')
      await expect.poll(view.screen, patient).toContainEqual(expect.stringMatching(/^✗ .*state\.json/))
      project.write('specs/007_flow/workflow/state.json', state)
      await expect.poll(view.screen, patient).toContainEqual(expect.stringContaining('▶ only'))
      await quit(view)
    })
  })

async function plainStatus(project: Project): Promise<{ lines: string[] }> {
  const { stdout } = await project.cli(['status'])
  return { lines: stdout.trimEnd().split('\n') }
}

describe('--watch without a terminal', () => {
  it.each(['status', 'inspect'])('prints %s once, with a note, and with --json as a document', async (command) => {
    const project = await busyProject()
    const watched = await project.cli([command, '--watch'])
    const once = await project.cli([command])
    const ageless = (text: string): string => text.replace(/\d+ s /g, '')
    expect(ageless(watched.stdout)).toBe(ageless(once.stdout))
    expect(watched.status).toBe(once.status)
    expect(watched.stderr).toBe('postflight: printed once: --watch needs a terminal, and no --json or --quiet\n')
    expect((await project.cli([command, '--watch', '--json'])).json()).toMatchObject({ root: project.dir })
  })
})
