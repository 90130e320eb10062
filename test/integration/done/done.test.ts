/** The definition of done, from trusting it to the stop that its checks allow: hook and commands together, on a real disk. */

import fs, { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { FileSearch } from '../../../src/done/search.ts'
import { agentShell, begun, edit, later, RULES } from '../../support/done-project.ts'
import { OTHER_SESSION, SESSION, sessionStart, stop, structuredAnswer, subagentStop } from '../../support/payloads.ts'
import { claudeHookEnv, createSourceProject, type HookRun, makeOld, type Project } from '../../support/project.ts'
import { wholeSeconds } from '../../support/whole-seconds.ts'

const stops = (project: Project, more: object = {}): Promise<HookRun> => project.hook(stop({ ...more }))
const reasonOf = async (run: Promise<HookRun>): Promise<string | undefined> => (await run).answer.reason
const done = (project: Project, ...words: string[]) => project.cli(['done', ...words], agentShell())

const sources = (check: string): string => `done: [{ when: "src/**", check: ${JSON.stringify(check)} }]\n`

/** A project as `begun` makes it, whose source changed. */
async function edited(rules?: string): Promise<Project> {
  const project = await begun(rules)
  await edit(project, 'src/b.ts')
  return project
}

/** The same after its first stop. */
async function blocked(rules?: string): Promise<Project> {
  const project = await edited(rules)
  await stops(project)
  return project
}

async function reasonAfter(project: Project, file: string): Promise<string | undefined> {
  await edit(project, file)
  return reasonOf(stops(project))
}

async function startFlow(project: Project): Promise<void> {
  project.write('flow.json', '{"name":"flow","phases":[{"id":"plan","prompt":"Plan it.","artifact":"plan.md"}]}')
  await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'], agentShell())
}

async function forget(project: Project): Promise<void> {
  rmSync(project.at('specs/done.yaml'))
  await project.cli(['trust', '--yes'])
  project.write('specs/done.yaml', RULES)
}

function untrusted(text = RULES): Project {
  return createSourceProject({ files: { 'specs/done.yaml': text } })
}

/** The session's folder, and its files. */
function folderOf(project: Project): string {
  const names = readdirSync(project.at('specs/.postflight'))
  return `specs/.postflight/${names.find((name) => /^done-[0-9a-f]+$/.test(name))}`
}
const filesOf = (project: Project): string[] => readdirSync(project.at(folderOf(project)))

describe('a stop of the main agent', () => {
  it('is blocked if files changed, names them and the command, and is allowed from green checks to the next change', async () => {
    const project = await edited()
    const { answer } = await stops(project)
    expect(answer.decision).toBe('block')
    expect(answer.reason).toContain('  - src/**, package.json: src/b.ts\n')
    expect(answer.reason).toContain('  - test ! -f broken\nRun the checks: postflight done\n')
    expect(answer.reason).toContain('Blocked stop 1 of 3.')
    expect(project.journal().map(({ event, agent, host_session: session }) => [event, agent, session])).toEqual([
      ['create', 'main', SESSION],
      ['block', 'main', SESSION],
    ])
    const run = await done(project)
    expect([run.status, run.stderr]).toEqual([0, ''])
    expect(run.stdout).toMatch(/^1 check passed: test ! -f broken \([\d.]+ s\)\n$/)
    expect((await stops(project)).answer).toEqual({})
    expect(await reasonAfter(project, 'src/a.ts')).toContain('src/a.ts')
  })

  it('is allowed if nothing changed, and blocked by the rules alone whose files changed or were removed', async () => {
    const project = await begun()
    expect((await stops(project)).answer).toEqual({})
    expect(filesOf(project)).toEqual(['baseline.json'])
    await edit(project, 'docs/b.md')
    await edit(project, 'docs/drafts/c.md')
    const reason = await reasonOf(stops(project))
    expect(reason).toContain('  - docs: docs/b.md\n')
    expect(reason).not.toContain('broken')
    rmSync(project.at('docs/b.md'))
    await edit(project, 'docs/d.md')
    expect(await reasonOf(stops(project)), 'the next stop').toContain('  - docs: docs/d.md\n')
    rmSync(project.at('src/a.ts'))
    expect(await reasonOf(stops(project))).toContain('  - src/**, package.json: files were added or removed')
  })

  it('shows the output of a red check, and its marker stays', async () => {
    const project = await blocked(sources('echo the fault; exit 3'))
    const run = await done(project, '--quiet')
    expect(run).toMatchObject({ status: 1, stdout: expect.stringContaining('failed (exit code 3;') })
    expect(run.stdout).toContain('  the fault')
    const reason = await reasonOf(stops(project))
    expect(reason).toContain('failed the last time (exit code 3)')
    expect(reason).toContain('  | the fault')
    expect(reason).toContain('Blocked stop 2 of 3.')
  })

  it('is blocked three times after each start of the session, on a host that names no prompt', async () => {
    const project = await begun()
    const decisions: unknown[] = []
    for (const source of ['', '', '', '', 'compact', 'resume']) {
      if (source !== '') await project.hook(sessionStart(source))
      await edit(project, 'src/b.ts')
      decisions.push((await stops(project, { prompt_id: undefined })).answer.decision)
    }
    expect(decisions).toEqual(['block', 'block', 'block', undefined, undefined, 'block'])
  })

  it('is blocked three times at most, then given up until another prompt and a further change', async () => {
    const project = await begun()
    project.write('broken', '')
    await edit(project, 'src/b.ts')
    for (const count of [1, 2, 3]) expect(await reasonOf(stops(project))).toContain(`Blocked stop ${count} of 3.`)
    const { answer, stderr } = await project.hook(stop(), { env: claudeHookEnv(project, SESSION) })
    expect(answer.decision).toBeUndefined()
    expect(stderr).toContain('after 3 blocked stops')
    expect(filesOf(project)).toContain('.postflight-abandoned')
    expect((await project.cli(['status', '--exit-code'])).status).toBe(1)
    expect((await stops(project, { prompt_id: 'prompt-2' })).answer, 'without a further change').toEqual({})
    await edit(project, 'src/b.ts')
    expect((await stops(project)).answer, 'the same prompt').toEqual({})
    expect((await stops(project, { prompt_id: 'prompt-2' })).answer.reason, 'another prompt').toContain('src/b.ts')
    rmSync(project.at('broken'))
    expect((await done(project)).status).toBe(0)
    expect(filesOf(project).filter((name) => name.startsWith('.postflight'))).toEqual([])
    expect((await project.cli(['status', '--exit-code'])).status).toBe(0)
  })

  it('is blocked three times for one prompt, even if the checks were green in between', async () => {
    const project = await begun()
    for (const count of [1, 2, 3]) {
      expect(await reasonAfter(project, 'src/b.ts')).toContain(`Blocked stop ${count} of 3.`)
      expect((await done(project)).status).toBe(0)
    }
    await edit(project, 'src/b.ts')
    const lock = `${folderOf(project)}/.postflight-lock`
    project.write(lock, '')
    expect((await stops(project)).stderr).toContain('could not be judged')
    rmSync(project.at(lock))
    const { answer, stderr } = await stops(project)
    expect(answer.decision).toBeUndefined()
    expect(stderr, 'although a lock ended the stop before').toContain('3 stops were blocked since your last message')
    expect((await project.cli(['status', '--exit-code'])).status).toBe(1)
    expect(project.journal().at(-1)).toMatchObject({ event: 'cap', outcome: 'capped' })
    expect(await reasonOf(stops(project, { prompt_id: 'prompt-2' }))).toContain('Blocked stop 1 of 3.')
  })

  it('is judged at the call that ends the turn too', async () => {
    const project = await edited()
    const { answer } = await project.hook(structuredAnswer())
    expect(answer.hookSpecificOutput?.permissionDecision).toBe('deny')
    expect(answer.hookSpecificOutput?.permissionDecisionReason).toContain('src/b.ts')
  })

  it.each([
    ['in plan mode', { permission_mode: 'plan' }],
    ['while a sub-agent works', { background_tasks: [{ id: 'a', type: 'subagent', status: 'running' }] }],
  ])('is not judged %s', async (_when, more) => {
    const project = await edited()
    expect((await stops(project, more)).answer).toEqual({})
    expect(await reasonOf(stops(project))).toContain('src/b.ts')
  })

  it('is not judged while a workflow of the session runs, but the stop that ends it is', async () => {
    const project = await begun()
    await startFlow(project)
    expect(await reasonAfter(project, 'src/b.ts')).toContain('Plan it.')
    expect(project.journal().filter(({ event }) => event === 'create')).toEqual([])
    project.write('specs/007_x/plan.md', 'A plan.')
    const reason = await reasonOf(stops(project, { stop_hook_active: true }))
    expect(reason).toContain('src/b.ts')
    expect(reason).toContain('Blocked stop 1 of 3.')
  })

  it('is allowed while the agent waits; that ends with a run, at another prompt, and the journal says so', async () => {
    const project = await blocked()
    expect((await project.cli(['wait', 'done', '--for', 'x'], agentShell())).status).toBe(0)
    expect((await stops(project)).answer).toEqual({})
    await startFlow(project)
    project.write('specs/007_x/plan.md', 'A plan.')
    expect(await reasonOf(stops(project, { prompt_id: 'prompt-2' }))).toContain('src/b.ts')
    expect(project.journal().slice(-3)).toMatchObject([{ event: 'wait-end', detail: 'x' }, {}, { detail: 'completed' }])
  })

  it('is judged again if its marker is removed while it is judged, and does not hold a sub-agent', async () => {
    const project = await edited()
    expect((await project.hook(subagentStop())).answer).toEqual({})
    await stops(project)
    expect((await project.hook(subagentStop())).answer).toEqual({})
    await edit(project, 'src/c.ts')
    const { pathsOf } = FileSearch.prototype
    const paths = vi.spyOn(FileSearch.prototype, 'pathsOf').mockImplementationOnce(function (this: FileSearch, rule) {
      rmSync(project.at(folderOf(project), '.postflight-pending'))
      return pathsOf.call(this, rule)
    })
    const { answer, stderr } = await stops(project)
    paths.mockRestore()
    expect([answer.reason, stderr]).toEqual([expect.stringMatching(/src\/c\.ts[\s\S]*Blocked stop 2 of 3\./), ''])
  })

  it('is blocked if the time of a file cannot be read', async () => {
    const project = await blocked()
    const { lstatSync } = fs
    const lstat = vi.spyOn(fs, 'lstatSync').mockImplementation(((file: string, options: fs.StatSyncOptions) => {
      if (file.endsWith('src/b.ts')) throw Object.assign(new Error(), { code: 'EACCES' })
      return lstatSync(file, options)
    }) as typeof lstatSync)
    expect(await reasonOf(stops(project))).toContain('src/b.ts')
    lstat.mockRestore()
  })

  it('belongs to its session: another one has its own marker, and its green checks count', async () => {
    const project = await begun()
    await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }))
    expect(await reasonAfter(project, 'src/b.ts')).toContain('src/b.ts')
    expect(await reasonOf(stops(project, { session_id: OTHER_SESSION }))).toContain('src/b.ts')
    expect((await project.cli(['done'], agentShell(OTHER_SESSION))).status).toBe(0)
    expect((await stops(project, { session_id: OTHER_SESSION })).answer).toEqual({})
    expect((await stops(project)).answer).toEqual({})
    expect(project.journal().filter(({ event }) => event === 'clear')).toHaveLength(2)
  })

  it('counts from the birth of the transcript if the session has no baseline', async () => {
    const project = untrusted()
    await project.cli(['trust', '--yes'])
    expect((await stops(project)).answer).toEqual({})
    const transcript = project.transcript()
    await edit(project, 'src/b.ts')
    expect(await reasonOf(stops(project, { transcript_path: transcript }))).toContain('src/b.ts')
  })

  it.each([
    ['before it blocked one', false],
    ['after it blocked one', true],
  ])('lets its next stop go after `bypass --all` %s, and asks again only at another prompt', async (_when, blocks) => {
    const project = await edited()
    if (blocks) await stops(project)
    await project.cli(['bypass', '--all'])
    expect((await stops(project)).answer).toEqual({})
    await edit(project, 'src/c.ts')
    expect((await stops(project)).answer, 'the same prompt').toEqual({})
    expect(await reasonOf(stops(project, { prompt_id: 'prompt-2' }))).toContain(': src/c.ts\n')
  })
})

