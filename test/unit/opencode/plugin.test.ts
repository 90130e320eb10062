import { mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type HostConfig, isOneShot, screenOf, WORKFLOW_COMMAND } from '../../../src/hosts/opencode/api.ts'
import { mannerOf, readLastTurn } from '../../../src/hosts/opencode/conversation.ts'
import { createInLoopGuard } from '../../../src/opencode/guard/in-loop.ts'
import { joinReports } from '../../../src/opencode/guard/prompt-guards.ts'
import { Sessions, tellShell } from '../../../src/opencode/sessions.ts'
import { DrivenRuns } from '../../../src/opencode/workflow/driven-runs.ts'
import { addWorkflowCommand, commandWords, createDriver } from '../../../src/opencode/workflow/driver.ts'
import { toastOf } from '../../../src/opencode-hooks/factory.ts'
import '../../support/command-sentences.ts'

describe('a process that ends at the first idle', () => {
  const started = (words: string): string[] => ['bun', '/$bunfs/root/src/index.js', ...words.split(' ').filter(Boolean)]
  const ONE_SHOT = ['run', 'run go', '--log-level INFO run go', '--print-logs run', 'run --attach', '-m a/b run x']
  it.each([...ONE_SHOT, 'github run'])('can be `opencode %s`', (words) => expect(isOneShot(started(words))).toBe(true))

  it.each(['serve', 'serve --port 0', 'web', 'acp', '', '/home/me/run', '--prompt run', '--continue', '--agent run'])(
    'cannot be `opencode %s`',
    (words) => expect(isOneShot(started(words))).toBe(false),
  )
})

it('a withdrawn message is removed, also if the session became idle while it was made', async () => {
  const [roles, remove] = [['assistant', 'user'], vi.fn(async () => ({}))]
  const message = async () => ({ data: { info: { role: roles.shift(), model: {} } } })
  const prompt = (): Promise<unknown> => guard.idle('s').then(() => ({ data: { info: { id: 'm2' }, parts: [] } }))
  const preview = (): Promise<unknown> => guard.toolStarts('s').then(() => 'Go on.')
  const client = { session: { message, prompt }, _client: { delete: remove } }
  const guard = createInLoopGuard(client as never, new Sessions(client as never), { preview } as never)
  await guard.textCompleted({ session: 's', root: 's', agent: 'main', type: undefined }, 'm1')
  await guard.idle('s')
  expect(remove).toHaveBeenCalledWith({ url: '/session/s/message/m2' })
})

it('of a session only the parent and the birth are kept: OpenCode also gives the text of a reverted diff', () => {
  const sessions = new Sessions({} as never)
  const info = { id: 's', parentID: 'p', time: { created: 7 }, revert: { diff: 'long' } }
  sessions.noteEvent({ type: 'session.created', properties: { info } })
  expect(sessions.of('s').info).toEqual({ parentID: 'p', bornMs: 7 })
})

it('the file for roots is made again if the system has emptied its temporary folder', () => {
  const sessions = new Sessions({} as never)
  const file = String(sessions.rootsFileOf('s'))
  rmSync(join(file, '..'), { recursive: true })
  expect(realpathSync(String(sessions.rootsFileOf('s')))).not.toBe(file)
  expect(sessions.rootsFileOf('s')).toBe(sessions.rootsFileOf('s'))
  sessions.dispose()
})

it('a first run of any process, in a folder behind a link, is known by its real path before it has made specs/, until that process is killed', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'postflight-')))
  symlinkSync('.', join(folder, 'link'))
  const [other, driven] = [1, 2].map(() => new DrivenRuns({ XDG_STATE_HOME: folder })) as [DrivenRuns, DrivenRuns]
  const [place, notes] = [join(folder, 'specs/007_flow'), join(folder, 'postflight-guard/driven')]
  other.add(place, 's')
  const sessions = { identify: async () => ({ root: 's' }), lineageOf: async () => [] }
  const driver = createDriver({ sessions, driven, folder: join(folder, 'link'), findRoots: () => [] } as never)
  const run = (task: string, definition: string) => driver.run('s', { task, definition, inputs: [] }, undefined)
  const answers = [await run('7_flow', 'flow.yaml'), await run('007_flow', ''), await run('008_x', '')]
  const running = 'The workflow of task 007_flow is already running: wait for it.'
  expect(answers).toEqual([running, running, expect.stringMatching(/^no specs\/ folder/)])
  expect(driven.has(place, 'another conversation')).toBe(false)
  const note = join(notes, String(readdirSync(notes)))
  utimesSync(note, 0, 0)
  expect(driven.has(place, 's')).toBe(false)
  writeFileSync(note, String(2 ** 30))
  expect(driven.has(place, 's')).toBe(false)
  other.delete(place, 's')
  expect(readdirSync(notes)).toEqual([])
  rmSync(folder, { recursive: true })
})

it.each([
  ['the first report, extended', 'Found a.', 'All done.\nFound a.\nFound b.', 'All done.\nFound a.\nFound b.'],
  ['a single word', 'Found a.', 'Done.', 'Found a.\n\nDone.'],
  ['a part of the first report', 'Found a. Found b.', ' Found b.\n', 'Found a. Found b.'],
  ['an empty second report', 'Found a.', ' \n', 'Found a.'],
  ['an empty first report', '', 'Found a.', 'Found a.'],
])('two reports of a sub-agent: %s', (_name, earlier, later, joined) => {
  expect(joinReports(earlier, later)).toBe(joined)
})

