import { describe, expect, it } from 'vitest'
import { HOOK_HOSTS, type HookHostName, hookHost } from '../../../src/hosts/hook-hosts.ts'

const hook = (command: string) => ({ hooks: [{ type: 'command', command, timeout: 10 }] })

describe('the hosts whose settings take the hook', () => {
  it.each<[HookHostName, string, readonly string[], string, string?]>([
    ['codex', 'Codex CLI', ['SubagentStop', 'Stop'], 'Bash'],
    ['copilot', 'Copilot CLI', ['SubagentStop', 'Stop'], 'Bash', 'task_complete'],
    ['qwen', 'Qwen Code', ['SubagentStop', 'Stop'], 'Bash', 'structured_output'],
    // It ignores the answer to SubagentStop.
    ['droid', 'Factory droid', ['Stop'], 'Execute'],
  ])(
    '%s (%s) starts it at %j, when a session starts, and after a use of %s',
    (name, title, stops, shellTool, endingTool) => {
      expect(hookHost(name)).toBe(HOOK_HOSTS[name])
      expect(hookHost(name)?.title).toBe(title)
      expect(hookHost(name)?.entries('HOOK')).toEqual([
        ...stops.map((event) => ({ event, group: hook(event === 'Stop' ? 'HOOK Stop' : 'HOOK') })),
        { event: 'SessionStart', group: hook('HOOK SessionStart') },
        { event: 'PostToolUse', group: { matcher: shellTool, ...hook('HOOK') } },
        ...(endingTool ? [{ event: 'PreToolUse', group: { matcher: endingTool, ...hook('HOOK Stop') } }] : []),
      ])
    },
  )

  it.each(['claude', 'opencode', 'toString', '__proto__', ''])('do not include %j', (name) => {
    expect(hookHost(name)).toBeUndefined()
  })

  it('trust a hook of Codex by its file, event, group and place', () => {
    const record = hookHost('codex')?.trust?.record
    const trusts = (text: string) => record?.trusts(text, 'C:\\x', { event: 'SubagentStop', group: 1, hook: 2 })
    const untrusted = 'Codex does not trust the hooks of x, or they are off (Stop, A), so it skips them silently'
    expect(record?.untrusted('x', ['Stop', 'A'])).toBe(untrusted)
    const [key, other] = ['"C:\\\\x:subagent_stop:1:2"', '"C:\\\\x:subagent_stop:1:1"']
    const trusted = 'trusted_hash = "sha256:0"'
    for (const name of [key, "'C:\\x:subagent_stop:1:2'"]) {
      expect(trusts(`[hooks.state.${name}]\n${trusted}\n[x]\nenabled = false`)).toBe(true)
      expect(trusts(`[hooks.state]\n${name} = { ${trusted} }\n${other} = { enabled = false }`)).toBe(true)
    }
    for (const name of [other, '"C:\\x:subagent_stop:1:2"', '']) expect(trusts(`[${name}]\n${trusted}`)).toBe(false)
    // Switched off, or on without trust (0.169.0).
    const features = ['[features]\nhooks', '[features]\ncodex_hooks', '[x]\nfeatures = { a = true, hooks']
    const off = [...features.map((name) => `${trusted}\n${name} = false`), `${trusted}\n\t hooks=false`]
    for (const more of [`${trusted}\nenabled = false`, 'enabled = true', `[x]\n${trusted}`, ...off]) {
      expect(trusts(`[hooks.state.${key}]\n${more}`)).toBe(false)
    }
    expect(trusts(`[hooks.state.${key}]\n${trusted}\n# hooks = false`)).toBe(true)
  })
})
