import fs, { readFileSync, rmSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { whileChecking } from '../../../src/marker/run-checks.ts'
import { OTHER_SESSION, SESSION, stop, subagentStop } from '../../support/payloads.ts'
import { startCli } from '../../support/process.ts'
import { createProject, createSourceProject, hoursAgo, type Project } from '../../support/project.ts'

const ENV = { CLAUDE_CODE_SESSION_ID: SESSION }
const OTHER = { CLAUDE_CODE_SESSION_ID: OTHER_SESSION }
const OWNED = { id: 'pf_abcdefghijkl', cc_session_id: SESSION, agent_id: 'main', created: hoursAgo(0) }
const MARKER = 'specs/259_x/.postflight-pending'
const ABANDONED = 'specs/259_x/.postflight-abandoned'

function checked(checks: readonly object[], fields = {}, project = createSourceProject({ wired: true })): Project {
  project.marker('259_x', { ...OWNED, ...fields, checks })
  return project
}

/** The same with one check, as processes. */
const asProcesses = (run: string): Project => checked([{ run }], {}, createProject())

const clear = (project: Project, ...more: string[]) => project.cli(['clear', '259', ...more], { env: ENV })
const read = (project: Project, name = MARKER) => JSON.parse(project.read(name))

const NOTE = { run: 'echo ran >> ran' }

const NO_DESCRIPTOR = `const child = require('child_process'), fs = require('fs'), { spawn } = child, open = []
  child.spawn = (...words) => { try { for (;;) open.push(fs.openSync('/dev/null')) } catch {}
    try { return spawn(...words) } finally { open.splice(0).forEach((one) => fs.closeSync(one)) } }`

const KILLED = `const child = require('child_process'), fs = require('fs'), { spawn } = child
  child.spawn = (...words) => { const started = spawn(...words); fs.writeFileSync('child', String(started.pid))
    fs.writeFileSync('started', '')
    setImmediate(() => process.kill(process.pid, 'SIGKILL')); return started }`

describe.concurrent('clear with checks', () => {
  it('runs them at the root, and removes the marker if all succeed; the journal names them', async () => {
    const project = checked([{ run: 'pwd > where' }, { run: 'test -d specs' }])
    const run = await project.cli(['clear', '259'], { env: ENV, cwd: project.at('specs') })
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.stdout).toMatch(/\(2 checks passed: pwd > where \([\d.]+ s\), test -d specs \([\d.]+ s\)\)/)
    expect(project.read('where')).toBe(`${project.dir}\n`)
    expect(project.snapshot('specs/259_x')).toEqual({})
    const detail = expect.stringMatching(/^2 checks passed: pwd > where/)
    expect(project.journal().at(-1)).toMatchObject({ event: 'clear', outcome: 'cleared', detail })
  })

  it('keeps the marker if one fails, and prints its exit code and the end of its output', async () => {
    const project = checked([{ run: 'seq 1 2000; echo "test 7 failed" >&2; exit 3' }, NOTE])
    const run = await clear(project, '--json')
    expect(run.status).toBe(1)
    const [kept] = run.json().kept
    const checks = [expect.any(String), NOTE.run]
    expect(kept).toMatchObject({ task: '259_x', marker_id: OWNED.id, why: 'failed', checks })
    expect(kept.failed).toMatchObject({ exit_code: 3, signal: null, timed_out: false })
    expect(kept.failed.output).toMatch(/^….*\n[\s\S]*2000\ntest 7 failed\n$/)
    expect(kept.failed.output.length).toBeLessThanOrEqual(4_097)
    expect(project.has(MARKER)).toBe(true)
    expect(project.has('ran')).toBe(false)
    expect(project.journal().at(-1)).toMatchObject({ event: 'check', detail: expect.stringContaining('exit code 3') })
  })

  it('names a failed check in the reason of the next block, until it has passed', async () => {
    const red = String.raw`printf '%300s\rtest \033[1m7\033[0m failed\n' 50%; test -e fixed`
    const project = checked([{ run: red }, { run: 'test -e other' }])
    await clear(project)
    const first = (await project.hook(stop())).answer.reason
    project.write('fixed', '')
    await clear(project)
    const second = (await project.hook(stop())).answer.reason
    expect(first).toContain(`  - ${red}: failed the last time (exit code 1)\n  - test -e other\n`)
    expect(first).toContain('The end of its output:\n  | test 7 failed\n')
    expect(second).toContain(`  - ${red}\n  - test -e other: failed the last time (exit code 1)`)
    expect(second).not.toContain('The end of its output')
    expect(read(project)).toMatchObject({ id: OWNED.id })
  })

  it.each([
    ['is not found', 'no-such-program-here', 'exit code 127: command not found'],
    ['is killed by a signal', 'echo boo; kill -9 $$', 'killed by SIGKILL'],
    ['whose program is killed', "sh -c 'kill -9 $$'; exit $?", 'exit code 137: killed by SIGKILL'],
  ])('says so about a check that %s, with --quiet too', async (_, run, words) => {
    const result = await clear(checked([{ run }]), '--quiet')
    expect(result.status).toBe(1)
    expect(result.stdout).toContain(`the check \`${run}\` failed (${words}; `)
    if (run.includes('boo')) expect(result.stdout).toMatch(/\n {2}boo\n$/)
  })

  it('has no stdin for them', async () => {
    const project = asProcesses('cat; test -z "$(cat)"')
    expect((await project.cli(['clear', '259'], { env: ENV, input: 'open' })).status).toBe(0)
  })

  it('reports a missing shell, one that cannot be executed, and too many open files', async () => {
    const project = asProcesses(NOTE.run)
    for (const code of ['ENOENT', 'EACCES']) {
      const run = await project.cli(['clear', '259'], { env: { ...ENV, PATH: project.at('nothing') } })
      const stderr = expect.stringContaining(`\`sh\` could not be started (${code}): put it on the PATH`)
      expect(run).toMatchObject({ status: 1, stderr })
      project.write('nothing/sh', '')
    }
    project.write('full.cjs', NO_DESCRIPTOR)
    const env = { ...ENV, NODE_OPTIONS: `--require ${project.at('full.cjs')}` }
    const full = await project.cli(['clear', '259'], { env })
    expect(full).toMatchObject({ status: 1, stderr: expect.stringContaining('`sh` could not be started (EMFILE)') })
    expect(full.stderr).not.toContain('PATH')
    expect(project.has(MARKER)).toBe(true)
  })
})

