/** Workflows that only the CLI drives: an orchestrating agent's loop, its failures, and how people see them. */

import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Flow, flowProject, IN_TASK, startFlow as started } from '../../support/flow.ts'
import { CLI, canRun, PACKAGE, runProcess, skipNote } from '../../support/process.ts'
import { createSourceProject, type JsonDocument, withoutPrivileges } from '../../support/project.ts'

const HAS_JQ = canRun('command -v jq')

const PAGE = readFileSync(`${PACKAGE}/docs/workflow.md`, 'utf8')
const PAGE_FLOW = /```yaml\n(# yaml-language-server[\s\S]*?)```/.exec(PAGE)?.[1] ?? ''

const STATE = `${IN_TASK}/workflow/state.json`

/** A schema with these needs many steps for a long list. */
const ITEMS = { enum: [...Array.from({ length: 199 }, (_, index) => `${index}${'-'.repeat(20)}`), 'x'] }

const one = (more: object = {}): object[] => [{ id: 'only', prompt: 'do it', artifact: 'out.txt', ...more }]

describe('`workflow next` alone', () => {
  it.skipIf(!HAS_JQ)(
    `works with the loop in docs/workflow.md, exactly as printed${skipNote(HAS_JQ, 'jq is not installed')}`,
    async () => {
      const loop = /```bash\n((?:(?!```)[\s\S])*?my-agent[\s\S]*?)```/.exec(PAGE)?.[1] ?? ''
      const project = createSourceProject({ files: { 'flow.yaml': PAGE_FLOW } })
      mkdirSync(project.at('specs/259_x'))
      const agent = `case $(cat) in
        *plan.json*) echo '{"steps": ["one", "two"]}' > specs/259_x/plan.json ;;
        *step-result.json*) echo '{"success": true}' > specs/259_x/step-result.json ;;
      esac`
      project.write('my-agent', `#!/bin/sh\n${agent}`, 0o755)
      const env = { PATH: `${project.dir}:${project.env.PATH}` }
      const script = `postflight() { node "${CLI}" "$@"; }\n${loop}`
      const ran = await project.shell(script, { shell: 'bash', env })
      expect(ran, ran.stderr).toMatchObject({ status: 0, stderr: '' })
      expect(ran.stdout).toMatch(/\ncompleted\nnull\n$/)
      expect(project.has('specs/259_x/step-results/execute/2-1.json')).toBe(true)
    },
  )

  it('works with the workflow in docs/workflow.md, which has no warnings and asks again for a plan without a list', async () => {
    const project = flowProject([])
    project.write('flow.yaml', PAGE_FLOW)
    const validated = (await project.workflow('validate', 'flow.yaml', '--json')).json()
    expect(validated).toMatchObject({ valid: true, warnings: [] })
    await project.workflow('start', '7', 'flow', '--definition', 'flow.yaml')
    await project.next()
    project.put('plan.json', '{"steps": "no"}')
    const again = await project.next()
    expect(again).toMatchObject({ command: 'prompt', phase: 'plan', attempt: 2 })
    expect(again.prompt).toContain('plan.json does not match its schema: the value at "/steps"')
    project.put('plan.json', '{"steps": ["one"]}')
    expect(await project.next()).toMatchObject({ phase: 'execute', step: 1 })
  })
})

it('an agent that never writes its artifact stalls the run, status says why, and resume tries again', async () => {
  const project = await started(one({ max_attempts: 2 }))
  expect(await project.next()).toMatchObject({ command: 'prompt', attempt: 1 })
  expect(await project.next()).toMatchObject({ command: 'prompt', attempt: 2 })
  for (const _ of 'ab') expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'stalled' })
  expect((await project.workflow('status', '7')).stdout).toMatch(
    /✗ only .*attempt 2 of 2( · \d+ s)?\n {2}! 2 attempts failed, most recently: out.txt is missing/,
  )
  expect((await project.workflow('resume', '7')).status).toBe(0)
  expect(await project.next()).toMatchObject({ command: 'prompt', attempt: 3 })
  project.put('out.txt', 'here')
  expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'completed' })
  expect((await project.workflow('resume', '7')).status).toBe(1)
})

