/** The definition of done in the commands that show, explain, end and let go markers. */

import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { agentShell, begun, edit } from '../../support/done-project.ts'
import { OTHER_SESSION, SESSION, sessionStart, stop } from '../../support/payloads.ts'
import type { Project } from '../../support/project.ts'

/** A project whose session was blocked once by its definition of done. */
async function blocked(): Promise<Project> {
  const project = await begun()
  await edit(project, 'src/b.ts')
  expect((await project.hook(stop())).answer.decision).toBe('block')
  return project
}

const json = async (project: Project, ...words: string[]) => (await project.cli([...words, '--json'])).json()

describe('a pending marker of the definition of done', () => {
  it('is ambiguous to people if two sessions have one, and not to their agents', async () => {
    const project = await blocked()
    await project.hook(sessionStart('startup', { session_id: OTHER_SESSION }))
    await edit(project, 'src/c.ts')
    expect((await project.hook(stop({ session_id: OTHER_SESSION }))).answer.decision).toBe('block')
    const folders = (await json(project, 'inspect')).markers.map(({ task }: { task: string }) => task)
    expect(folders).toHaveLength(2)
    const several = await project.cli(['inspect', 'done'])
    expect(several.status).toBe(64)
    for (const folder of folders) expect(several.stderr).toContain(folder)
    const own = (await project.cli(['inspect', 'done', '--json'], agentShell())).json()
    expect(own.markers).toMatchObject([{ owner: { host_session: SESSION } }])
    expect((await project.cli(['inspect', folders[0]])).status).toBe(0)
    const third = agentShell('9f0c1f2e-0000-4000-8000-000000000000')
    const NONE = 'specs/done.yaml has blocked no stop there'
    const asked = { 'clear done --unchecked': '', 'wait done --for x': NONE, 'bypass done': NONE }
    for (const [line, why] of Object.entries(asked)) {
      const [stdout, stderr] = [expect.not.stringContaining('cleared'), expect.stringContaining(why)]
      expect(await project.cli(line.split(' '), third)).toMatchObject({ status: why === '' ? 0 : 1, stdout, stderr })
    }
    expect((await json(project, 'inspect')).markers).toHaveLength(2)
  })

  it('is a red item of status with its command, a word in the status line, and a heading in the report', async () => {
    const project = await blocked()
    const run = await project.cli(['status', '--exit-code'])
    expect(run.status).toBe(1)
    expect(run.stdout).toMatch(
      /definition of done .* blocked 1 of 3 stops[\s\S]*→ to run its checks: postflight done; /,
    )
    const sentence = expect.stringContaining('The definition of done: its postflight is still pending')
    const done = { standing: 'trusted', fix: null }
    expect(await json(project, 'status')).toMatchObject({ items: [{ kind: 'pending', sentence }], done })
    const line = await project.cli(['statusline'], { input: JSON.stringify({ session_id: SESSION }) })
    expect(line.stdout).toBe('⚑ done, blocked 1/3\n')
    expect((await project.cli(['report', 'done'])).stdout).toMatch(/^definition of done \(done-[0-9a-f]{16}\)\n/)
  })

  it.each([
    ['bypass', ['bypass', 'done']],
    ['clear --unchecked', ['clear', 'done', '--unchecked']],
  ])('lets the session go after `%s`, until another message and a further change', async (_name, words) => {
    const project = await blocked()
    project.write('specs/done/012_finished/plan.md', 'The name of a folder of tasks.')
    expect((await project.cli(words)).status).toBe(0)
    expect((await project.hook(stop())).answer.decision).toBeUndefined()
    await edit(project, 'src/b.ts')
    expect((await project.hook(stop())).answer.decision).toBeUndefined()
    expect((await project.hook(stop({ prompt_id: 'next' }))).answer.decision).toBe('block')
  })

  it('is proven by `done` alone, as every command says, and not asked again without a further change', async () => {
    const project = await blocked()
    expect((await project.cli(['clear', 'done'], agentShell())).stdout).toContain('which `postflight done` runs')
    expect((await project.cli(['clear', 'done', '--unchecked'])).status).toBe(0)
    expect((await project.cli(['clear', 'done'], agentShell())).stdout).toMatch(/which `postflight done` runs\.\n$/)
    const { answer } = await project.hook(sessionStart('resume'))
    expect(JSON.stringify(answer)).toMatch(/of this session: postflight done\. If unsure/)
    const [, line] = /: postflight (clear done-\w+)$/m.exec((await project.cli(['inspect'])).stdout) ?? []
    expect((await project.hook(stop({ prompt_id: 'next' }))).answer.decision).toBeUndefined()
    expect((await project.cli(String(line).split(' '))).stdout).toContain('.postflight-abandoned')
    expect((await project.hook(stop({ prompt_id: 'later' }))).answer.decision).toBeUndefined()
    await edit(project, 'src/b.ts')
    expect((await project.hook(stop({ prompt_id: 'later' }))).answer.decision).toBe('block')
  })
})