describe('trust', () => {
  it('is needed before anything is asked', async () => {
    const project = untrusted()
    const { answer } = await project.hook(sessionStart('startup'), { env: claudeHookEnv(project, SESSION) })
    expect(JSON.stringify(answer)).toContain('it is not trusted on this machine')
    expect(JSON.stringify(answer)).not.toContain('broken')
    const transcript = project.transcript()
    await edit(project, 'src/b.ts')
    expect((await stops(project, { transcript_path: transcript })).answer).toEqual({})
    const stderr = expect.stringContaining('run `postflight trust` in your own terminal')
    expect(await done(project)).toMatchObject({ status: 1, stderr })
  })

  it('asks, takes anything but yes for no, and is refused in an agent’s shell, with --yes too', async () => {
    const project = untrusted()
    const stderr = expect.stringContaining('only a person may trust')
    expect(await project.cli(['trust', '--yes'], agentShell())).toMatchObject({ status: 1, stderr })
    expect((await project.cli(['trust'])).status).toBe(64)
    for (const answers of [[], [''], ['n'], ['yess']]) {
      const asked = await project.cli(['trust'], { answers })
      expect([asked.status, asked.stdout], answers[0]).toEqual([1, expect.stringContaining('nothing has changed')])
      expect(asked.stdout).toContain('test ! -f broken')
    }
    expect((await done(project)).stderr).toContain('not trusted')
    expect((await project.cli(['trust'], { answers: ['Yes'] })).stdout).toContain('trusted specs/done.yaml')
    project.write('specs/done.yaml', `${RULES}# changed\n`)
    const run = await project.cli(['trust', '--yes', '--json'])
    expect(run.json()).toMatchObject({ trusted: true, changed: true, rules: [{ checks: ['test ! -f broken'] }, {}] })
    expect((await project.cli(['trust', '--json'])).json()).toMatchObject({ trusted: true, changed: false })
  })

  it('forgets the rules of a file that is gone, if a person says so', async () => {
    const project = await begun()
    rmSync(project.at('specs/done.yaml'))
    const no = await project.cli(['trust'], { answers: [''] })
    expect([no.status, no.stdout]).toEqual([1, expect.stringContaining('are still trusted')])
    const forgets = '→ if you removed it: postflight trust (forgets its rules)'
    expect((await project.cli(['status'])).stdout).toContain(forgets)
    expect((await project.cli(['trust'], { answers: ['y'] })).stdout).toContain('forgot the rules of specs/done.yaml')
    expect((await project.cli(['status'])).stdout).not.toContain('done.yaml')
    expect((await project.cli(['trust'])).stderr).toContain('`postflight init` proposes rules')
  })

  it('is refused for a file that is missing, a link, or too large', async () => {
    const project = createSourceProject()
    expect((await project.cli(['trust', '--yes'])).status).toBe(1)
    expect((await done(project)).status).toBe(1)
    symlinkSync('/etc/passwd', project.at('specs/done.yaml'))
    expect((await project.cli(['trust', '--yes'])).stderr).toContain('specs/done.yaml')
    rmSync(project.at('specs/done.yaml'))
    project.write('specs/done.yaml', `# ${'x'.repeat(1_048_576)}\n${RULES}`)
    expect((await project.cli(['trust', '--yes'])).stderr).toContain('too large')
  })

  it.each(['done: []', 'done: ['])('stays as it was if the file is %j, and the person is notified', async (text) => {
    const project = await begun()
    project.write('specs/done.yaml', text)
    // The resume cannot be noted.
    project.write(`${folderOf(project)}/resumed/x`, '')
    const { answer } = await project.hook(sessionStart('resume'), { env: claudeHookEnv(project, SESSION) })
    expect(JSON.stringify(answer)).toContain('the trusted rules stay in force')
    expect(await reasonAfter(project, 'src/b.ts')).toContain('test ! -f broken')
    expect(await done(project)).toMatchObject({ status: 0, stderr: expect.stringContaining('stay in force') })
  })
})