describe.concurrent('checks of others', () => {
  it.each([
    ['another session', OTHER],
    ['a plain terminal', {}],
  ])('are not run for %s, and the message names both ways out', async (_, env) => {
    const project = checked([NOTE])
    const run = await project.cli(['clear', '259'], { env })
    expect(run.status).toBe(1)
    expect(run.stdout).toMatch(/another session \(`echo ran >> ran`\).*`--run-checks`.*`--unchecked`/)
    expect([project.has('ran'), project.has(MARKER)]).toEqual([false, true])
  })

  it('run with --run-checks, which prints them first', async () => {
    const project = checked([NOTE])
    const run = await project.cli(['clear', '259', '--run-checks'], { env: OTHER })
    expect(run).toMatchObject({ status: 0, stderr: `postflight: running the check: ${NOTE.run}\n` })
    expect(project.read('ran')).toBe('ran\n')
  })

  it('are never run for an unowned marker, not even with --run-checks', async () => {
    const project = checked([NOTE], { cc_session_id: undefined, agent_id: undefined })
    const run = await clear(project, '--run-checks', '--json')
    expect(run.json().kept).toMatchObject([{ why: 'unowned' }])
    expect(project.has('ran')).toBe(false)
    expect((await project.hook(subagentStop())).answer.reason).not.toContain(NOTE.run)
  })

  it('stay with --all, which clears all the rest and ends with 1', async () => {
    const project = checked([NOTE])
    const others = { ...OWNED, cc_session_id: OTHER_SESSION }
    project.marker('260_y', { ...others, id: 'pf_bbbbbbbbbbbb', checks: [{ run: 'touch other' }] })
    project.marker('261_z', { ...others, id: 'pf_cccccccccccc' })
    const run = await project.cli(['clear', '--all', '--json'], { env: ENV })
    expect(run.status).toBe(1)
    expect(run.json().cleared.map(({ task }: { task: string }) => task)).toEqual(['259_x', '261_z'])
    expect(run.json().kept).toMatchObject([{ task: '260_y', why: 'other-session' }])
    expect([project.read('ran'), project.has('other')]).toEqual(['ran\n', false])
  })
})

