/** A run that moves between machines by a ref of a git remote. */

import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachines, git, type Machine, once, publishedLog, WALK, WALK_PHASES } from '../../support/machines.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import type { JsonDocument } from '../../support/project.ts'

const START = ['start', '7', 'walk', '--definition', 'walk.json']

const CHECKED = [{ ...WALK_PHASES[0], check: { run: 'true' } }, WALK_PHASES[1] ?? {}]

const planned = once(async () => {
  const machines = createMachines(['one', 'two', 'three'])
  const { one } = machines
  expect(await one.workflow(...START, '--share')).toMatchObject({ status: 0 })
  await one.workflow('next', '7')
  one.write(`${WALK}/plan.md`, 'the plan')
  await one.workflow('next', '7')
  return machines
})

async function waiting() {
  const machines = createMachines(['one', 'two', 'three'], { from: await planned() })
  const id = String(machines.one.state().id)
  return { ...machines, id, ref: `refs/postflight/${id}` }
}

/** Says what a refused command printed. */
async function refusal(run: ReturnType<Machine['workflow']>): Promise<string> {
  const { status, stderr } = await run
  expect(status).not.toBe(0)
  return stderr
}

const treeOf = (remote: string, ref: string) => git(remote, 'ls-tree', '-r', '--name-only', ref).split('\n')
const fileIn = (remote: string, ref: string, name: string) => git(remote, 'cat-file', 'blob', `${ref}:${name}`)

describe('a run that is started with --share', () => {
  it('is in a ref of its own, outside of branches and tags, and says what became readable', async () => {
    const { one, remote } = createMachines(['one'])
    const started = await one.workflow(...START, '--share')
    const ref = `refs/postflight/${one.state().id}`
    expect(git(remote, 'for-each-ref', '--format=%(refname)')).toBe(ref)
    expect(treeOf(remote, ref)).toEqual(['folder/workflow/history.jsonl', 'holder.json', 'state.json'])
    expect(JSON.parse(fileIn(remote, ref, 'holder.json'))).toEqual({
      machine: 'one',
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      generation: 1,
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
      path: '007_walk',
    })
    expect(started.stdout).toContain(`published to origin as ${ref}. Everyone who can read that repository`)
    expect(started.stdout).toContain('the name of this machine: one')
  })

  it('continues if the remote cannot be reached: status says so, and the next command publishes', async () => {
    const { one, remote } = createMachines(['one'])
    git(one.dir, 'remote', 'set-url', 'origin', `file://${remote}-away`)
    const started = await one.workflow(...START, '--share')
    const status = await one.workflow('status', '7')
    const shown = (await one.workflow('status', '7', '--json')).json()
    const published = await one.workflow('publish', '7')
    git(one.dir, 'remote', 'set-url', 'origin', `file://${remote}`)
    const next = await one.workflow('next', '7')
    const later = (await one.workflow('status', '7', '--json')).json()
    expect(started).toMatchObject({ status: 0, stderr: expect.stringContaining('was not published to "origin"') })
    expect(status.stdout).toMatch(/shared with origin: not published yet\n {2}! not published: .*does not/)
    expect(shown.shared).toMatchObject({ remote: 'origin', published_at: null, is_published: false })
    expect(published).toMatchObject({ status: 1 })
    expect(next.stdout).toContain('prompt: phase plan')
    expect(next.stderr).not.toContain('not published')
    expect(later.shared).toMatchObject({ is_published: true, problem: null })
  })
})