describe('done', () => {
  it('lists what is due, and why', async () => {
    const project = await begun()
    await edit(project, 'docs/b.md')
    const { stdout } = await done(project, '--list')
    expect(stdout).toBe('not due  src/**, package.json\ndue      docs: true; echo docs (docs/b.md)\n')
    const json = (await done(project, '--list', '--json')).json()
    expect(json.rules).toMatchObject([
      { due: false, changed: [] },
      { due: true, changed: ['docs/b.md'] },
    ])
  })

  it('does not say that nothing is due if the time ended before it had judged all sessions', async () => {
    const project = await begun(sources('true'))
    await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }))
    const changes = vi.spyOn(FileSearch.prototype, 'changedSince').mockReturnValue(undefined).mockReturnValueOnce([])
    const run = await project.cli(['done'])
    changes.mockRestore()
    expect(run).toMatchObject({ status: 1, stdout: expect.stringMatching(/^\? +src\/\*\*: too many files.*--all/) })
  })

  it('proves rules whose search ended early, if their checks are green', async () => {
    const project = await blocked()
    const paths = vi.spyOn(FileSearch.prototype, 'pathsOf').mockReturnValue(undefined)
    const run = await project.cli(['done', '--all', '--json'], agentShell())
    paths.mockRestore()
    expect(run.json().cleared).toHaveLength(1)
    expect((await stops(project)).answer).toEqual({})
    expect(await reasonAfter(project, 'src/b.ts')).toContain('src/b.ts')
  })

  it('judges every rule, although a check removed our folder', async () => {
    const first = 'check: rm -rf specs/.postflight; test ! -f broken'
    const project = await begun(`done: [{ when: "src/**", ${first} }, { when: "*/*.ts", check: "true" }]`)
    project.write('broken', '')
    await edit(project, 'src/b.ts')
    expect((await done(project)).status).toBe(1)
    rmSync(project.at('broken'))
    expect(await done(project)).toMatchObject({ status: 0, stdout: expect.stringContaining('2 checks passed') })
    expect((await done(project, '--list')).stdout).toMatch(/^not due .*\(proven .*\nnot due .*\(proven /)
  })

  it('runs every rule with --all, and each command once', async () => {
    const project = await begun('done: [{ when: a, check: echo >> ran }, { when: b, check: [echo >> ran, "true"] }]')
    expect((await done(project, '--all')).status).toBe(0)
    expect(project.read('ran')).toBe('\n')
    expect((await done(project)).stdout).toContain('nothing is due')
  })

  it('says in a terminal that no session is known, since whose start files could have changed', async () => {
    const project = untrusted()
    await project.cli(['trust', '--yes'])
    await project.cli(['done', '--all'])
    project.write('src/new.ts', '')
    const { stdout } = await project.cli(['done'])
    expect(stdout).toBe('nothing is due: no session of an agent is known here (--all runs every rule)\n')
  })

  it('runs the checks once more if files changed meanwhile, and takes what changes again for their own output', async () => {
    const project = await blocked(sources('echo >> ran; sleep 0.02; date +%N > src/generated'))
    const stdout = expect.stringMatching(/"src\/generated".*unless/)
    expect(await done(project)).toMatchObject({ status: 0, stdout })
    expect(project.read('ran')).toBe('\n\n')
    expect((await stops(project)).answer).toEqual({})
    await edit(project, 'src/generated')
    expect((await stops(project)).answer).toEqual({})
    expect(await reasonAfter(project, 'src/b.ts')).toContain('src/b.ts')
  })

  it('takes a file that changes only the second time for somebody else’s, which is due', async () => {
    const twice = 'test $(wc -l < ran) = 1 || { date +%N > src/a.ts; date +%N > src/new; }'
    const project = await edited(sources(`echo >> ran; sleep 0.02; date +%N > src/generated; ${twice}`))
    const run = await done(project)
    expect([run.status, run.stdout]).toEqual([0, expect.stringContaining('"src/generated"')])
    expect(run.stdout).not.toContain('"src/a.ts"')
    // The first run made a file too, so another new one is the checks' own.
    expect(await reasonOf(stops(project))).toContain(': src/a.ts\n')
  })

  it('sees a later change or removal of a file that the checks write each time with the same content', async () => {
    const project = await blocked(sources('sleep 0.02; for f in src/*; do cp $f t; cat t > $f; done'))
    expect((await done(project)).stdout).toMatch(/^2 checks passed.*\n.*same content.*\n$/)
    await project.shell('touch src/*')
    expect((await stops(project)).answer).toEqual({})
    expect(await reasonAfter(project, 'src/b.ts')).toContain(': src/b.ts\n')
    await done(project)
    rmSync(project.at('src/b.ts'))
    expect(await reasonOf(stops(project))).toContain('added or removed')
  })

  it('runs a formatter once more, and then is done', async () => {
    const project = await edited(sources('grep -q nice src/b.ts || { sleep 0.02; echo nice > src/b.ts; }'))
    expect(await done(project)).toMatchObject({ status: 0, stdout: expect.not.stringContaining('unless') })
    expect((await stops(project)).answer).toEqual({})
  })

  it('goes on with a rule whose files the checks changed, and names one that is due again', async () => {
    const rules = '{ when: "src/**", check: date +%N >> lib, name: one }, { when: lib, check: sleep 0.02; cp lib src }'
    const project = await edited(`done: [${rules}]`)
    const stdout = expect.stringMatching(/^2 checks passed.*\ndue again, .*: "one"\n$/)
    expect(await done(project)).toMatchObject({ status: 0, stdout })
    expect(await reasonOf(stops(project))).toContain('  - one: src/lib\n')
  })

  it('proves no change that follows at once, also on a file system with whole seconds', async () => {
    const project = await blocked()
    const coarse = wholeSeconds()
    expect((await done(project)).status).toBe(0)
    project.write('src/b.ts', 'x')
    expect(await reasonOf(stops(project))).toContain('src/b.ts')
    coarse.mockRestore()
  })

  it('ends every session’s marker in a plain terminal', async () => {
    const project = await blocked()
    const run = (await project.cli(['done', '--json'])).json()
    expect(run).toMatchObject({ failed: null, cleared: [expect.any(String)] })
    expect((await stops(project)).answer).toEqual({})
  })

  it('leaves a receipt that counts after rules are trusted again, and in no other checkout', async () => {
    const project = await edited()
    const clone = await edited()
    await done(project)
    const receipts = project.read('specs/.postflight/done-receipts.json')
    clone.write('specs/.postflight/done-receipts.json', receipts)
    expect(await reasonOf(stops(clone)), 'in a clone').toContain('src/b.ts')
    project.write('specs/done.yaml', `${RULES}# changed\n`)
    await project.cli(['trust', '--yes'])
    expect((await stops(project)).answer).toEqual({})
    project.write('specs/.postflight/done-receipts.json', receipts.replace(/"at_ms": \d/, '$&0'))
    expect(await reasonOf(stops(project)), 'edited').toContain('src/b.ts')
  })
})