describe.concurrent('a marker whose checks are skipped', () => {
  it.each([
    ['clear --unchecked', ['clear', '259', '--unchecked'], ENV],
    ['clear --all --unchecked', ['clear', '--all', '--unchecked'], OTHER],
    ['create --force', ['create', '259', '--operation', 'plan', '--force'], OTHER],
    ['a create that replaces it', ['create', '259', '--operation', 'plan', '--agent', 'main'], ENV],
  ])('is kept as abandoned after %s, and inspect says so', async (_, words, env) => {
    const project = checked([NOTE])
    expect(await project.cli(words, { env })).toMatchObject({ status: 0, stderr: '' })
    expect(project.has('ran')).toBe(false)
    expect(read(project, ABANDONED)).toMatchObject({ id: OWNED.id, outcome: 'unchecked', checks: [NOTE] })
    const { markers } = (await project.cli(['inspect', '--json'])).json()
    expect(markers).toContainEqual(expect.objectContaining({ state: 'abandoned', outcome: 'unchecked' }))
    expect((await project.cli(['inspect', '--exit-code'])).status).toBe(1)
  })

  it('is kept as abandoned when the stop after a bypass removes it', async () => {
    const project = checked([NOTE])
    await project.cli(['bypass', '259'], { env: ENV })
    await project.hook(stop())
    expect(project.has(MARKER)).toBe(false)
    expect(read(project, ABANDONED)).toMatchObject({ outcome: 'unchecked' })
  })

  it('is kept as abandoned by --orphaned', async () => {
    const project = checked([NOTE], { cc_session_id: OTHER_SESSION, created: hoursAgo(30) })
    const dry = await project.cli(['clear', '--orphaned', '--dry-run', '--json'], { env: ENV })
    const run = await project.cli(['clear', '--orphaned', '--json'], { env: ENV })
    for (const one of [dry, run]) expect(one.json().cleared).toMatchObject([{ unchecked: true, marker_id: OWNED.id }])
    expect(read(project, ABANDONED)).toMatchObject({ outcome: 'unchecked' })
    expect(project.has('ran')).toBe(false)
  })

  it('is removed by its own session only when its checks pass, and by a person at once', async () => {
    const project = checked([{ run: 'test -e ok' }])
    const person = checked([{ run: 'test -e ok' }])
    for (const one of [project, person]) await one.cli(['clear', '259', '--unchecked'], { env: ENV })
    for (const words of [['259'], ['--all']]) {
      const run = await project.cli(['clear', ...words, '--unchecked'], { env: ENV })
      expect(run).toMatchObject({ status: 0, stdout: expect.stringMatching(/^nothing to clear: .* clear 259_x\n$/) })
    }
    expect(project.has(ABANDONED)).toBe(true)
    expect((await clear(project)).status).toBe(1)
    expect(project.has(ABANDONED)).toBe(true)
    project.write('ok', '')
    expect((await clear(project)).status).toBe(0)
    expect(project.has(ABANDONED)).toBe(false)
    expect((await person.cli(['clear', '259'])).status).toBe(0)
    expect(person.has(ABANDONED)).toBe(false)
  })
})

