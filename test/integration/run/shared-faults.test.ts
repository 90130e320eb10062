/** Shared runs whose pushes are killed, lost, late or at the same time: a program in place of git does that. */

import { execFileSync, spawnSync } from 'node:child_process'
import { once as onceEmitted } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createMachines, git, type Machine, once, publishedLog, WALK } from '../../support/machines.ts'
import { CLI } from '../../support/process.ts'

/** What happens to the next push: the process is killed after it, its answer is lost, or it is put off. */
type Fault = 'killed' | 'answer-lost' | 'late'

const LOST = ['killed', 'answer-lost'] as const

const REAL_GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()

/** Its faults lie beside the folder of the machine, in which it is started. */
const FAKE_GIT = `#!/bin/sh
command=
fault=
for word; do case $word in push|ls-remote) command=$word;; esac; done
if [ "$command" = push ] && [ -s "$PWD-push" ]; then
  rest=$({ read -r _; cat; } < "$PWD-push"); read -r fault < "$PWD-push"; printf '%s' "$rest" > "$PWD-push"
fi
case $command$fault in
  pushkilled) ${REAL_GIT} "$@"; kill -9 "$PPID";;
  pushanswer-lost) ${REAL_GIT} "$@"; : > "$PWD-answer"; exit 1;;
  pushlate) for word; do printf '%s\\n' "$word"; done > "$PWD-late"; exit 1;;
  ls-remote) if [ -e "$PWD-answer" ]; then rm "$PWD-answer"; echo "fatal: no route" >&2; exit 128; fi
    if [ -e "$PWD-after" ]; then mv "$PWD-after" "$PWD-then"; ${REAL_GIT} "$@"; sh "$PWD-then" >&2; exit; fi;;
esac
[ -z "$fault" ] || exit 1
exec ${REAL_GIT} "$@"
`

const bin = mkdtempSync(join(tmpdir(), 'postflight-git-'))

