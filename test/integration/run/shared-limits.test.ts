/** What a remote, a git configuration or a run's files make difficult: the run is refused in time, or goes on all the same. */

import { execFileSync } from 'node:child_process'
import fs, { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMachines, git, type Machine, once, WALK, WALK_PHASES } from '../../support/machines.ts'
import { SESSION, stop } from '../../support/payloads.ts'
import { LAUNCHER, PACKAGE } from '../../support/process.ts'

const START = ['start', '7', 'walk', '--definition', 'walk.json', '--share']

const PHASES = WALK_PHASES.map(({ id, prompt, artifact }) => ({ id, prompt, artifact }))

async function startedWith(phases: readonly object[]) {
  const machines = createMachines(['one', 'two'])
  const { one, two } = machines
  for (const { write } of [one, two]) write('walk.json', JSON.stringify({ name: 'walk', phases }))
  expect(await one.workflow(...START)).toMatchObject({ status: 0 })
  return { ...machines, ...idOf(one) }
}

const first = once(() => startedWith(PHASES))

/** Such machines, each test's own. */
async function started() {
  const machines = createMachines(['one', 'two'], { from: await first() })
  return { ...machines, ...idOf(machines.one) }
}

function idOf(one: Machine) {
  const id = String(one.state().id)
  return { id, ref: `refs/postflight/${id}` }
}

it('the job of the page finds the task of the run that it continued', async () => {
  const { one, id } = await started()
  const page = readFileSync(join(PACKAGE, 'docs/shared-runs.md'), 'utf8')
  const [, script = ''] = /node -p '([^']*process\.env\.RUN[^']*)'/.exec(page) ?? []
  const { stdout } = await one.workflow('status', '--json')
  const env = { PATH: process.env.PATH, RUN: id }
  expect(execFileSync(process.execPath, ['-p', script], { input: stdout, env, encoding: 'utf8' })).toBe('007_walk\n')
})

describe('what no other machine would take is not published, and the run is not released', () => {
  it.each([
    ['a name of git', '.gitlab-notes.md', 'x', '"folder/.gitlab-notes.md" is not a safe name'],
    ['too many bytes, with the state', 'big.md', 'x'.repeat(19_998_000), 'it is larger than 20 MB'],
  ])('%s', async (_what, artifact, text, why) => {
    const { one, two, id } = await startedWith([
      { id: 'plan', prompt: 'p', artifact },
      { id: 'last', prompt: 'p', artifact: 'b.md' },
    ])
    await one.workflow('next', '7')
    one.write(`${WALK}/${artifact}`, text)
    const next = await one.workflow('next', '7')
    const released = await one.workflow('release', '7')
    expect(next).toMatchObject({ status: 0, stderr: expect.stringContaining(why) })
    expect(released).toMatchObject({ status: 1, stderr: expect.stringContaining(why) })
    expect(one.state()).toMatchObject({ active: true })
    expect((await two.workflow('resume', id, '--shared')).stderr).toContain('is held by one')
  })
})

it('an old holder that cannot publish is ended all the same: nothing is overwritten, and its file stays', async () => {
  const { one, two } = await started()
  await two.workflow('resume', '7', '--shared', '--take')
  one.write(`${WALK}/plan.md`, 'x'.repeat(20_500_000))
  const { stderr } = await one.workflow('next', '7')
  expect(stderr).toContain('it goes on at two')
  expect(one.state()).toMatchObject({ active: false, outcome: 'moved' })
  expect(one.read(`${WALK}/plan.md`)).toHaveLength(20_500_000)
})