describe.concurrent('adopt', () => {
  it.each([
    ['pending', MARKER],
    ['abandoned', ABANDONED],
  ])('drops the checks of another session and names them (%s)', async (_, name) => {
    const project = createSourceProject()
    project.write(name, JSON.stringify({ ...OWNED, checks: [NOTE], checks_session: OTHER_SESSION }))
    const env = { CLAUDE_CODE_SESSION_ID: 'third' }
    const run = await project.cli(['adopt', '259'], { env })
    await project.cli(['clear', '259'], { env })
    expect(run.stdout).toContain(`dropped the checks of its previous session: \`${NOTE.run}\``)
    expect([project.has('ran'), project.has(MARKER)]).toEqual([false, false])
  })

  it('keeps those of the same session: they could be evaded otherwise', async () => {
    const project = checked([{ run: 'false' }])
    await project.cli(['adopt', '259'], { env: ENV })
    expect((await clear(project)).status).toBe(1)
  })
})

describe.concurrent('create --check', () => {
  it('stores checks, for the marker and for the step with the longest name that fits', async () => {
    const project = createSourceProject()
    const steps = ['--step', 'a', '--step', 'a=b', '--step-check', 'a=b=make x=1']
    await project.cli(['create', '259', 'x', '--check', 'npm test', ...steps], { env: ENV })
    expect(read(project).checks).toEqual([{ run: 'npm test' }, { run: 'make x=1', step: 'a=b' }])
    const unowned = await project.cli(['create', '260', 'x', '--check', 'true'])
    expect(unowned.stdout).toContain('the checks of this marker are never run')
  })

  it.each([
    ['without a step of that name', ['--step', 'one', '--step-check', 'a b=true'], `add --step 'a b'), not "a b=true"`],
    ['without a command', ['--step', 'one', '--step-check', 'one='], '--step-check takes NAME=COMMAND'],
    ['with several lines', ['--check', 'one\ntwo'], 'not "one\\ntwo".'],
    ['more than twenty times', Array(21).fill(['--check', 'true']).flat(), 'at most 20 times'],
  ])('is refused %s', async (_, words, why) => {
    const project = createSourceProject({ specs: false })
    const run = await project.cli(['create', '259', 'x', ...words], { env: ENV })
    expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining(why) })
    expect(project.has('specs')).toBe(false)
  })

  it('adds to the checks of a marker that is renewed, so that renewing evades none', async () => {
    const project = checked([{ run: 'false' }])
    const run = await project.cli(['create', '259', '--check', 'true', '--agent', 'main'], { env: ENV })
    expect(run.stdout).toContain('renewed')
    expect(read(project).checks).toEqual([{ run: 'false' }, { run: 'true' }])
  })

  it('makes nothing its own that an unowned marker brought', async () => {
    const project = checked([NOTE], { cc_session_id: undefined, agent_id: undefined, session_id: 'sess_1' })
    await project.cli(['create', '259', '--session-id', 'sess_1'], { env: ENV })
    await clear(project)
    expect(project.has('ran')).toBe(false)
  })
})

describe.concurrent('step with a check', () => {
  const STEPS = { steps: ['one', 'two'] }

  it('ticks the step if its check succeeds, and runs no other', async () => {
    const project = checked([{ ...NOTE, step: 'one' }, { run: 'false' }, { run: 'false', step: 'two' }], STEPS)
    expect((await project.cli(['step', '259', 'one'], { env: ENV })).status).toBe(0)
    expect(project.read('ran')).toBe('ran\n')
    expect(read(project).steps).toEqual([{ name: 'one', done: true }, 'two'])
  })

  it('does not tick it if the check fails', async () => {
    const project = checked([{ run: 'echo red; false', step: 'one' }], STEPS)
    const run = await project.cli(['step', '259', '1', '--json'], { env: ENV })
    expect(run.status).toBe(1)
    const failed = { exit_code: 1, output: 'red\n' }
    expect(run.json()).toMatchObject({ step: { name: 'one', done: false }, remaining: 2, failed })
    expect(read(project).steps).toEqual(STEPS.steps)
  })

  it('refuses another session, names --run-checks, and runs nothing to undo', async () => {
    const project = checked([{ ...NOTE, step: 'one' }], STEPS)
    const run = await project.cli(['step', '259', 'one'], { env: OTHER })
    const undone = await project.cli(['step', '259', 'one', '--undo'], { env: OTHER })
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('--run-checks') })
    expect(run.stderr).not.toContain('--unchecked')
    expect([undone.status, project.has('ran')]).toEqual([0, false])
  })
})