describe('the commands of a shared run', () => {
  it('publish each change, with its artifacts', async () => {
    const { one, remote, id, ref } = await waiting()
    expect(treeOf(remote, ref)).toContain('folder/plan.md')
    expect(fileIn(remote, ref, 'state.json')).toContain('"standing":"asked"')
    for (const [words, published] of [
      ['reject 7 --reason short', '"short"'],
      ['stop 7 --now', '"outcome":"stopped"'],
      ['resume 7', '"active":true'],
      ['abort 7', '"outcome":"aborted"'],
    ] as const) {
      await one.workflow(...words.split(' '))
      expect(fileIn(remote, ref, 'state.json'), words).toContain(published)
    }
    expect(publishedLog(remote, id)).toHaveLength(7)
  })

  it('publish and keep nothing if nothing has changed, and still find out who holds the run', async () => {
    const { one, two, remote, id, ref } = await waiting()
    const before = publishedLog(remote, id)
    expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
    expect(publishedLog(remote, id)).toEqual(before)
    await two.workflow('resume', '7', '--shared', '--take')
    const moved = await refusal(one.workflow('publish', '7'))
    expect(moved).toContain('has ended here: it goes on at two')
    expect(moved).not.toContain('is kept at')
    expect(git(remote, 'for-each-ref', '--format=%(refname)')).toBe(ref)
  })

  it('use no git and no network for a run that is not shared, nor does a look at a shared one', async () => {
    const { one, remote } = createMachines(['one'])
    await one.workflow(...START)
    git(one.dir, 'remote', 'set-url', 'origin', `file://${remote}-away`)
    expect(await one.workflow('next', '7')).toMatchObject({ status: 0, stderr: '' })
    expect(await refusal(one.workflow('publish', '7'))).toContain('is not shared: `postflight workflow share 007_walk`')
    expect(await refusal(one.workflow('release', '7'))).toContain('is not shared')
    expect(await one.workflow('next', '7', '--peek')).toMatchObject({ stderr: '' })
  })

  it('share a run that continues already, with one remote that is known', async () => {
    const { one, remote } = createMachines(['one'])
    expect(await refusal(one.workflow(...START, '--share', 'up'))).toContain('"up" is not a configured remote')
    expect(one.has(WALK)).toBe(false)
    await one.workflow(...START)
    git(one.dir, 'remote', 'add', 'up', `file://${remote}`)
    expect(await one.workflow('share', '7', 'up')).toMatchObject({ status: 0 })
    expect(await one.workflow('share', '7', 'up')).toMatchObject({ status: 0 })
    expect(await refusal(one.workflow('share', '7'))).toContain('is shared with "up": release it there first')
  })
})

describe('a released run', () => {
  it('continues at another machine where it was, artifacts included, and comes back', async () => {
    const { one, two, remote, id } = await waiting()
    // A clone that has no task yet.
    rmSync(two.at('specs'), { recursive: true })
    const released = await one.workflow('release', '7')
    const resumed = await two.workflow('resume', '7', '--shared')
    await two.workflow('approve', '7', '--note', 'good')
    const prompt = await two.workflow('next', '7')
    await two.workflow('release', '7')
    const back = await one.workflow('resume', id, '--shared')
    one.write(`${WALK}/built.md`, 'built')
    await one.workflow('next', '7')
    const elsewhere = 'another machine continues it with `postflight workflow resume 007_walk --shared`\n'
    expect(released.stdout).toContain('released: anyone may continue it (origin)')
    expect(released.stdout.endsWith(elsewhere)).toBe(true)
    expect(resumed).toMatchObject({ status: 0, stdout: expect.stringContaining('waits for approval') })
    expect(two.read(`${WALK}/plan.md`)).toBe('the plan')
    expect(prompt.stdout).toContain('prompt: phase build')
    expect(back.stdout).toContain('▶ build')
    expect(one.state()).toMatchObject({ active: false, outcome: 'completed' })
    expect(two.state()).toMatchObject({ active: false, outcome: 'moved' })
    const taken = publishedLog(remote, id).filter(({ subject }) => subject.includes('taken'))
    expect(taken.map(({ subject }) => subject)).toEqual([`${id}: taken by claim 2`, `${id}: taken by claim 3`])
  })

  it('is inactive where it was released: stops are allowed, and no verdict counts it', async () => {
    const { one } = createMachines(['one'])
    await one.workflow(...START, '--share', '--host-session', SESSION)
    const before = await one.hook(stop())
    await one.workflow('release', '7')
    const after = await one.hook(stop({ stop_hook_active: true }))
    const status = await one.cli(['status', '--exit-code'])
    const { workflows } = (await one.workflow('status', '--json')).json()
    expect([before.answer.decision, after.answer, status.status]).toEqual(['block', {}, 0])
    expect(workflows).toMatchObject([{ outcome: 'moved', shared: { is_published: true, problem: null } }])
    expect(status.stdout).toContain('○ goes on elsewhere: specs/007_walk')
    const here = /→ to continue it here: .* 007_walk --shared origin\. To remove .*: postflight clear 007_walk$/m
    expect(status.stdout).toMatch(here)
    const resume = `\`postflight workflow resume ${one.state().id} --shared origin\``
    expect(await refusal(one.workflow('resume', '7'))).toContain(resume)
    expect(await refusal(one.workflow('release', '7'))).toContain('has ended here: released')
    expect(await one.workflow('next', '7')).toMatchObject({ status: 1 })
  })

  it('is taken by one of two that want it at once', async () => {
    const { one, two, three, remote, ref } = await waiting()
    await one.workflow('release', '7')
    const both = await Promise.all([two, three].map((machine) => machine.workflow('resume', '7', '--shared')))
    expect(both.map(({ status }) => status).sort()).toEqual([0, 1])
    expect(both.find(({ status }) => status === 1)?.stderr).toMatch(/is held by (?:two|three) for/)
    const holder = JSON.parse(fileIn(remote, ref, 'holder.json'))
    expect(holder).toMatchObject({ generation: 2, machine: both[0]?.status === 0 ? 'two' : 'three' })
    // What was refused leaves nothing behind.
    const left = both[0]?.status === 0 ? three : two
    expect(left.has(`${WALK}/plan.md`)).toBe(false)
  })
})