describe('evidence', () => {
  const status = (project: Project) => project.cli(['status', '--exit-code'])

  it('is not ended by a definition that is gone for a moment', async () => {
    const project = await edited(sources('false'))
    for (let count = 0; count < 4; count += 1) await stops(project)
    rmSync(project.at('specs/done.yaml'))
    await done(project)
    project.write('specs/done.yaml', sources('false'))
    expect(await status(project)).toMatchObject({ status: 1 })
  })

  it('of a block becomes an unchecked marker if the definition is gone', async () => {
    const project = await blocked(sources('false'))
    const prove = /→ to run its checks: postflight done; if it is no longer wanted: postflight clear \S+ --unchecked$/m
    expect((await status(project)).stdout).toMatch(prove)
    rmSync(project.at('specs/done.yaml'))
    expect((await done(project)).stdout).toContain('is gone')
    expect(filesOf(project)).toContain('.postflight-abandoned')
    expect(project.journal().at(-1)).toMatchObject({ event: 'clear', outcome: 'unchecked' })
    const restore =
      /→ to run its checks, restore specs\/done.yaml, then: postflight done; if .*: postflight clear \S+$/m
    expect(await status(project)).toMatchObject({ status: 1, stdout: expect.stringMatching(restore) })
  })

  it('of a marker that was removed by hand names its folder, and does not advise to create it again', async () => {
    const project = await blocked(sources('false'))
    rmSync(project.at(folderOf(project), '.postflight-pending'))
    expect((await status(project)).stdout).toContain(`removed by hand: ${folderOf(project)} `)
    const { stdout } = await project.cli(['clear', basename(folderOf(project))])
    expect(stdout).toContain('its checks (`false`) have not passed since. `--unchecked` settles it.\n')
  })

  it.each([
    ['removed', (file: string) => rmSync(file)],
    ['garbled', (file: string) => writeFileSync(file, 'garbled')],
  ])('of a marker that was %s counts as checked after `done` was green', async (_how, change) => {
    const project = await blocked()
    change(project.at(folderOf(project), '.postflight-pending'))
    expect(await done(project)).toMatchObject({ status: 0 })
    expect((await status(project)).stdout).toMatch(/^✗ removed by hand: .* · in the journal \d+ s ago · session /)
    expect(await project.cli(['clear', basename(folderOf(project))], agentShell())).toMatchObject({ status: 0 })
    expect(await status(project)).toMatchObject({ status: 0 })
  })

  it('stays in the folder of an old session; one without a marker goes after seven days', async () => {
    const project = await blocked()
    const [folder, other] = [folderOf(project), 'specs/.postflight/done-0123456789abcdef']
    project.write(`${other}/baseline.json`, '{}')
    for (const one of [folder, other]) makeOld(project.at(one), 24 * 8)
    await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }))
    expect([project.has(`${folder}/.postflight-pending`), project.has(other)]).toEqual([true, false])
  })
})