describe('a task folder with another run', () => {
  it('that is over: it is put aside with its files, and the shared one continues', async () => {
    const { one, two, id } = await started()
    one.write(`${WALK}/plan.md`, 'the first plan')
    await one.workflow('release', '7')
    await two.workflow('resume', '7', '--shared')
    await two.workflow('abort', '7')
    await two.workflow(...START, '--fresh')
    two.write(`${WALK}/plan.md`, 'the second plan')
    await two.workflow('release', '7')
    expect(await one.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
    expect(one.state().id).not.toBe(id)
    expect(one.read(`${WALK}/plan.md`)).toBe('the second plan')
    expect(one.read(`${WALK}/workflow-runs/1/plan.md`)).toBe('the first plan')
  })

  it.each(['start', 'resume'])('that a hook has ended: %s publishes its end before', async (word) => {
    const { one, two, remote, ref } = await started()
    await drive(one)
    for (const name of ['plan.md', 'built.md']) {
      one.write(`${WALK}/${name}`, 'x')
      await one.hook(stop({ stop_hook_active: true }))
    }
    expect(one.state()).toMatchObject({ outcome: 'completed' })
    await two.workflow(...START)
    await two.workflow('release', '7')
    const words = word === 'start' ? [...START, '--fresh'] : ['resume', idOf(two).id, '--shared']
    expect(await one.workflow(...words)).toMatchObject({ status: 0 })
    expect(git(remote, 'cat-file', 'blob', `${ref}:state.json`)).toContain('"outcome":"completed"')
  })

  it('that another machine has: start says so, and not how to remove it there', async () => {
    const { one, two } = await started()
    await two.workflow('resume', '7', '--shared', '--take')
    await one.cli(['bypass', '--all'])
    const stderr = expect.stringMatching(/^(?!.*git push).*it goes on at two/)
    expect(await one.workflow(...START.slice(0, -1), '--fresh')).toMatchObject({ status: 0, stderr })
  })

  it('that is not over: nothing is taken, and the message says how to end it', async () => {
    const { one, two, id } = await started()
    await one.workflow('release', '7')
    await two.workflow(...START.slice(0, -1))
    await two.workflow('stop', '7', '--now')
    const way = `end it with \`postflight workflow abort 007_walk\`, then fetch ${id} again`
    expect((await two.workflow('resume', '7', '--shared')).stderr).toContain(way)
    await two.workflow('abort', '7')
    expect(await two.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
  })
})

it('a remote with many runs still gives the one that is named by its id', async () => {
  const { one, two, remote, id, ref } = await started()
  await one.workflow('release', '7')
  const commit = git(remote, 'rev-parse', ref)
  const refs = Array.from({ length: 501 }, (_, index) => `create refs/postflight/wf_${index} ${commit}\n`)
  execFileSync('git', ['update-ref', '--stdin'], { cwd: remote, input: refs.join('') })
  const byTask = await two.workflow('resume', '7', '--shared')
  const byId = await two.workflow('resume', id, '--shared')
  expect(byTask).toMatchObject({ status: 65, stderr: expect.stringContaining('name one by its id') })
  expect(byId).toMatchObject({ status: 0 })
})

describe('a ref that is gone from the remote', () => {
  it('is published again by share, also if git has removed the old commits', async () => {
    const { one, remote, ref } = await started()
    git(remote, 'update-ref', '-d', ref)
    expect((await one.workflow('publish', '7')).stderr).toContain('remote: `postflight workflow share 007_walk origin`')
    git(one.dir, 'gc', '--quiet', '--prune=now')
    expect((await one.workflow('publish', '7')).stderr).toContain('`postflight workflow share 007_walk origin`')
    expect(await one.workflow('share', '7')).toMatchObject({ status: 0 })
    expect(git(remote, 'ls-tree', '--name-only', ref).split('\n')).toEqual(['folder', 'holder.json', 'state.json'])
  })

  it('after a release: share brings the run back to the machine that released it', async () => {
    const { one, two, remote, id, ref } = await started()
    await one.workflow('release', '7')
    git(remote, 'update-ref', '-d', ref)
    expect(await one.workflow('share', '7')).toMatchObject({ status: 0 })
    expect(await one.workflow('resume', '7')).toMatchObject({ status: 0 })
    expect((await two.workflow('resume', id, '--shared')).stderr).toContain('is held by one')
  })

  it('after a takeover: the old holder does not get the run back', async () => {
    const { one, two, remote, ref } = await started()
    await two.workflow('resume', '7', '--shared', '--take')
    await one.workflow('next', '7')
    git(remote, 'update-ref', '-d', ref)
    expect((await one.workflow('share', '7')).stderr).toContain('it goes on at two')
    expect(git(remote, 'for-each-ref', ref)).toBe('')
  })
})

it('a record of the share that is not valid is a fault, and does not count as not shared', async () => {
  const { one } = await started()
  one.write(`${WALK}/workflow/shared.json`, '{')
  for (const command of ['publish', 'release', 'share']) {
    const run = await one.workflow(command, '7')
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('workflow/shared.json') })
  }
  const { stdout, stderr } = await one.workflow('next', '7')
  expect([stdout, stderr]).toEqual([expect.stringContaining('prompt'), expect.stringContaining('is not valid')])
})