describe('steps', () => {
  const work = { id: 'work', steps: { from: 'list.json', pointer: '/a~1b/0' }, step_prompt: 'Do {{step}}' }

  it('are taken from an artifact, retried, skipped, and archived attempt by attempt', async () => {
    const project = await started([
      { id: 'list', prompt: 'p', artifact: 'list.json', check: { json: true } },
      { ...work, max_step_attempts: 2 },
    ])
    await project.next()
    project.put('list.json', JSON.stringify({ 'a/b': [['first', { do: 'second' }]] }))
    expect((await project.next()).prompt).toContain('Do first')
    project.put('step-result.json', '{}')
    const retry = await project.next()
    expect(retry).toMatchObject({ phase: 'work', step: 1, attempt: 2, artifact: 'step-result.json' })
    expect(retry.prompt).toContain('step-result.json must have a "success" that is true or false')
    project.put('step-result.json', '{"success": true}')
    expect((await project.next()).prompt).toContain('Do {"do":"second"}')
    project.put('step-result.json', '{"success": false, "summary": "too hard"}')
    expect((await project.next()).prompt).toContain('Problem with the last result: too hard')
    project.put('step-result.json', '{"success": false}')
    const { outcome, why } = await project.next()
    expect(outcome).toBe('completed')
    expect((await project.workflow('status', '7')).stdout).toContain(`! ${why}`)
    const archived = Object.keys(project.snapshot(`${IN_TASK}/step-results/work`))
    expect(archived).toEqual(['1-1.json', '1-2.json', '2-1.json', '2-2.json'])
    expect((await project.workflow('history', '7')).stdout).toMatch(/step-skipped work {2}step 2, attempt 2/)
  })

  it.each([
    ['a file', (project: Flow) => project.put('step-results', 'not ours')],
    ['a link', (project: Flow) => symlinkSync(project.dir, project.at(IN_TASK, 'step-results'))],
    ['below a file', (project: Flow) => project.put('step-results/work', 'not ours')],
  ])('are not done, skipped or lost if their archive cannot be written: %s', async (_what, make) => {
    const project = await started([{ id: 'work', steps: ['first', 'second'] }])
    await project.next()
    make(project)
    const before = project.state()
    project.put('step-result.json', '{"success": true}')
    const run = await project.workflow('next', '7', '--json')
    expect(run).toMatchObject({ status: 73, stderr: expect.stringContaining('step-results') })
    expect(project.read(`${IN_TASK}/step-result.json`)).toBe('{"success": true}')
    // Only what it was about to archive is noted.
    expect(project.state()).toEqual({ ...before, archiving: ['1-1.json'] })
    rmSync(project.at(IN_TASK, 'step-results'), { recursive: true })
    expect(await project.next()).toMatchObject({ phase: 'work', step: 2, attempt: 1 })
  })

  it.each([
    ['list.json, which lists the steps, is missing: create it, then run `postflight', undefined],
    ['list.json is not JSON', 'no json'],
    ['list.json has no list of steps at "/a~1b/0": fix the file, then run `postflight', '{"a/b": [3]}'],
    ['more than the maximum of 1000: fix the file, then run', JSON.stringify({ 'a/b': [Array(1001).fill('x')] })],
  ])('that are not found stall the run until the file is repaired: %s', async (why, content) => {
    const project = await started([work])
    if (content !== undefined) project.put('list.json', content)
    expect(await project.next()).toMatchObject({ outcome: 'stalled', why: expect.stringContaining(why) })
    project.put('list.json', '{"a/b": [["mended"]]}')
    await project.workflow('resume', '7')
    expect((await project.next()).prompt).toContain('Do mended')
  })
})

/** Makes `sub` a link out of the task folder, to a folder with the artifact. */
function linkAway(project: Flow): void {
  project.write('elsewhere/out.txt', 'x')
  symlinkSync(project.at('elsewhere'), project.at(IN_TASK, 'sub'))
}

const linkTo = (target: string) => (project: Flow) => {
  mkdirSync(project.at(IN_TASK, 'sub'))
  symlinkSync(target, project.at(IN_TASK, 'sub/out.txt'))
}