describe('a marker of the definition of done', () => {
  it.each<[string, object, (project: Project) => unknown]>([
    ['in plan mode', { permission_mode: 'plan' }, () => undefined],
    ['while the definition is gone', {}, (project) => rmSync(project.at('specs/done.yaml'))],
    ['while a workflow of the session runs', {}, startFlow],
    ['while its rules are not trusted', {}, forget],
  ])('holds no stop %s, and the next one all the same', async (_when, more, change) => {
    const project = await edited()
    expect(await reasonOf(stops(project))).toContain('Blocked stop 1 of 3')
    await change(project)
    const payload = { prompt_id: 'p2', ...more }
    const predicted = await project.cli(['explain', '--payload', '-'], { input: JSON.stringify(stop(payload)) })
    const reason = await reasonOf(stops(project, payload))
    expect(`${predicted.stdout} ${reason}`).not.toContain('postflight done')
    project.write('specs/done.yaml', RULES)
    await project.cli(['trust', '--yes'])
    await project.cli(['workflow', 'abort', '7'], agentShell())
    expect(await reasonOf(stops(project, { prompt_id: 'p3' }))).toContain('postflight done')
  })
})

describe('an emergency', () => {
  it('in a session that has no folder yet lets its next stop through, once', async () => {
    const project = untrusted()
    project.write('src/a.ts', 'a')
    await project.cli(['trust', '--yes'])
    const transcript = project.transcript()
    await edit(project, 'src/b.ts')
    mkdirSync(project.at('specs/.postflight/bypassed.json'), { recursive: true })
    expect(await project.cli(['bypass', '--all'])).toMatchObject({ status: 73, stdout: '' })
    rmSync(project.at('specs/.postflight'), { recursive: true })
    const stdout = 'specs/done.yaml: the next stop of each session goes through\n'
    expect(await project.cli(['bypass', '--all'])).toMatchObject({ stdout })
    expect((await stops(project, { transcript_path: transcript, prompt_id: 'p1' })).answer).toEqual({})
    await edit(project, 'src/b.ts')
    expect(await reasonOf(stops(project, { transcript_path: transcript, prompt_id: 'p2' }))).toContain('src/b.ts')
  })

  it('that came with a clone lets no stop through', async () => {
    const project = untrusted()
    await project.cli(['trust', '--yes'])
    const transcript = project.transcript()
    project.write('specs/.postflight/bypassed.json', '{}\n')
    await edit(project, 'src/b.ts')
    expect(await reasonOf(stops(project, { transcript_path: transcript }))).toContain('src/b.ts')
  })

  it('is no reason to adopt the marker of another session', async () => {
    const project = await blocked()
    const { status, stderr } = await project.cli(['adopt', basename(folderOf(project))], agentShell(OTHER_SESSION))
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('`postflight done` runs') })
  })
})

