/** `install --reactive`: the rules of a file as hooks of Claude Code. `test/hosts` shows what the hooks do. */

import { describe, expect, it } from 'vitest'
import { createSourceProject, findingsOf, type JsonDocument, type Project } from '../../support/project.ts'

const SETTINGS = '.claude/settings.json'
const INSTALL = ['install', '--reactive', 'rules.json']

const CONTEXT = { tool: 'bash', command: 'git commit*', prompt: 'Do the docs need updates?', timeoutMs: 20_500 }
const BLOCK = { tool: 'webfetch', prompt: 'Is this safe?', model: 'anthropic/claude-haiku-4-5', answer: 'block' }

function projectWith(rules: unknown): Project {
  const project = createSourceProject()
  project.write('rules.json', typeof rules === 'string' ? rules : JSON.stringify(rules))
  return project
}

function hooksIn(project: Project): Record<string, { matcher: string; hooks: JsonDocument[] }[]> {
  return JSON.parse(project.read(SETTINGS)).hooks ?? {}
}

describe('install --reactive', () => {
  it('writes a rule that gives context as a hook after the call, and one that blocks as a hook before it', async () => {
    const project = projectWith([CONTEXT, BLOCK])
    const done = await project.cli(INSTALL)
    expect(done).toMatchObject({ status: 0, stderr: '' })
    expect(done.stdout).toContain(`Installed the reactive rules in ${SETTINGS}`)
    const hook = { type: 'agent', prompt: expect.any(String), statusMessage: expect.any(String) }
    expect(hooksIn(project)).toEqual({
      PostToolUse: [{ matcher: 'Bash', hooks: [{ ...hook, if: 'Bash(git commit*)', timeout: 21 }] }],
      PreToolUse: [{ matcher: 'WebFetch', hooks: [{ ...hook, model: 'claude-haiku-4-5', timeout: 30 }] }],
    })
  })

  it('changes nothing the second time, and replaces the rules when the file changes', async () => {
    const project = projectWith([CONTEXT])
    await project.cli(INSTALL)
    const first = project.read(SETTINGS)
    expect((await project.cli(INSTALL)).stdout).toContain(`The reactive rules are already in ${SETTINGS}`)
    expect(project.read(SETTINGS)).toBe(first)
    project.write('rules.json', JSON.stringify([BLOCK]))
    await project.cli(INSTALL)
    expect(Object.keys(hooksIn(project))).toEqual(['PreToolUse'])
    project.write('rules.json', '[]')
    await project.cli(INSTALL)
    expect(hooksIn(project)).toEqual({})
  })

  it('leaves our hook, the rules of init and everything of the user as they are', async () => {
    const PostToolUse = [{ matcher: 'Bash', hooks: [{ type: 'agent', prompt: 'x' }] }]
    const users = `${JSON.stringify({ model: 'opus', hooks: { PostToolUse } }, null, 2)}\n`
    const project = projectWith([CONTEXT])
    project.write(SETTINGS, users)
    await project.cli(['init', '--yes', '--scope', 'project'])
    const before = hooksIn(project)
    await project.cli(INSTALL)
    const after = hooksIn(project)
    expect(after.PostToolUse?.slice(0, -1)).toEqual(before.PostToolUse)
    await project.cli(['install'])
    expect(hooksIn(project)).toEqual(after)
    await project.cli(['uninstall'])
    expect(project.read(SETTINGS)).toBe(users)
  })

  it('only prints the settings with --dry-run', async () => {
    const project = projectWith([CONTEXT])
    const done = await project.cli([...INSTALL, '--dry-run'])
    expect(done.stdout).toContain('Would install the reactive rules')
    expect(done.stdout).toContain('"if": "Bash(git commit*)"')
    expect(project.has(SETTINGS)).toBe(false)
  })

  it('says what a hook of Claude Code cannot have', async () => {
    const rule = { ...CONTEXT, agent: 'reviewer', model: 'openai/gpt-6', tools: ['bash', 'read'] }
    const project = projectWith([BLOCK, rule])
    const { stdout } = await project.cli(INSTALL)
    expect(stdout.match(/^.*Rule 2: /gm)).toHaveLength(3)
    expect(stdout).toMatch(/Rule 2: .*"reviewer"[\s\S]*Rule 2: .*"openai\/gpt-6"[\s\S]*Rule 2: .*the tools of a hook/)
    const json = (await project.cli([...INSTALL, '--json'])).json()
    expect(json).toMatchObject({ rules: 'rules.json', changed: false, notes: { length: 3 } })
  })

  it.each([
    ['not JSON', '[', /^postflight: rules\.json: .+ Nothing was written\.$/m],
    ['an unknown field', [{ ...CONTEXT, timeout: 5 }], /rule 1: unknown field "timeout"/],
    ['an unknown tool', [{ ...CONTEXT, tool: 'lsp' }], /rule 1, tool: Claude Code has no tool "lsp": use one of bash/],
    ['an unknown tool in a list', [{ ...CONTEXT, tools: ['x'] }], /rule 1, tools: Claude Code has no tool "x"/],
  ])('refuses %s and writes nothing', async (_what, rules, message) => {
    const project = projectWith(rules)
    const done = await project.cli(INSTALL)
    expect(done.status).toBe(65)
    expect(done.stderr).toMatch(message)
    expect(project.has(SETTINGS)).toBe(false)
  })

  it('refuses a file that does not exist', async () => {
    const none = await createSourceProject().cli(['install', '--reactive', 'absent.json'])
    expect(none).toMatchObject({ status: 65, stderr: expect.stringContaining('absent.json does not exist') })
  })
})

describe('uninstall', () => {
  it.each([
    ['without the hook', [INSTALL]],
    ['before the hook', [INSTALL, ['install']]],
    ['after the hook', [['install'], INSTALL]],
  ])('removes the file that rules made: %s', async (_when, commands) => {
    const project = projectWith([BLOCK, CONTEXT, BLOCK])
    for (const words of commands) await project.cli(words)
    expect((await project.cli(['uninstall'])).stdout).toContain(SETTINGS)
    expect(project.has(SETTINGS)).toBe(false)
    expect((await project.cli(['uninstall'])).stdout).toContain('The hook is not in')
  })

  it('names the rules among what it removed', async () => {
    const project = projectWith([CONTEXT])
    project.write(SETTINGS, '{ "model": "opus" }\n')
    await project.cli(INSTALL)
    expect((await project.cli(['uninstall', '--dry-run'])).stdout).toContain('Would remove the reactive rules from')
    await project.cli(['install'])
    expect((await project.cli(['uninstall'])).stdout).toContain('Removed the hook and the reactive rules from')
    expect(project.read(SETTINGS)).toBe('{ "model": "opus" }\n')
  })
})

describe('doctor', () => {
  it('knows the rules, and does not take them for the hook', async () => {
    const project = projectWith([CONTEXT, BLOCK])
    await project.cli(INSTALL)
    const { all, wrong } = await findingsOf(project.cli)
    expect(all.find(({ what }) => what.includes('2 reactive rules in'))?.ok).toBe(true)
    expect(wrong.map(({ what }) => what)).toEqual([expect.stringContaining('not installed')])
    project.write('.claude/settings.local.json', '{ "disableAllHooks": true }')
    expect((await project.cli(['doctor'])).stdout).not.toContain('reactive')
  })
})