describe('bad input', () => {
  it('a definition with faults starts nothing', async () => {
    const project = flowProject(one({ next: 'nowhere' }))
    const run = await project.workflow('start', '7', 'flow', '--definition', 'flow.json')
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('phases.0.next: unknown phase "nowhere"') })
    expect(project.has(IN_TASK)).toBe(false)
  })

  it.each(['host', 'parent'])('a --%s-session that is not one line starts and resumes nothing', async (which) => {
    const project = await started(one())
    const before = project.snapshot('specs')
    for (const value of ['', 'two\nlines']) {
      for (const words of ['start 7 --definition flow.json --fresh', 'resume 7']) {
        const run = await project.workflow(...words.split(' '), `--${which}-session`, value)
        expect(run).toMatchObject({ status: 64, stderr: expect.stringContaining('-session must be one line of text') })
      }
    }
    expect(project.snapshot('specs')).toEqual(before)
  })

  it.each<[string, (project: Flow) => unknown, string]>([
    ['a folder', (project) => mkdirSync(project.at(IN_TASK, 'sub/out.txt'), { recursive: true }), 'is a folder'],
    ['behind a link', linkAway, 'behind a link'],
    ['a link', linkTo('/etc/passwd'), 'sub/out.txt is a link'],
  ])('an artifact that is %s does not count', async (_what, make, why) => {
    const project = await started(one({ artifact: 'sub/out.txt' }))
    await project.next()
    make(project)
    expect((await project.next()).prompt).toContain(why)
  })

  it.each([
    ['has 2 bytes, but must have at least 5', { check: { min_bytes: 5 } }, '{}'],
    ['larger than 4194304 bytes, too large to be checked', { check: { json: true } }, 'x'.repeat(4_194_305)],
    ['schema: the whole value must satisfy type: ', { check: { json_schema: { type: 'array' } } }, '{}'],
    ['more than 250000', { check: { json_schema: { items: ITEMS } } }, JSON.stringify(Array(99_999).fill('x'))],
    ['at "/v": it must be true, false, "pass" or "fail"', { next: { verdict: '/v', pass: 'end', fail: 'end' } }, '{}'],
    ['at "/is": it must be one of bug, idea', { next: { verdict: '/is', cases: { bug: 'end', idea: 'end' } } }, '{}'],
    ['it must be a string, such as bug', { next: { verdict: '/is', cases: { bug: 'end' }, default: 'end' } }, '{}'],
  ])('an artifact with a fault does not count: %s', async (why, more, content) => {
    const project = await started(one({ artifact: 'out.json', ...more }))
    await project.next()
    project.put('out.json', content)
    expect((await project.next()).prompt).toContain(why)
  })

  it('an invalid artifact from before the run is not called a result of it', async () => {
    const project = await started(one({ check: { json: true } }))
    project.put('out.txt', 'not json')
    expect((await project.next()).prompt).toContain('The file was there before this attempt, and is not valid: out.txt')
    expect((await project.workflow('status', '7')).stdout).toContain('a file from before: out.txt is not JSON')
    expect((await project.next()).prompt).toContain('Problem with the last result: out.txt is not JSON')
  })

  it('an artifact in an unsearchable folder does not count', async () => {
    const project = await started(one({ artifact: 'sub/out.txt' }))
    await project.next()
    project.put('sub/out.txt', 'x')
    const user = withoutPrivileges(project)
    chmodSync(project.at(IN_TASK, 'sub'), 0)
    const words = [user.cli, 'workflow', 'next', '7', '--json']
    const run = await runProcess(process.execPath, words, { cwd: project.dir, env: project.env, uid: user.uid })
    chmodSync(project.at(IN_TASK, 'sub'), 0o755)
    expect(run.status, run.stderr).toBe(0)
    expect(JSON.parse(run.stdout).prompt).toContain('sub/out.txt is out of reach (EACCES)')
  })

  it.each<[string, (text: string) => string, RegExp]>([
    ['cut in half', (text) => text.slice(0, 300), /is not complete JSON/],
    ['of another version', (text) => text.replace('"version":1', '"version":2'), /has version 2/],
  ])('a state file %s is left as it is, reported in one line, and blocks no stop', async (_what, spoil, said) => {
    const project = await started(one())
    const spoilt = spoil(project.read(STATE))
    project.write(STATE, spoilt)
    for (const command of ['next', 'status', 'stop', 'resume', 'abort', 'history', 'graph']) {
      const run = await project.workflow(command, '7')
      expect(run).toMatchObject({ status: 65, stderr: expect.stringMatching(said) })
      expect(run.stderr.trim().split('\n')).toHaveLength(1)
    }
    expect((await project.workflow('status')).status).toBe(1)
    expect(project.read(STATE)).toBe(spoilt)
  })

  it('a history that cannot be read is reported, not shortened', async () => {
    const project = await started(one())
    rmSync(project.at(IN_TASK, 'workflow/history.jsonl'))
    mkdirSync(project.at(IN_TASK, 'workflow/history.jsonl'))
    const said = expect.stringMatching(/(?:^postflight: |Run "[\s\S]*).*history.jsonl cannot be read \(a folder\)/)
    expect(await project.workflow('history', '7')).toMatchObject({ status: 65, stderr: said })
    expect(await project.cli(['report'])).toMatchObject({ status: 0, stdout: said })
  })

  it('an edit of the definition does not change the run', async () => {
    const project = await started(one())
    project.write('flow.json', '{')
    expect((await project.next()).prompt).toContain('do it')
  })

  it.each([
    ['start 8 --definition flow.json', 64, '`postflight workflow start 8 my_slug --definition flow.json`'],
    ['graph nowhere.yaml', 65, 'nowhere.yaml does not exist'],
    ['graph 8', 1, 'task 8 has no folder'],
  ])('an error names the missing file, folder or slug: %s', async (words, status, said) => {
    const project = await started(one())
    expect(await project.workflow(...words.split(' '))).toMatchObject({ status, stderr: expect.stringContaining(said) })
  })

  it('putting a run aside moves nothing that is outside its folder', async () => {
    const project = await started(one({ artifact: 'sub/out.txt' }))
    linkAway(project)
    await project.workflow('abort', '7')
    expect((await project.workflow('start', '7', '--definition', 'flow.json', '--fresh')).status).toBe(0)
    expect(project.read('elsewhere/out.txt')).toBe('x')
  })

  it('a definition with prompts too large for a state starts nothing', async () => {
    const phases = Array.from({ length: 400 }, (_, at) => ({ id: `p${at}`, prompt_file: 'long.md', artifact: `${at}` }))
    const project = flowProject(phases)
    project.write('long.md', 'x'.repeat(49_000))
    const run = await project.workflow('start', '7', 'flow', '--definition', 'flow.json')
    expect(run).toMatchObject({ status: 65, stderr: expect.stringContaining('larger than 16 MiB') })
    expect(project.has(IN_TASK)).toBe(false)
  })

  it('an existing run is not replaced, unless it has ended and --fresh sets it aside', async () => {
    const project = await started(one())
    const start = (...more: string[]) => project.workflow('start', '7', '--definition', 'flow.json', ...more)
    expect((await start()).status).toBe(1)
    expect((await start('--fresh')).status).toBe(1)
    project.put('out.txt', 'old')
    expect(await project.next()).toMatchObject({ outcome: 'completed' })
    // Not `resume`, which would refuse it too.
    const fresh = '`postflight workflow start 007_flow --definition FILE --fresh`'
    const why = `(completed): ${fresh} sets it aside`
    expect(await start()).toMatchObject({ status: 1, stderr: expect.stringContaining(why) })
    expect((await start('--fresh')).status).toBe(0)
    expect(project.read(`${IN_TASK}/workflow-runs/1/out.txt`)).toBe('old')
    expect(project.read(`${IN_TASK}/workflow-runs/.gitignore`)).toBe('*\n')
    expect(await project.next()).toMatchObject({ command: 'prompt', attempt: 1 })
  })

  it.each(['start 7 --definition flow.json', 'check 7'])(
    '%s offers no resume of a run without budget',
    async (words) => {
      const project = await started(one({ check: { run: 'true' } }), { more: { max_prompts: 1 } })
      await project.next()
      expect(await project.next()).toMatchObject({ outcome: 'stalled', why: expect.stringContaining('budget') })
      const { stderr } = await project.workflow(...words.split(' '))
      expect(stderr).toContain(' (stalled): `postflight workflow start 007_flow --definition FILE --fresh` ')
    },
  )
})