it('a shell gets the root session, main or its own session as the agent, and the file for roots', () => {
  const agent = { session: 'ses_child', root: 'ses_root', agent: 'ses_child', type: 'general' }
  const told = { POSTFLIGHT_HOST_SESSION: 'ses_root', POSTFLIGHT_AGENT: 'ses_child' }
  const [env, withoutFile]: Record<string, string>[] = [{ PATH: '/bin' }, {}]
  tellShell(env as Record<string, string>, agent, '/tmp/roots')
  tellShell(withoutFile as Record<string, string>, agent, undefined)
  expect(env).toEqual({ PATH: '/bin', ...told, POSTFLIGHT_ROOTS_FILE: '/tmp/roots' })
  expect(withoutFile).toEqual(told)
})

it.each([
  ['007_flow flow.json', ['007_flow', 'flow.json']],
  ['"007_flow flow.json"', ['007_flow', 'flow.json']],
  ['"7 \\"my flow.json\\""', ['7', 'my flow.json']],
  ["7 'my flow.json'", ['7', 'my flow.json']],
  ['7 "my flow.json"', ['7', 'my flow.json']],
  ['7 C:\\flows\\"a b".json', ['7', 'C:\\flows\\"a', 'b".json']],
  ['', []],
  ['" "', []],
  ['"', ['"']],
])('the words of a command: %s', (line, words) => expect(commandWords(line)).toEqual(words))

describe('a notice', () => {
  it.each([
    ['toast', ['serve', '']],
    ['scrollback', ['--mini', '--mini --prompt go']],
    ['stderr', ['run go', 'run --mini']],
  ])('goes to the %s of `opencode` with the words %j', (screen, started) => {
    for (const words of started) expect(screenOf(['bun', 'index.js', ...words.split(' ')])).toBe(screen)
  })

  it('as a toast names the product once, in its title', () => {
    const toast = { title: 'postflight-guard', message: 'task 259_x stopped', variant: 'warning' }
    expect(toastOf('postflight-guard: task 259_x stopped')).toEqual(toast)
  })
})

it('a prompt of ours runs in the same way as the user message before it', () => {
  const model = { providerID: 'p', modelID: 'm' }
  const message = { id: 'msg_1', role: 'user', sessionID: 'ses_1', agent: 'plan' } as const
  expect(mannerOf({ ...message, model })).toEqual({ agent: 'plan', model })
  const full = { ...message, model: { ...model, variant: 'high' }, system: 'Be brief.' }
  expect(mannerOf(full)).toEqual({ agent: 'plan', model, variant: 'high', system: 'Be brief.' })
})

it('the command is added to a configuration with and without other commands, and never replaces one of its name', () => {
  const empty: HostConfig = {}
  expect([addWorkflowCommand(empty), addWorkflowCommand(empty)]).toEqual([true, true])
  expect(Object.keys(empty.command ?? {})).toEqual([WORKFLOW_COMMAND])
  const commands = { other: { template: 'x' }, [WORKFLOW_COMMAND]: { template: 'mine' } }
  const full: HostConfig = { command: { ...commands } }
  expect(addWorkflowCommand(full)).toBe(false)
  expect(full.command).toEqual(commands)
})

describe('the last turn', () => {
  it('that a refused tool ended has the words of the refusal', async () => {
    const info = { id: 'msg_1', role: 'assistant', parentID: 'msg_0', finish: 'tool-calls', time: { completed: 1 } }
    const said = { info, parts: [{ type: 'tool', state: { status: 'error', error: 'You may not.' } }] }
    const session = { messages: async () => ({ data: [user, said] }) }
    expect(await readLastTurn({ session } as never, 'ses_1')).toMatchObject({ ended: 'failed', error: 'You may not.' })
  })

  const model = { providerID: 'p', modelID: 'm' }
  const user = { info: { id: 'msg_0', role: 'user', agent: 'build', model }, parts: [] }
  const step = (number: number, finish: string) => ({
    info: { id: `msg_${number}`, role: 'assistant', parentID: 'msg_0', finish, time: { completed: 1 } },
    parts: [{ type: 'text', text: `step ${number}` }],
  })

  it.each([1, 19, 20, 200])('of %i steps has its end and settings, and is open if a message follows', async (count) => {
    const finish = (at: number): string => (at === count ? 'stop' : 'tool-calls')
    const all = [user, ...Array.from({ length: count }, (_, index) => step(index + 1, finish(index + 1)))]
    const session = {
      messages: async ({ query }: { query: { limit: number } }) => ({ data: all.slice(-query.limit) }),
      message: async ({ path }: { path: { messageID: string } }) => ({
        data: all.find(({ info }) => info.id === path.messageID),
      }),
    }
    const manner = { agent: 'build', model }
    const answer = { id: `msg_${count}`, text: `step ${count}` }
    const turn = await readLastTurn({ session } as never, 'ses_1')
    expect(turn).toEqual({ manner, answer, ended: 'well', error: undefined })
    all.push({ ...user, info: { ...user.info, id: 'another' } })
    expect(await readLastTurn({ session } as never, 'ses_1')).toMatchObject({ ended: 'open', error: undefined })
  })
})