beforeAll(() => {
  writeFileSync(join(bin, 'git'), FAKE_GIT, { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(bin, { recursive: true })
})

/** Lets the next pushes of a machine fail. */
function fail({ dir }: Machine, ...faults: Fault[]): void {
  writeFileSync(`${dir}-push`, faults.map((fault) => `${fault}\n`).join(''))
}

/** Sends what was put off. The remote may refuse it. */
function sendLate({ dir }: Machine): void {
  const words = readFileSync(`${dir}-late`, 'utf8').trimEnd().split('\n')
  expect(spawnSync(REAL_GIT, words, { cwd: dir }).error).toBe(undefined)
}

const first = once(async () => {
  const machines = createMachines(['one', 'two'])
  const start = await machines.one.workflow('start', '7', 'walk', '--definition', 'walk.json', '--share')
  expect(start, start.stderr).toMatchObject({ status: 0 })
  return machines
})

/** A shared run of machine `one`. */
async function shared() {
  const machines = createMachines(['one', 'two'], { from: await first() })
  const id = String(machines.one.state().id)
  return { ...machines, one: withFakeGit(machines.one), two: withFakeGit(machines.two), id }
}

function withFakeGit(machine: Machine): Machine {
  const env = { PATH: `${bin}:${machine.env.PATH}` }
  const cli: Machine['cli'] = (words, given = {}) => machine.cli(words, { ...given, env: { ...env, ...given.env } })
  const workflow: Machine['workflow'] = (...words) => cli(['workflow', ...words])
  return { ...machine, cli, workflow, process: (...words) => cli(['workflow', ...words], { input: '' }) }
}

/** Expects a line of commits, each with one parent, and nothing kept aside. */
function expectLine(remote: string, id: string): void {
  expect(git(remote, 'rev-list', '--min-parents=2', `refs/postflight/${id}`)).toBe('')
  expect(git(remote, 'for-each-ref', '--format=%(refname)')).toBe(`refs/postflight/${id}`)
}

const recordOf = (machine: Machine): { commit: string; sent: string[] } =>
  JSON.parse(machine.read(`${WALK}/workflow/shared.json`))
const headOf = (remote: string, id: string) => git(remote, 'rev-parse', `refs/postflight/${id}`)
const planIn = (remote: string, id: string) => git(remote, 'cat-file', 'blob', `refs/postflight/${id}:folder/plan.md`)

describe.concurrent('a publish', () => {
  it('continues from its own commit after the process was killed before it noted it', async () => {
    const { one, remote, id } = await shared()
    fail(one, 'killed')
    await expect(one.process('next', '7')).rejects.toThrow()
    expect(recordOf(one).commit).not.toBe(headOf(remote, id))
    const published = await one.workflow('publish', '7')
    expect(published, published.stderr).toMatchObject({ status: 0 })
    expect(recordOf(one)).toMatchObject({ commit: headOf(remote, id), sent: [] })
    expectLine(remote, id)
  })

  it('whose answer was lost is reported as failed, and the next one does not take itself for another machine', async () => {
    const { one, remote, id } = await shared()
    fail(one, 'answer-lost')
    const lost = await one.workflow('publish', '7')
    await one.workflow('next', '7')
    const after = await one.workflow('publish', '7')
    expect(lost).toMatchObject({ status: 1, stderr: expect.stringContaining('no route') })
    expect(after).toMatchObject({ status: 0 })
    expectLine(remote, id)
  })

  it.each(['before', 'after'])('that arrives late, %s the next one, replaces nothing', async (order) => {
    const { one, remote, id } = await shared()
    fail(one, 'late')
    expect((await one.workflow('next', '7')).stderr).toContain('not published')
    if (order === 'before') sendLate(one)
    expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
    const head = headOf(remote, id)
    if (order === 'after') sendLate(one)
    expect(headOf(remote, id)).toBe(head)
    expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
    expectLine(remote, id)
  })

  it('with nothing new continues from a commit that arrived late', async () => {
    const { one, remote, id } = await shared()
    const text = one.read(`${WALK}/workflow/state.json`)
    fail(one, 'late')
    await one.workflow('next', '7')
    sendLate(one)
    // As it was before the change that arrived.
    one.write(`${WALK}/workflow/state.json`, text)
    expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
    expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
    expectLine(remote, id)
  })

  it('of a ref that was gone is made once, if another command of the machine is faster', async () => {
    const { one, remote, id } = await shared()
    git(remote, 'update-ref', '-d', `refs/postflight/${id}`)
    const share = `env -i PATH='${process.env.PATH}' HOME='${one.home}' POSTFLIGHT_MACHINE=one '${CLI}' workflow share 7`
    writeFileSync(`${one.dir}-after`, share)
    const later = await one.process('share', '7')
    expect(later, later.stderr).toMatchObject({ status: 0 })
    expect(one.state()).toMatchObject({ active: true })
    expectLine(remote, id)
  })

  it('of several processes of one machine at once is one line, and all of them succeed', async () => {
    const { one, remote, id } = await shared()
    const slow = '#!/bin/sh\n[ "$1" != prepared ] || sleep 0.5\n'
    writeFileSync(join(remote, 'hooks/reference-transaction'), slow, { mode: 0o755 })
    const runs = await Promise.all(['next', 'publish', 'stop', 'publish'].map((word) => one.process(word, '7')))
    for (const { stderr } of runs) expect(stderr).not.toContain('not published')
    expectLine(remote, id)
    expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
    const state = JSON.parse(git(remote, 'cat-file', 'blob', `refs/postflight/${id}:state.json`))
    expect(state.sequence).toBe(one.state().sequence)
  })
})

it.concurrent('a remote that does not answer is waited for 30 s, with a note on what the command waits for; then the run continues here', async () => {
  const { one } = await shared()
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await onceEmitted(silent, 'listening')
  git(one.dir, 'remote', 'set-url', 'origin', `http://127.0.0.1:${(silent.address() as AddressInfo).port}/x`)
  const begin = performance.now()
  const next = await one.cli(['workflow', 'next', '7'], { input: '', limitMs: 60_000 })
  const seconds = (performance.now() - begin) / 1000
  silent.closeAllConnections()
  silent.close()
  expect(next).toMatchObject({ status: 0, stdout: expect.stringContaining('prompt: phase plan') })
  expect(next.stderr).toMatch(/waiting for the git remote.*not published: it took too long/s)
  expect(seconds).toBeGreaterThan(24)
  expect(seconds).toBeLessThan(45)
})

describe.concurrent('a release', () => {
  it.each(LOST)('that was %s is found out by the next command, which claims nothing', async (fault) => {
    const { one, two, remote, id } = await shared()
    fail(one, fault)
    await one.process('release', '7').catch(() => {})
    const next = await one.workflow('next', '7')
    const taken = await two.workflow('resume', '7', '--shared')
    expect(next).toMatchObject({ status: 1, stderr: expect.stringContaining('has ended here: released') })
    expect(taken, taken.stderr).toMatchObject({ status: 0 })
    expect(publishedLog(remote, id).filter(({ subject }) => subject.endsWith('released'))).toHaveLength(1)
  })
})

describe.concurrent('a release whose answer was lost, and work that came after it', () => {
  async function released() {
    const machines = await shared()
    const { one } = machines
    one.write(`${WALK}/plan.md`, 'before')
    fail(one, 'answer-lost')
    expect(await one.workflow('release', '7')).toMatchObject({ status: 1 })
    one.write(`${WALK}/plan.md`, 'after')
    return machines
  }

  it('is published by the next release', async () => {
    const { one, two, remote, id } = await released()
    const again = await one.workflow('release', '7')
    expect(again, again.stderr).toMatchObject({ status: 0 })
    expect(planIn(remote, id)).toBe('after')
    expect(await two.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
    expectLine(remote, id)
  })

  it('is kept by another command, which finds the run released', async () => {
    const { one, remote, id } = await released()
    const next = await one.workflow('next', '7')
    expect(next).toMatchObject({ status: 1 })
    expect(next.stderr).toMatch(/released: anyone may continue it \(origin\); what was not published is kept at/)
    expect(planIn(remote, `${id}-lost-1`)).toBe('after')
    expect(await one.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
  })
})

describe.concurrent('a claim', () => {
  it.each(LOST)('that was %s goes on when the same command is given again', async (fault) => {
    const { one, two, remote, id } = await shared()
    one.write(`${WALK}/plan.md`, 'the plan')
    await one.workflow('release', '7')
    fail(two, fault)
    const first = await two.process('resume', '7', '--shared').catch(() => undefined)
    const again = await two.workflow('resume', '7', '--shared')
    if (first !== undefined) expect(first.stderr).toContain('run the same command again')
    expect(again, again.stderr).toMatchObject({ status: 0 })
    expect(two.read(`${WALK}/plan.md`)).toBe('the plan')
    expect(publishedLog(remote, id).filter(({ subject }) => subject.includes('taken'))).toHaveLength(1)
    expect(existsSync(two.at(WALK, 'workflow/id'))).toBe(true)
  })

  it.each(['publish', 'resume'])('whose answer was lost puts no older state over a newer one: %s', async (command) => {
    const { one, two, remote, id } = await shared()
    one.write(`${WALK}/plan.md`, 'the plan')
    await one.workflow('next', '7')
    await two.workflow('resume', '7', '--shared', '--take')
    await two.workflow('stop', '7', '--now')
    await one.workflow('publish', '7')
    await one.workflow('resume', '7', '--shared', '--take')
    await one.workflow('approve', '7')
    const { phase, sequence } = one.state()
    expect(phase).toBe('build')
    // The first push is that of what two did not publish, and the second one claims the run.
    fail(two, 'answer-lost', 'answer-lost')
    expect((await two.workflow('resume', '7', '--shared', '--take')).stderr).toContain('it is not known whether')
    expect(two.state()).toMatchObject({ outcome: 'stopped', phase: 'plan' })
    if (command === 'publish') await two.workflow('publish', '7')
    const again = await two.workflow('resume', '7', '--shared', '--take')
    expect(again, again.stderr).toMatchObject({ status: 0 })
    expect(two.state()).toMatchObject({ phase: 'build' })
    const sequenceIn = (commit: string): number =>
      JSON.parse(git(remote, 'cat-file', 'blob', `${commit}:state.json`)).sequence
    const sequences = publishedLog(remote, id).map(({ commit }) => sequenceIn(commit))
    expect(sequences).toEqual([...sequences].sort((left, right) => left - right))
    expect(sequences.at(-1)).toBeGreaterThanOrEqual(Number(sequence))
  })

  it('keeps what was not published here before it takes the run over again', async () => {
    const { one, two, remote, id } = await shared()
    await two.workflow('resume', '7', '--shared', '--take')
    one.write(`${WALK}/plan.md`, 'a plan that only one has')
    const taken = await one.workflow('resume', '7', '--shared', '--take')
    expect(taken, taken.stderr).toMatchObject({ status: 0 })
    expect(planIn(remote, `${id}-lost-1`)).toBe('a plan that only one has')
  })

  it('that arrives late loses against another one, and leaves the machine free to try again', async () => {
    const { one, two, remote, id } = await shared()
    await one.workflow('release', '7')
    fail(two, 'late')
    expect(await two.workflow('resume', '7', '--shared')).toMatchObject({ status: 1 })
    expect(await one.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
    sendLate(two)
    const refused = await two.workflow('resume', '7', '--shared')
    await one.workflow('release', '7')
    const taken = await two.workflow('resume', '7', '--shared')
    expect(refused.stderr).toContain('is held by one')
    expect(taken, taken.stderr).toMatchObject({ status: 0 })
    expectLine(remote, id)
  })
})