describe("the user's own git", () => {
  it('gives the reason of ssh, or that git was killed, and waits for no process that ssh leaves', async () => {
    const { one } = await started()
    // As ControlPersist does, it keeps stderr open.
    one.write('ssh.sh', "sleep 9 >/dev/null & echo 'a@b: Permission denied (publickey).' >&2\nexit 255\n")
    git(one.dir, 'remote', 'set-url', 'origin', 'ssh://git@example.invalid/x')
    git(one.dir, 'config', 'core.sshCommand', `sh ${one.at('ssh.sh')}`)
    const { stderr } = await one.workflow('publish', '7')
    expect(stderr).toMatch(/^postflight: .*Permission denied \(publickey\)\. It goes on here/)
    one.write('ssh.sh', "echo 'sh: git-receive-pack: not found' >&2\n")
    expect((await one.workflow('publish', '7')).stderr).toContain(
      '"origin": sh: git-receive-pack: not found. It goes on',
    )
    one.write('ssh.sh', 'kill -9 0\n')
    expect((await one.workflow('publish', '7')).stderr).toContain(': git was killed by SIGKILL. It goes on here')
  })

  it('may have the remote as a mirror, and push to another address than it fetches from: the run is there', async () => {
    const { one, two, remote, id } = await started()
    const fork = `${remote}-fork`
    git(one.dir, 'init', '-q', '--bare', fork)
    git(one.dir, 'remote', 'set-url', '--push', 'origin', `file://${fork}`)
    // Fetches from the fork would lead to the remote.
    git(two.dir, 'config', `url.file://${remote}.insteadOf`, `file://${fork}`)
    git(two.dir, 'config', `url.file://${fork}.pushInsteadOf`, `file://${remote}`)
    expect((await one.workflow('share', '7')).status).toBe(0)
    expect(await one.workflow('release', '7')).toMatchObject({ status: 0 })
    expect(git(fork, 'for-each-ref', '--format=%(refname)')).toBe(`refs/postflight/${id}`)
    git(two.dir, 'config', 'remote.origin.mirror', 'true')
    expect(await two.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
  })

  it('may rename the remote, and call it as it likes', async () => {
    const { one } = await started()
    git(one.dir, 'remote', 'rename', 'origin', '_team/origin')
    expect((await one.workflow('release', '7')).stderr).toContain('`postflight workflow share 007_walk REMOTE`')
    const { status, stdout } = await one.workflow('share', '7', '_team/origin')
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('--shared _team/origin') })
    expect(await one.workflow('release', '7')).toMatchObject({ status: 0 })
  })
})