describe('a run that another machine holds', () => {
  it('is refused with machine, session and age, and taken with --take by a person alone', async () => {
    const { one, two, id } = await waiting()
    const held = await refusal(two.workflow('resume', '7', '--shared'))
    const agent = await two.cli(['workflow', 'resume', '7', '--shared', '--take'], { env: { CLAUDECODE: '1' } })
    expect(held).toMatch(new RegExp(`${id} is held by one for \\d+ \\w+: .*--shared origin --take`))
    expect(agent).toMatchObject({ status: 1, stderr: expect.stringContaining('only a person may take') })
    expect(await two.workflow('resume', '7', '--shared', '--take')).toMatchObject({ status: 0 })
    expect(await refusal(two.workflow('resume', '7', '--take'))).toContain('--take needs --shared')
    expect(one.state()).toMatchObject({ active: true })
  })

  it('ends where it was at the next command, which keeps what was not published, and allows the stops', async () => {
    const { one, two, remote, ref } = await waiting()
    // The project may be a folder of a larger repository.
    renameSync(one.at('.git'), join(one.base, '.git'))
    git(one.dir, 'config', 'diff.relative', 'true')
    await two.workflow('resume', '7', '--shared', '--take')
    one.write(`${WALK}/plan.md`, 'a better plan')
    const told = await refusal(one.workflow('approve', '7'))
    const later = await one.workflow('next', '7', '--json')
    const lost = `${ref}-lost-1`
    expect(told).toContain(`has ended here: it goes on at two, since`)
    expect(told).toContain(`what was not published is kept at ${lost}`)
    expect(fileIn(remote, lost, 'folder/plan.md')).toBe('a better plan')
    expect(git(one.dir, 'rev-parse', lost)).toBe(git(remote, 'rev-parse', lost))
    expect(one.read(`${WALK}/plan.md`)).toBe('a better plan')
    expect(later.json()).toMatchObject({ command: 'finish', outcome: 'moved' })
    expect((await one.hook(stop())).answer).toEqual({})
    expect(fileIn(remote, ref, 'folder/plan.md')).toBe('the plan')
  })
})