describe('explain', () => {
  async function askedByAnotherPrompt(project: Project): Promise<void> {
    for (const prompt_id of [undefined, undefined, 'another']) {
      await project.cli(['done'], agentShell())
      await edit(project, 'src/b.ts')
      await project.hook(stop(prompt_id === undefined ? {} : { prompt_id }))
    }
  }

  const explain = async (project: Project, payload: object) =>
    (await project.cli(['explain', '--payload', '-', '--json'], { input: JSON.stringify(payload) })).json()

  it('says before a stop that it would be blocked, and by which rule; it writes nothing', async () => {
    const project = await begun()
    await edit(project, 'src/b.ts')
    project.write('specs/.postflight/running/007_gone', '{"id":"wf_gone","path":"007_gone"}\n')
    const before = project.snapshot('specs')
    const { done, answer } = await explain(project, stop())
    const rules = [
      { name: 'src/**, package.json', due: true, changed: ['src/b.ts'] },
      { name: 'docs', due: false, changed: [] },
    ]
    const why = 'rules are due: the hook makes a marker, and blocks the stop'
    expect(done).toEqual([{ path: 'specs/done.yaml', why, rules }])
    expect(answer).toMatchObject({ decision: 'block', reason: expect.stringContaining('src/b.ts') })
    expect(project.snapshot('specs')).toEqual(before)
    expect((await project.hook(stop())).answer).toEqual(answer)
  })

  it.each<[string, (project: Project) => Promise<unknown>, string | undefined]>([
    ['another rule is due too', (project) => edit(project, 'docs/b.md'), 'block'],
    ['another session proved the rule', (project) => project.cli(['done'], agentShell(OTHER_SESSION)), undefined],
    ['the prompt has had its three blocks', askedByAnotherPrompt, undefined],
  ])('predicts exactly the answer about a pending marker if %s', async (_name, change, decision) => {
    const project = await blocked()
    await change(project)
    const { answer } = await explain(project, stop())
    expect(answer.decision).toBe(decision)
    expect((await project.hook(stop())).answer).toEqual(answer)
  })

  it.each<[string, object, RegExp]>([
    ['nothing changed', stop(), /no rule is due/],
    ['the agent plans', stop({ permission_mode: 'plan' }), /not in plan mode/],
    ['the session began at an unknown time', stop({ session_id: OTHER_SESSION }), /not known when this session began/],
  ])('says why nothing is asked if %s', async (_name, payload, why) => {
    const { done, answer } = await explain(await begun(), payload)
    expect(done).toEqual([{ path: 'specs/done.yaml', why: expect.stringMatching(why), rules: expect.anything() }])
    expect(answer).toEqual({})
  })
})

describe('the standing of the file', () => {
  const lay = (text: string) => (project: Project) => project.write('specs/done.yaml', text)
  const AT_FAULT = 'specs/done.yaml:1:1: done: must be a list of rules; the rules that were trusted stay in force'
  const standings: [string, (project: Project) => unknown, { fix?: string; ok?: boolean; what?: string }][] = [
    [
      'trusted',
      () => {},
      { ok: true, what: expect.stringContaining('trusted on this machine: "src/**, package.json"') },
    ],
    ['changed', lay('done: []\n'), { ok: false, fix: 'postflight trust' }],
    ['changed', lay('done: 7\n'), { what: AT_FAULT, fix: 'repair the file, then run postflight trust' }],
    ['unreadable', lay('#'.repeat(1_100_000)), { ok: false, fix: 'repair the file, then run postflight trust' }],
    ['missing', ({ at }) => rmSync(at('specs/done.yaml')), { ok: true, what: expect.stringContaining('is gone') }],
  ]
  it.each(standings)('%s is what status and doctor say', async (standing, change, finding) => {
    const project = await begun()
    change(project)
    const { fix = expect.anything() } = finding
    expect((await json(project, 'status')).done).toMatchObject(
      standing === 'trusted' ? { fix: null } : { standing, fix },
    )
    const { findings } = await json(project, 'doctor')
    expect(findings.filter(({ check }: { check: string }) => check === 'done')).toEqual([
      expect.objectContaining(finding),
    ])
  })

  it('is untrusted on another machine, and that is not in the verdict', async () => {
    const project = await begun()
    const elsewhere = { env: { XDG_STATE_HOME: project.at('elsewhere') } }
    const run = await project.cli(['status', '--exit-code'], elsewhere)
    expect([run.status, run.stdout]).toEqual([0, expect.stringContaining('not trusted on this machine')])
    expect(run.stdout).toContain('→ postflight trust')
    const github = await project.cli(['status', '--exit-code', '--github', '--quiet'], elsewhere)
    const warning = /^::warning title=postflight done,file=specs\/done.yaml::.* not trusted on this machine.*\n$/
    expect([github.status, github.stdout]).toEqual([0, expect.stringMatching(warning)])
    expect((await project.cli(['doctor'], elsewhere)).stdout).toContain('→ postflight trust')
  })
})