/** Starts `clear` and waits until its check has made a file. */
async function clearing(project: Project, line = 'clear 259') {
  const started = startCli({ ...project, env: { ...project.env, ...ENV } }, line.split(' '), onTestFinished)
  while (!project.has('started')) await sleep(20)
  return started
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('running checks', () => {
  const WAIT_FOR_GO = 'touch started; until test -e go; do sleep 0.05; done'

  it('run once for two clears, and a block says that they run and offers wait', async () => {
    const project = checked([{ run: `echo ran >> ran; ${WAIT_FOR_GO}` }])
    const { ended } = await clearing(project)
    const second = await clear(project)
    const { reason } = (await project.hook(stop())).answer
    project.write('go', '')
    expect(second.status).toBe(1)
    expect(second.stdout).toMatch(/has checks running since \d{4}-\S+Z \(\d+ s\) \(`echo ran.*`\)/)
    expect(reason).toMatch(/running since \d{4}-\S+Z\. To wait for them: postflight wait 259_x --for "the checks"/)
    expect(await ended).toBe(0)
    expect(project.read('ran')).toBe('ran\n')
    expect(project.snapshot('specs/259_x')).toEqual({})
  })

  it.each([
    ['replaced theirs', 'clear 259', { id: 'pf_newnewnewnew' }],
    ['another session adopted', 'clear 259', { cc_session_id: OTHER_SESSION }],
    ['has another step of that number', 'step 259 1 --json', { steps: ['two', 'one'] }],
  ])('leave a marker that %s', async (_what, line, fields) => {
    const project = checked([{ run: WAIT_FOR_GO, step: 'one' }], { steps: ['one'] })
    const { ended, stdout } = await clearing(project, line)
    project.marker('259_x', { ...OWNED, ...fields })
    project.write('go', '')
    expect(await ended).toBe(1)
    expect(stdout()).toContain('was replaced while its checks ran')
    expect(read(project)).toMatchObject(fields)
  })

  it('prove a marker that was removed by hand meanwhile, at the time when they end', async () => {
    const project = checked([{ run: WAIT_FOR_GO }])
    const { ended, stdout } = await clearing(project)
    rmSync(project.at(MARKER))
    await project.hook(stop())
    project.write('go', '')
    expect(await ended).toBe(0)
    expect(stdout()).toMatch(/^cleared specs\/259_x \(1 check passed: [^\n]*\n$/)
    expect((await project.cli(['status', '--exit-code', '--expect', '259'])).status).toBe(0)
  })

  it('prove a marker that is gone, even if its folder could not be synced', async () => {
    const project = checked([{ run: 'true' }])
    const fsync = vi.spyOn(fs, 'fsyncSync').mockThrowOnce(Object.assign(new Error(), { code: 'EIO' }))
    expect(await clear(project)).toMatchObject({ status: 73, stdout: '' })
    fsync.mockRestore()
    expect((await clear(project)).stdout).toBe('nothing to clear\n')
    expect((await project.cli(['status', '--exit-code', '--expect', '259'])).status).toBe(0)
  })

  it('clear a marker that reached its limit meanwhile', async () => {
    const project = checked([{ run: WAIT_FOR_GO }])
    const { ended } = await clearing(project)
    for (let stops = 0; stops < 4; stops++) await project.hook(stop())
    expect(project.has(ABANDONED)).toBe(true)
    project.write('go', '')
    expect(await ended).toBe(0)
    expect(project.snapshot('specs/259_x')).toEqual({})
  })

  it('are killed with all that they started when their time is used up, even what ignores SIGTERM', async () => {
    const project = asProcesses("echo begun; (trap '' TERM; exec sleep 600) & echo $! > child; wait")
    const run = await clear(project, '--timeout', '1')
    expect(run.status).toBe(1)
    expect(run.stdout).toMatch(/failed \(still running after 1\.0 s, so it was killed; .*\n {2}begun\n$/)
    expect(run.durationMs).toBeLessThan(10_000)
    expect(isAlive(Number(project.read('child')))).toBe(false)
    expect((await project.hook(stop())).answer.reason).toContain('failed the last time (still running after 1.0 s')
  })

  it('do not hang on a process that they leave with their output', async () => {
    const project = asProcesses('sleep 600 & echo $! > child; echo done; exit 1')
    const run = await clear(project)
    process.kill(Number(project.read('child')), 'SIGKILL')
    expect(run.stdout).toMatch(/exit code 1.*\n {2}done\n$/)
    expect(run.durationMs).toBeLessThan(10_000)
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'end with %s: a clear line, no lock, and no process that goes on',
    async (signal) => {
      const project = asProcesses('echo $$ > child; touch started; sleep 600')
      const { child, ended, stdout } = await clearing(project)
      child.kill(signal)
      expect(await ended).toBe(1)
      expect(stdout()).toContain(`failed (interrupted (${signal}); `)
      expect(isAlive(Number(project.read('child')))).toBe(false)
      expect(project.snapshot('specs/259_x')).toEqual({ '.postflight-pending': expect.any(String) })
      // An interruption is not a result of the check.
      expect(read(project).checks[0]).not.toHaveProperty('failed')
    },
  )

  it('end if their command is killed, which cannot end them itself', async () => {
    const project = asProcesses('sleep 600')
    project.write('killed.cjs', KILLED)
    await clearing({ ...project, env: { ...project.env, NODE_OPTIONS: `--require ${project.at('killed.cjs')}` } })
    await expect.poll(() => isAlive(Number(project.read('child'))), { timeout: 10_000 }).toBe(false)
  })

  it('take over the lock of a process that was killed', async () => {
    const project = checked([NOTE])
    project.write('specs/259_x/.postflight-checking', '')
    expect((await clear(project)).stdout).toContain('has checks running since')
    utimesSync(project.at('specs/259_x/.postflight-checking'), 1, 1)
    expect((await clear(project)).status).toBe(0)
    expect(project.snapshot('specs/259_x')).toEqual({})
  })

  it('wait for a lock of the folder without blocking their process', async () => {
    const project = createSourceProject({ files: { 'specs/259_x/.postflight-lock': '' } })
    const folder = { root: project.dir, path: project.at('specs/259_x'), task: '259_x', relative: 'specs/259_x' }
    const startedMs = Date.now()
    const checking = whileChecking(folder, { limitMs: 60_000, survivesSignals: false }, (run) => run(['true']))
    rmSync(project.at('specs/259_x/.postflight-lock'))
    expect(await checking).toMatchObject({ kind: 'done', result: [{ failure: undefined }] })
    expect(Date.now() - startedMs).toBeLessThan(4_000)
  })

  it('cost little memory, however much they print', async () => {
    const project = asProcesses('head -c 200000000 /dev/zero | tr "\\0" "a"; echo; echo the end; exit 1')
    const peak = async (words: readonly string[]) => {
      const script = `process.on('exit', () => require('fs').writeFileSync('${project.at('peak')}', String(process.resourceUsage().maxRSS)))`
      project.write('peak.cjs', script)
      const run = await project.cli(words, { env: { ...ENV, NODE_OPTIONS: `--require ${project.at('peak.cjs')}` } })
      return { run, megabytes: Number(project.read('peak')) / 1024 }
    }
    const empty = await peak(['--version'])
    const { run, megabytes } = await peak(['clear', '259'])
    expect(run.stdout.slice(-200)).toMatch(/a+\n {2}the end\n$/)
    expect(run.stdout.length).toBeLessThan(5_000)
    expect(megabytes - empty.megabytes).toBeLessThan(40)
    console.log(`200 MB of output: ${Math.round(megabytes - empty.megabytes)} MB more than an empty command`)
  })
})