describe('what comes from a remote', () => {
  it('names a local file that differs, and overwrites nothing', async () => {
    const { one, two } = await waiting()
    await one.workflow('release', '7')
    two.write(`${WALK}/plan.md`, 'my own plan')
    expect(await refusal(two.workflow('resume', '7', '--shared'))).toContain('would be overwritten: plan.md')
    expect(two.read(`${WALK}/plan.md`)).toBe('my own plan')
    expect(two.has(`${WALK}/workflow/state.json`)).toBe(false)
  })

  it('removes an artifact that the run has moved away, if it is as this machine published it or as git has it', async () => {
    const { one, two, three } = await waiting()
    await one.workflow('release', '7')
    await two.workflow('resume', '7', '--shared')
    await two.workflow('reject', '7', '--reason', 'too short')
    await two.workflow('next', '7')
    await two.workflow('release', '7')
    three.write(`${WALK}/plan.md`, 'the plan')
    expect(await refusal(three.workflow('resume', '7', '--shared'))).toContain('would be overwritten: plan.md')
    git(three.dir, 'add', '.')
    git(three.dir, 'commit', '-qm', 'plan')
    for (const machine of [three, one]) {
      expect(await machine.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
      expect(machine.has(`${WALK}/plan.md`)).toBe(false)
      await machine.workflow('release', '7')
    }
    expect(readdirSync(one.at(WALK, 'artifacts/plan'))).toEqual(['1-plan.md'])
  })

  it('needs --trust for commands, and for prompts that are not those of the checkout', async () => {
    const { one, two, three } = createMachines(['one', 'two', 'three'])
    const define = ({ write }: Machine, name: string, phases: readonly object[]) =>
      write(`${name}.json`, JSON.stringify({ name, phases }))
    for (const machine of [one, two]) define(machine, 'walk', CHECKED)
    for (const machine of [one, three]) define(machine, 'plain', [{ id: 'a', prompt_file: 'p.md', artifact: 'a.md' }])
    one.write('p.md', 'One\nprompt.')
    three.write('p.md', 'One\r\nprompt.')
    await one.workflow(...START, '--share')
    await one.workflow('start', '9', 'plain', '--definition', 'plain.json', '--share')
    await one.workflow('release', '7')
    await one.workflow('release', '9')
    const otherPrompts = /prompts that are not those of this checkout.*git show [0-9a-f]{12}:state.json/
    expect(await refusal(two.workflow('resume', '7', '--shared'))).toMatch(
      /runs commands \(`true`\).*--shared origin --trust/,
    )
    expect(await refusal(two.workflow('resume', '9', '--shared'))).toMatch(otherPrompts)
    define(two, 'plain', [{ id: 'a', prompt: 'Other.', artifact: 'a.md' }])
    expect(await refusal(two.workflow('resume', '9', '--shared'))).toMatch(otherPrompts)
    expect(await three.workflow('resume', '9', '--shared')).toMatchObject({ status: 0 })
    expect(await two.workflow('resume', '7', '--shared', '--trust')).toMatchObject({ status: 0 })
  })

  it('counts no receipt of another machine, even if git brings it', async () => {
    const { one, two } = createMachines(['one', 'two'])
    for (const { write } of [one, two]) write('walk.json', JSON.stringify({ name: 'walk', phases: CHECKED }))
    await one.workflow(...START, '--share')
    await one.workflow('next', '7')
    one.write(`${WALK}/plan.md`, 'the plan')
    await one.workflow('check', '7')
    await one.workflow('release', '7')
    const receipt = `${WALK}/checks/plan/1-1.json`
    for (const name of [receipt, `${WALK}/workflow/shared.json`]) two.write(name, one.read(name))
    await two.workflow('resume', '7', '--shared', '--trust')
    expect(two.has(receipt)).toBe(false)
  })
})

describe('status --shared', () => {
  it('shows every run of the remote: who holds it, what it needs, and what was lost', async () => {
    const { one, two, remote, id, ref } = await waiting()
    await two.workflow('start', '8', 'other', '--definition', 'walk.json', '--share')
    await two.workflow('release', '8')
    const here = await one.cli(['status', '--shared'])
    const there = (await two.cli(['status', '--shared', 'origin', '--json'])).json()
    await two.workflow('resume', '7', '--shared', '--take')
    one.write(`${WALK}/plan.md`, 'another')
    await one.workflow('publish', '7')
    const lost = await one.cli(['status', '--shared', '--exit-code'])
    expect(here.stdout).toMatch(/● 007_walk · walk · phase plan.* · waits for approval · held here for/)
    expect(here.stdout).toMatch(/● 008_other · .* · released .* ago/)
    expect(here.stdout).toMatch(/→ postflight workflow resume wf_\w+ --shared origin/)
    expect(there.clean).toBe(false)
    const rows = Object.fromEntries(there.runs.map((run: JsonDocument) => [run.task, run]))
    const plan = { needs: 'approval', fix: null, phase: 'plan' }
    expect(rows['007_walk']).toMatchObject({ id, machine: 'one', here: false, ...plan })
    expect(rows['008_other']).toMatchObject({ machine: null, needs: 'prompt' })
    expect(lost.status).toBe(1)
    expect(lost.stdout).toContain(`${ref}-lost-1 keeps what was not published`)
    expect(git(remote, 'for-each-ref').split('\n')).toHaveLength(3)
  })

  it('is clean without runs and with completed ones, and goes with no other option', async () => {
    const { one } = createMachines(['one'])
    const none = await one.cli(['status', '--shared', '--exit-code'])
    await one.workflow(...START, '--share')
    const open = await one.cli(['status', '--shared', '--exit-code'])
    await one.workflow('abort', '7')
    const ended = await one.cli(['status', '--shared', '--exit-code'])
    expect([none, open, ended].map(({ status }) => status)).toEqual([0, 1, 0])
    expect(none.stdout).toBe('no shared runs in origin\n')
    expect(await one.cli(['status', '--shared', '--watch'])).toMatchObject({ status: 64 })
  })
})