it('the history holds every transition, even if one step of a run makes more than a state file keeps', async () => {
  const phases = Array.from({ length: 80 }, (_, at) => ({ id: `p${at}`, prompt: 'p', artifact: `${at}.txt` }))
  const project = await started(phases)
  for (const { artifact } of phases.slice(1)) project.put(`${artifact}`, 'from before')
  await project.next()
  project.put('0.txt', 'x')
  expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'completed' })
  const { history } = (await project.workflow('history', '7', '--json')).json()
  expect(history.map(({ n }: JsonDocument) => n)).toEqual(history.map((_: JsonDocument, at: number) => at + 1))
  expect(history.filter(({ event }: JsonDocument) => event === 'pass')).toHaveLength(80)
})

describe('stop, resume, abort', () => {
  const two = ['a', 'b'].map((id) => ({ id, prompt: 'p', artifact: `${id}.txt` }))

  it('next --peek prints what next would give out, and writes nothing', async () => {
    const phases = [
      { id: 'a', prompt: 'do {{step}}', artifact: 'a.json', next: 'b', max_visits: 2 },
      { id: 'b', steps: ['x', 'y'], next: { pass: 'c', fail: 'a', verdict: '/ok' }, prompt: 'p', artifact: 'b.json' },
      { id: 'c', prompt: 'p', artifact: 'c.json' },
    ]
    const project = await started(phases)
    const peeked = async (): Promise<JsonDocument> => {
      const before = project.snapshot(IN_TASK)
      const run = await project.workflow('next', '7', '--peek', '--json')
      expect(project.snapshot(IN_TASK)).toEqual(before)
      return run.json()
    }
    const agrees = async (seen: object): Promise<void> => {
      const ahead = await peeked()
      expect(ahead).toMatchObject(seen)
      expect(await project.next()).toEqual(ahead)
    }
    await agrees({ phase: 'a', attempt: 1 })
    await agrees({ phase: 'a', attempt: 2 })
    project.put('a.json', '{}')
    await agrees({ phase: 'b', step: 1 })
    project.put('step-result.json', '{"success": true}')
    await agrees({ phase: 'b', step: 2 })
    project.put('step-result.json', '{"success": true}')
    await agrees({ phase: 'b', step: null })
    project.put('b.json', '{"ok": false}')
    // The second visit: the artifact of the first one would be archived.
    await agrees({ phase: 'a', attempt: 1, prompt: expect.stringContaining('artifacts/a/1-a.json') })
    await project.workflow('abort', '7')
    await agrees({ command: 'finish', outcome: 'aborted' })
    // No artifact is archived.
    const loop = await started([{ id: 'a', prompt: 'p', artifact: 'a.json', gate: 'advisory', next: 'a' }])
    await loop.next()
    const { prompt } = (await loop.workflow('next', '7', '--peek', '--json')).json()
    expect(await loop.next()).toMatchObject({ prompt })
  })

  it('stop lets the attempt in progress finish, sends no other one, and resume continues after it', async () => {
    const project = await started(two)
    await project.next()
    const { stdout } = await project.workflow('stop', '7')
    expect(stdout).toContain(' · stopping · ')
    expect(stdout).toContain('`postflight workflow stop 007_flow --now` stops it immediately')
    expect((await project.cli(['status'])).stdout).toContain('phase a, attempt 1 of 3 · stopping · ')
    expect(await project.next()).toMatchObject({ command: 'finish', outcome: 'stopped' })
    const resumed = await project.workflow('resume', '7')
    // The run has no session.
    expect(resumed.stdout).toContain('Get each prompt with: postflight workflow next 007_flow\n')
    expect(await project.next()).toMatchObject({ command: 'prompt', phase: 'a', attempt: 2 })
  })

  const startedIn = (session: string) => started(two, { words: ['--host-session', session] })

  it('`next --json` always has the same keys, and says why there is nothing to do', async () => {
    const project = await startedIn('s1')
    const asking = (session: string) => project.next({ env: { POSTFLIGHT_HOST_SESSION: session } })
    const work = ['step', 'attempt', 'prompt', 'agent', 'model', 'artifact']
    const keys = ['command', 'phase', ...work, 'batch', 'outcome', 'why']
    const elsewhere = await asking('s2')
    const prompted = await asking('s1')
    await project.workflow('abort', '7')
    const over = await asking('s1')
    for (const document of [elsewhere, prompted, over]) expect(Object.keys(document)).toEqual(keys)
    expect([elsewhere.command, elsewhere.why]).toEqual(['wait', expect.stringMatching(/^session s1 .* takes it over/)])
    expect(prompted).toMatchObject({ command: 'prompt', attempt: 1, why: null })
    expect(over).toMatchObject({ command: 'finish', outcome: 'aborted', why: null })
  })

  it('without a known session, the suggested command can take over a run', async () => {
    const project = await startedIn('s1')
    const { stdout } = await project.workflow('next', '7', '--quiet', '--root', '.')
    const [looks, takes] = ['status', 'resume'].map((word) => `\`postflight workflow ${word} 007_flow --root .\``)
    expect(stdout).toMatch(new RegExp(`^wait: session s1 .*${looks}.* run ${takes} in.*POSTFLIGHT_HOST_SESSION`))
    const env = { POSTFLIGHT_HOST_SESSION: 's2' }
    await project.cli(['workflow', 'resume', '7'], { env })
    expect(await project.next({ env })).toMatchObject({ command: 'prompt' })
  })

  it('resume in another session takes the run over, and names the session that had it', async () => {
    const project = await startedIn('s1')
    const resuming = (...words: string[]) => project.workflow('resume', '7', ...words)
    const taken = await resuming('--host-session', 's2')
    const again = await resuming('--host-session', 's2')
    const asData = (await resuming('--host-session', 's3', '--json')).json()
    expect(taken.stdout).toContain('  session s2 drives it\n  taken over from session s1, where it was running\n')
    expect(again.stdout).not.toContain('taken over')
    expect(asData).toMatchObject({ host_session: 's3', taken_over_from: 's2' })
    await project.workflow('stop', '7')
    const stopped = (await resuming('--host-session', 's4', '--json')).json()
    expect(stopped).toMatchObject({ active: true, host_session: 's4', taken_over_from: null })
  })
})