it.each(['cat-file', 'merge-base'])('a `git %s` that fails ends nothing, and no ref is to go', async (word) => {
  const { one, remote, ref } = await started()
  await one.workflow('next', '7')
  git(remote, 'update-ref', ref, `${ref}~1`)
  one.write(`${WALK}/plan.md`, 'half')
  // The first merge-base is that of the push.
  const fails = `case " $* " in *' ${word} '*) [ ${word} = cat-file -o -e called ] && exit 9; : >called;; esac`
  writeFileSync(one.at('git'), `#!/bin/sh\n${fails}\nPATH=\${PATH#*:} exec git "$@"\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${one.dir}:${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect((await one.workflow('publish', '7')).stderr).toMatch(/git ended with exit code 9(?!.*git push)/)
  expect(one.state()).toMatchObject({ active: true })
})

/** Its run has a session, and its first prompt. */
async function drive(one: Machine): Promise<void> {
  await one.workflow('stop', '7')
  await one.workflow('resume', '7', '--host-session', SESSION)
  await one.hook(stop())
}

/** A hook of the first machine runs while its release is sent, with these artifacts. */
async function releasedWith(...artifacts: readonly string[]) {
  const machines = await started()
  const { one, remote } = machines
  await drive(one)
  const payload = one.write('payload.json', JSON.stringify({ ...stop({ stop_hook_active: true }), cwd: one.dir }))
  const make = artifacts.map((name) => `printf done >'${WALK}/${name}'`).join(' && ')
  const hook = `cd '${one.dir}' && ${make} && env -i PATH="$PATH" HOME='${one.home}' '${LAUNCHER}' <'${payload}' >answer.json`
  // The remote runs it once, before it takes the push.
  writeFileSync(join(remote, 'hooks/pre-receive'), `#!/bin/sh\nrm "$0"\n${hook}\n`, { mode: 0o755 })
  expect(await one.process('release', '7')).toMatchObject({ status: 0 })
  return machines
}

it('a release takes with it what a hook changed while it was sent', async () => {
  const { one, two } = await releasedWith('plan.md')
  expect(one.read('answer.json')).toContain('Build.')
  expect(one.state()).toMatchObject({ active: false, outcome: 'moved', phase: 'build' })
  expect(await two.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
  expect(two.state()).toMatchObject({ active: true, phase: 'build' })
  expect(two.read(`${WALK}/plan.md`)).toBe('done')
})

it('a run is published, or goes on here, even if its record can no longer be written', async () => {
  const { one, remote, ref } = await started()
  const rename = fs.renameSync
  let left = 1
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    if (String(to).endsWith('shared.json') && left-- <= 0) throw Object.assign(new Error(), { code: 'EIO' })
    rename(from, to)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  one.write(`${WALK}/plan.md`, 'x')
  expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
  expect(git(remote, 'cat-file', 'blob', `${ref}:folder/plan.md`)).toBe('x')
  one.write(`${WALK}/plan.md`, 'y')
  const stderr = expect.stringContaining('not published: cannot write')
  expect(await one.workflow('stop', '7')).toMatchObject({ status: 0, stderr })
  vi.restoreAllMocks()
  expect(await one.workflow('publish', '7')).toMatchObject({ status: 0 })
  expect(git(remote, 'cat-file', 'blob', `${ref}:folder/plan.md`)).toBe('y')
})

it('a run that a hook completed while its release was sent stays completed', async () => {
  const { one, remote, ref } = await releasedWith('plan.md', 'built.md')
  expect(one.state()).toMatchObject({ active: false, outcome: 'completed' })
  expect(git(remote, 'cat-file', 'blob', `${ref}:state.json`)).toContain('"outcome":"completed"')
  expect(one.read('specs/.postflight/journal.jsonl').match(/"detail":"completed"/g)).toHaveLength(1)
})

it('a folder that was archived is where its machine continues with the run, by the path that release prints', async () => {
  const { one, id } = await started()
  mkdirSync(one.at('specs/old'))
  renameSync(one.at(WALK), one.at('specs/old/007_better'))
  const { stdout } = await one.cli(['status', '--shared'])
  const taken = await one.workflow('resume', '7', '--shared')
  const released = await one.workflow('release', '007_better')
  const again = await one.workflow('resume', 'specs/old/007_better/', '--shared')
  expect(stdout).toContain('held here')
  expect(released.stdout).toContain('`postflight workflow resume old/007_better --shared`')
  for (const run of [taken, again]) expect(run).toMatchObject({ status: 0 })
  expect(one.has(WALK)).toBe(false)
  expect(JSON.parse(one.read('specs/old/007_better/workflow/state.json'))).toMatchObject({ id, active: true })
})

describe('a run that continues elsewhere', () => {
  const released = once(async () => {
    const machines = await startedWith([{ ...PHASES[0], approve: true }, PHASES[1] ?? {}])
    machines.one.write(`${WALK}/plan.md`, 'the plan')
    await machines.one.workflow('next', '7')
    await machines.one.workflow('release', '7')
    return machines
  })

  const commands = ['abort 7', 'approve 7', 'reject 7 --reason x', 'check 7', 'skip 7 --step 1']
  it.each(commands)('is not changed here by %s, which says where it goes on', async (words) => {
    const { one, id } = await released()
    const where = expect.stringContaining(`resume ${id} --shared origin`)
    expect(await one.workflow(...words.split(' '))).toMatchObject({ status: 1, stderr: where })
  })
})

const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

it.each<[string, 'changed' | 'unchanged', (ref: string) => string[]]>([
  ['set back to an older version of the same holder', 'changed', (ref) => ['rev-parse', `${ref}~1`]],
  ['set to a commit that is no run', 'changed', () => ['commit-tree', '-m', 'x', TREE]],
  ['continued by a commit that is no run', 'unchanged', (ref) => ['commit-tree', '-m', 'x', '-p', ref, TREE]],
])('a ref that was %s ends nothing, and the %s run is shared once it is removed', async (_, run, replacement) => {
  const { one, remote, ref } = await started()
  await one.workflow('next', '7')
  git(remote, 'update-ref', ref, git(remote, ...replacement(ref)))
  if (run === 'changed') one.write(`${WALK}/built.md`, 'half')
  const why = expect.stringContaining(`git push origin :${ref}`)
  expect(await one.workflow('publish', '7')).toMatchObject({ status: 1, stderr: why })
  expect(await one.workflow('release', '7')).toMatchObject({ status: 1, stderr: why })
  expect(one.state()).toMatchObject({ active: true })
  git(remote, 'update-ref', '-d', ref)
  expect(await one.workflow('share', '7')).toMatchObject({ status: 0 })
})

it('a newer version of the same holder ends the run here: this checkout is a copy of another one', async () => {
  const { one } = await started()
  const record = one.read(`${WALK}/workflow/shared.json`)
  await one.workflow('next', '7')
  one.write(`${WALK}/workflow/shared.json`, record)
  one.write(`${WALK}/plan.md`, 'the plan')
  expect((await one.workflow('next', '7')).stderr).toContain('it goes on at one')
})

describe('resume --shared', () => {
  it('by several commands at once is done by one, which keeps the run shared', async () => {
    const { one, two } = await started()
    await one.workflow('release', '7')
    const both = await Promise.all([1, 2, 3].map(() => two.process('resume', '7', '--shared')))
    expect(both.map(({ status }) => status)).toContain(0)
    expect(two.state()).toMatchObject({ active: true })
    expect(await two.workflow('publish', '7')).toMatchObject({ status: 0 })
  })

  it('that cannot write its files says that the run is held here, and continues when it is repeated', async () => {
    const { one, two, remote } = await started()
    one.write(`${WALK}/plan.md`, 'the plan')
    await one.workflow('release', '7')
    const inWay = two.at(`${WALK}/plan.md/x`)
    writeFileSync(join(remote, 'hooks/post-receive'), `#!/bin/sh\nmkdir -p '${inWay}'\n`, { mode: 0o755 })
    const failed = await two.workflow('resume', '7', '--shared')
    rmSync(two.at(`${WALK}/plan.md`), { recursive: true })
    const again = await two.workflow('resume', '7', '--shared')
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringMatching(/was taken over .* run the same command/)])
    expect(again).toMatchObject({ status: 0 })
    expect(two.state()).toMatchObject({ active: true })
  })

  it('claims nothing if the folder here has a name that other machines refuse', async () => {
    const { one, two, id } = await started()
    await two.workflow('resume', '7', '--shared', '--take')
    await two.workflow('release', '7')
    renameSync(two.at(WALK), two.at('specs/007_a walk'))
    const { stderr } = await two.workflow('resume', id, '--shared')
    expect(stderr).toContain('was not taken over from "origin": the name of its task folder is not allowed')
    expect(await one.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
  })

  it('replaces a file of the run that is as git has it', async () => {
    const phases = [{ id: 'work', steps: { from: 'tasks.md', checklist: true }, step_prompt: 'Do {{step}}.' }]
    const { one, two } = await startedWith(phases)
    const tasks = '- [ ] one\n- [ ] two\n'
    for (const { write } of [one, two]) write(`${WALK}/tasks.md`, tasks)
    git(two.dir, 'add', '.')
    git(two.dir, 'commit', '-qm', 'tasks')
    await one.workflow('next', '7')
    one.write(`${WALK}/step-result.json`, '{"success": true}')
    await one.workflow('next', '7')
    await one.workflow('release', '7')
    two.write(`${WALK}/tasks.md`, `${tasks}- [ ] mine\n`)
    expect((await two.workflow('resume', '7', '--shared')).stderr).toContain('would be overwritten: tasks.md')
    // As a checkout with core.autocrlf has it.
    two.write(`${WALK}/tasks.md`, tasks.replaceAll('\n', '\r\n'))
    expect(await two.workflow('resume', '7', '--shared')).toMatchObject({ status: 0 })
    expect(two.read(`${WALK}/tasks.md`)).toBe('- [x] one\n- [ ] two\n')
  })

  it('looks at the project and at --from before it takes the run', async () => {
    const { one, two, remote, ref } = await started()
    await one.workflow('release', '7')
    const before = git(remote, 'rev-parse', ref)
    mkdirSync(two.at('pkg/specs'), { recursive: true })
    const inPackage = { cwd: two.at('pkg') }
    const other = await two.cli(['workflow', 'resume', '7', '--shared'], inPackage)
    expect(other.stderr).toContain('has no shared run of task 7')
    expect((await two.cli(['status', '--shared'], inPackage)).stdout).toMatch(/● \.\/007_walk [^→]*$/)
    const { stderr } = await two.workflow('resume', '7', '--shared', '--from', 'nosuch')
    expect(stderr).toContain('has no phase "nosuch"')
    expect(git(remote, 'rev-parse', ref)).toBe(before)
    expect(two.has(WALK)).toBe(false)
  })
})

describe('a shared run', () => {
  it('is published after git removed the last published commit from the clone', async () => {
    const { one, remote, ref } = await started()
    git(one.dir, 'gc', '--quiet', '--prune=now')
    one.write(`${WALK}/plan.md`, 'the plan')
    expect((await one.workflow('next', '7')).stderr).not.toContain('not published')
    expect(git(remote, 'cat-file', 'blob', `${ref}:folder/plan.md`)).toBe('the plan')
    expect(git(remote, 'rev-list', '--count', ref)).toBe('2')
  })

  it('is not ended by a branch whose name ends like its ref, beside which git pushes nothing', async () => {
    const { one, remote, ref } = await started()
    const head = git(remote, 'rev-parse', ref)
    git(remote, 'update-ref', `refs/heads/${ref}`, git(remote, 'commit-tree', `${head}^{tree}`, '-m', 'not the run'))
    one.write(`${WALK}/plan.md`, 'the plan')
    const next = await one.workflow('next', '7')
    git(remote, 'update-ref', '-d', `refs/heads/${ref}`)
    const published = await one.workflow('publish', '7')
    expect(next).toMatchObject({ status: 0, stderr: expect.stringContaining('matches more than one') })
    expect(published).toMatchObject({ status: 0 })
  })

  it('says that only this clone, or only the folder, keeps what was not published', async () => {
    const { one, two, remote, ref } = await started()
    const losing = async (): Promise<string> => {
      await two.workflow('resume', '7', '--shared', '--take')
      one.write(`${WALK}/plan.md`, 'a plan that only one has')
      return (await one.workflow('publish', '7')).stderr
    }
    writeFileSync(join(remote, 'hooks/update'), '#!/bin/sh\ncase $1 in *lost*) exit 1;; esac\n', { mode: 0o755 })
    expect(await losing()).toContain(`is kept at ${ref}-lost-1, in this repository only`)
    expect(git(one.dir, 'cat-file', 'blob', `${ref}-lost-1:folder/plan.md`)).toBe('a plan that only one has')
    git(one.dir, 'update-ref', '-d', `${ref}-lost-1`)
    git(one.dir, 'update-ref', 'refs/postflight', git(remote, 'rev-parse', `${ref}~2`))
    await one.workflow('resume', '7', '--shared', '--take')
    expect(await losing()).toContain(`is kept at ${WALK}, and nowhere else`)
  })

  it('that has ended keeps its outcome when it is released, and others are told that, not who holds it', async () => {
    const { one, two, remote, ref } = await started()
    await one.workflow('abort', '7')
    expect(await one.workflow('release', '7')).toMatchObject({ status: 0 })
    expect(one.state()).toMatchObject({ outcome: 'aborted' })
    expect(git(remote, 'cat-file', 'blob', `${ref}:state.json`)).toContain('"outcome":"aborted"')
    expect((await two.workflow('resume', '7', '--shared')).stderr).toContain('has ended (aborted)')
  })
})