describe('the times of files', () => {
  it('of a file that is later than the clock count once: it is proven, and due after its next change', async () => {
    const project = await edited()
    makeOld(project.at('src/b.ts'), -1)
    expect((await done(project)).stdout).toMatch(/^1 check passed.*\n$/)
    expect((await done(project)).stdout).toContain('nothing is due')
    expect(await reasonAfter(project, 'src/b.ts')).toContain('src/b.ts')
  })

  it('of a baseline do not count if they are later than the clock, or than its text (after `git stash --all`)', async () => {
    const project = await edited()
    const baseline = project.at(folderOf(project), 'baseline.json')
    makeOld(baseline, 0)
    expect(await reasonOf(stops(project))).toContain('src/b.ts')
    writeFileSync(baseline, 'garbled')
    makeOld(baseline, -1)
    const transcript = project.transcript()
    await edit(project, 'src/b.ts')
    expect(await reasonOf(stops(project, { transcript_path: transcript }))).toContain('src/b.ts')
    await project.hook(sessionStart('resume'))
    expect(await reasonAfter(project, 'src/c.ts')).toContain('src/c.ts')
  })

  it('of more files than a receipt lists are compared all: an edit while the checks run is due', async () => {
    const project = await begun("done: [{when: ['src/**', 'out/**'], check: sh check.sh}]\n")
    for (let at = 0; at < 250; at += 1) project.write(`out/${at}`, 'x')
    // Each run writes all of them. During the second one somebody edits a source.
    project.write(
      'check.sh',
      'for f in out/*; do echo $$ >$f; done; if test -e once; then sleep 0.1; echo y >src/a.ts; fi; touch once',
    )
    await edit(project, 'src/b.ts')
    await done(project)
    expect((await done(project, '--list')).stdout).toMatch(/^due /)
  })
})

describe('the files of a rule', () => {
  it('are none behind a link, even if the pattern names the link', async () => {
    const project = createSourceProject()
    const outside = join(project.base, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'f.txt'), 'x')
    symlinkSync(outside, project.at('link'))
    project.write('specs/done.yaml', "done: [{when: 'link/**', check: 'true'}, {when: 'link/f.txt', check: 'true'}]\n")
    await project.cli(['trust', '--yes'])
    await project.hook(sessionStart('startup'))
    await later()
    writeFileSync(join(outside, 'f.txt'), 'y')
    expect((await done(project, '--list')).stdout).toMatch(/^(not due {2}link\/.* \(it names no file now; .*\n){2}$/)
  })

  it('are due if their folder became a link', async () => {
    const project = await begun()
    renameSync(project.at('src'), join(project.base, 'moved'))
    symlinkSync(join(project.base, 'moved'), project.at('src'))
    expect(await reasonOf(stops(project))).toContain('files were added or removed')
  })

  it('may be named with an empty alternative, and from the root on, and by their folder with a slash', async () => {
    const rules = "{when: '{src/**,}', check: a}, {when: ['./docs/', '{,}'], check: b}, {when: src, check: c}"
    const project = await begun(`done: [${rules}]`)
    expect((await project.cli(['trust', '--yes'])).stdout).toMatch(/\n"src": it names no file now; .*\n$/)
    await edit(project, 'src/b.ts')
    await edit(project, 'docs/b.md')
    const list = /^due .*src\/b\.ts\)\ndue .*docs\/b\.md\)\nnot due {2}src \(it names no file now; .*\n$/
    expect((await done(project, '--list')).stdout).toMatch(list)
  })
})

describe('a hostile or broken project', () => {
  const link = (file: string): void => {
    rmSync(file, { recursive: true })
    symlinkSync('/tmp', file)
  }
  const trusted = ({ base }: Project): string => join(base, 'home/.local/state/postflight-guard/done')
  it.each<[string, (project: Project) => void]>([
    ['its folder is a link', (project) => link(project.at('specs/.postflight'))],
    ['its baseline is a link', (project) => link(project.at(folderOf(project), 'baseline.json'))],
    ['its copy is a link', (project) => link(join(trusted(project), readdirSync(trusted(project))[0] as string))],
    ['its receipts do not parse', (project) => project.write('specs/.postflight/done-receipts.json', '{"receipts":[1')],
    ['its receipts are a folder', (project) => project.write('specs/.postflight/done-receipts.json/x', '')],
    ['its folder cannot be written', (project) => chmodSync(project.at('specs/.postflight'), 0o500)],
    ['its folder is gone', (project) => rmSync(project.at('specs/.postflight'), { recursive: true })],
  ])('if %s: the hook answers, with exit code 0', async (_what, breaks) => {
    const project = await edited()
    breaks(project)
    const { answer, stderr } = await stops(project, { transcript_path: project.transcript() })
    expect(['block', undefined]).toContain(answer.decision)
    if (/baseline|copy/.test(_what)) expect(stderr).toMatch(/could not be judged \(.+json cannot be read \(a link\)/)
    if (_what.includes('are a folder')) expect((await done(project)).stderr).toContain('done-receipts.json (EISDIR)')
    if (_what.includes('cannot be written')) chmodSync(project.at('specs/.postflight'), 0o700)
  })

  it.each<[string, string, string]>([
    ['an unknown field', 'done: [{ whne: a, check: b }]', 'done.0.whne: unknown field "whne" (did you mean "when"?)'],
    [
      'aliases that multiply',
      `a: &a [x]\n${Array.from({ length: 60 }, (_, n) => `b${n}: &b${n} [*${n === 0 ? 'a' : `b${n - 1}`}, *${n === 0 ? 'a' : `b${n - 1}`}]\n`).join('')}done: *b59`,
      'specs/done.yaml:',
    ],
  ])('if the file has %s: it is refused, and nothing is run', async (_what, text, fault) => {
    const project = untrusted(text)
    for (const words of [['trust', '--yes'], ['done']]) {
      const run = await project.cli(words)
      expect([run.status, run.stderr], words[0]).toEqual([65, expect.stringContaining(fault)])
    }
    const { answer } = await project.hook(sessionStart('startup'), { env: claudeHookEnv(project, SESSION) })
    expect(JSON.stringify(answer)).toContain('is not trusted on this machine')
  })

  it('is held by the trusted rules if a check edits the file', async () => {
    const project = await edited(sources("echo 'done: []' > specs/done.yaml"))
    expect((await done(project)).status).toBe(0)
    expect(project.read('specs/done.yaml')).toBe('done: []\n')
    expect((await stops(project)).answer).toEqual({})
    expect(await reasonAfter(project, 'src/b.ts')).toContain('src/b.ts')
  })

  it('is proven by two sessions at once, each for itself', async () => {
    const project = await begun(sources('sleep 0.3'))
    await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }))
    await edit(project, 'src/b.ts')
    const both = [SESSION, OTHER_SESSION]
    for (const session of both)
      expect(await reasonOf(stops(project, { session_id: session })), session).toContain('src/b.ts')
    const runs = await Promise.all(both.map((session) => project.cli(['done', '--json'], agentShell(session))))
    expect(runs.map(({ status }) => status)).toEqual([0, 0])
    for (const session of both) expect((await stops(project, { session_id: session })).answer, session).toEqual({})
    expect(Object.keys(JSON.parse(project.read('specs/.postflight/done-receipts.json')).receipts)).toHaveLength(1)
  })

  it('asks in a linked worktree too, for its own files', async () => {
    const project = createSourceProject({ git: false })
    project.write('specs/done.yaml', RULES)
    const made = await project.shell(
      'git init -q . && git add specs && git -c user.name=a -c user.email=a@b commit -qm x && git worktree add -q tree',
    )
    expect(made.status, made.stderr).toBe(0)
    expect((await project.cli(['trust', '--yes'])).status).toBe(0)
    const cwd = project.at('tree')
    await project.hook(sessionStart('startup', { cwd }), { cwd })
    await edit(project, 'src/elsewhere.ts')
    expect((await project.hook(stop({ cwd }), { cwd })).answer).toEqual({})
    await edit(project, 'tree/src/b.ts')
    expect(await reasonOf(project.hook(stop({ cwd }), { cwd }))).toContain('src/b.ts')
    expect((await project.cli(['done'], { ...agentShell(), cwd })).status).toBe(0)
    expect((await project.hook(stop({ cwd }), { cwd })).answer).toEqual({})
    rmSync(project.at('tree/specs/done.yaml'))
    expect((await project.cli(['trust', '--yes'], { cwd })).stdout).toContain('so its rules stay trusted')
    expect((await project.cli(['status', '--json'], { cwd })).json().done).toMatchObject({ fix: null })
    for (const options of [[], ['--github']]) {
      const { stdout } = await project.cli(['status', ...options], { cwd })
      expect(stdout).toMatch(/specs\/done\.yaml is gone, so its rules, .*, have no effect$/m)
    }
    expect((await project.cli(['trust', '--json'])).json()).toMatchObject({ changed: false })
  })

  it('asks three times in all roots of a stop together', async () => {
    const project = await begun(sources('false'))
    for (const folder of ['specs', 'src']) mkdirSync(project.at(`sub/${folder}`), { recursive: true })
    project.write('sub/specs/done.yaml', sources('false'))
    const cwd = project.at('sub')
    await project.cli(['trust', '--yes'], { cwd })
    await project.hook(sessionStart('startup', { cwd }), { cwd })
    await edit(project, 'src/b.ts')
    const stopHere = () => project.hook(stop({ cwd }), { cwd, env: claudeHookEnv(project, SESSION) })
    for (const count of [1, 2]) expect(await reasonOf(stopHere())).toContain(`Blocked stop ${count} of 3.`)
    await edit(project, 'sub/src/b.ts')
    expect(String(await reasonOf(stopHere())).match(/Blocked stop 3 of 3\./g)).toHaveLength(2)
    expect((await stopHere()).answer.decision).toBeUndefined()
  })

  it('is not asked for what editors, systems and interpreters leave beside sources', async () => {
    const project = await begun()
    for (const name of ['.a.ts.swp', '.DS_Store', '__pycache__/a.pyc', 'a.ts~', '#a.ts#', '.#a.ts'])
      await edit(project, `src/${name}`)
    expect((await stops(project)).answer).toEqual({})
  })
})
