/**
 * The clients, besides Claude Code, that run our hook from their settings: how each is fetched, how it reaches the scripted
 * model, and what its model calls its tools. They are fetched on request, because they are large.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HookHostName } from '../../src/hosts/hook-hosts.ts'
import { ensureClient, testedVersion } from './client-cache.ts'
import type { Reply } from './model.ts'

export interface ClientRun {
  project: string
  home: string
  path: string
  model: { url: string }
  prompt: string
  resume?: string | undefined
}

export interface HookClient {
  /** Its name for `install --host`. */
  name: HookHostName
  /** The file that `install` writes in a project. */
  settings: string
  /** The words that start the client, fetched on first use. */
  ensure(): Promise<readonly string[]>
  configure?(run: ClientRun): void
  /** A file that exists once a conversation can be resumed, if the client writes it late. */
  sessionFile?(home: string, session: string): string
  args(run: ClientRun): readonly string[]
  env(run: ClientRun): Readonly<Record<string, string>>
  shell(command: string): Reply
  /** The turns in which the agent starts a sub-agent and awaits its report. */
  delegate(actor: string): readonly (Reply | ((lastToolResult: string) => Reply))[]
}

const platform = `${process.platform}-${process.arch}`

/** Codex's option that runs hooks which the user does not trust yet. */
export const TRUST_HOOKS = '--dangerously-bypass-hook-trust'

const CODEX_TRIPLES: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/**
 * Codex speaks the Responses API. Its configuration trusts the project, and lets sub-agents start sub-agents; an option
 * stands for the trust in its hooks.
 */
const codex: HookClient = {
  name: 'codex',
  settings: '.codex/hooks.json',
  ensure: async () => {
    const version = testedVersion('codex')
    const binary = `vendor/${CODEX_TRIPLES[platform]}/bin/codex`
    const name = '@openai/codex'
    return [await ensureClient({ name, version: `${version}-${platform}`, prints: version, binary, megabytes: 404 })]
  },
  configure({ home, path, project, model }) {
    // Its shell is a login shell, which sets a PATH of its own.
    writeFileSync(join(home, '.bash_profile'), `export PATH='${path}'\n`)
    writeFileSync(
      inHome(home, '.codex/config.toml'),
      [
        'model = "gpt-5"',
        'model_provider = "scripted"',
        'check_for_update_on_startup = false',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${model.url}/v1"`,
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        '[agents]',
        'max_depth = 2',
        '[analytics]',
        'enabled = false',
        `[projects.${JSON.stringify(project)}]`,
        'trust_level = "trusted"',
        '',
      ].join('\n'),
    )
  },
  args: ({ prompt, resume }) => [
    ...['exec', ...(resume === undefined ? [] : ['resume', resume]), '--json', '--skip-git-repo-check'],
    ...['--dangerously-bypass-approvals-and-sandbox', TRUST_HOOKS, prompt],
  ],
  env: () => ({ SCRIPTED_KEY: 'not-a-key' }),
  shell: (command) => ({ tools: [{ name: 'exec_command', input: { cmd: command } }] }),
  delegate: (actor) => [
    { tools: [{ namespace: 'multi_agent_v1', name: 'spawn_agent', input: { message: `ACTOR:${actor} go` } }] },
    (result) => {
      const target = /"agent_id"\s*:\s*"([^"]+)"/.exec(result)?.[1] ?? 'unknown'
      const input = { targets: [target], timeout_ms: 30_000 }
      return { tools: [{ namespace: 'multi_agent_v1', name: 'wait_agent', input }] }
    },
  ],
}

/** Copilot takes a provider of the user's own, here with the Messages API. */
const copilot: HookClient = {
  name: 'copilot',
  settings: '.claude/settings.json',
  ensure: async () => {
    const name = `@github/copilot-${platform}`
    return [await ensureClient({ name, version: testedVersion('copilot'), binary: 'copilot', megabytes: 189 })]
  },
  // `--trust-folder` does not go with `--resume`.
  configure({ home, project }) {
    writeFileSync(inHome(home, '.copilot/config.json'), JSON.stringify({ trusted_folders: [project] }))
  },
  sessionFile: (home, session) => join(home, '.copilot/session-state', session, 'events.jsonl'),
  args: ({ prompt, resume }) => [
    ...['-p', prompt, '--allow-all', '--no-auto-update', '--no-color', '--no-remote'],
    ...(resume === undefined ? [] : [`--resume=${resume}`]),
  ],
  env: ({ model }) => ({
    COPILOT_PROVIDER_BASE_URL: model.url,
    COPILOT_PROVIDER_TYPE: 'anthropic',
    COPILOT_PROVIDER_API_KEY: 'not-a-key',
    COPILOT_MODEL: 'claude-sonnet-4',
    COPILOT_OFFLINE: 'true',
  }),
  shell: (command) => ({ tools: [{ name: 'bash', input: { command, description: 'work' } }] }),
  delegate(actor) {
    const input = { description: 'work', prompt: `ACTOR:${actor} go`, agent_type: 'general-purpose' }
    return [{ tools: [{ name: 'task', input: { ...input, name: actor, mode: 'sync' } }] }]
  },
}

/** Qwen Code needs Node 22. */
const qwen: HookClient = {
  name: 'qwen',
  settings: '.qwen/settings.json',
  ensure: async () => {
    const node = await ensureClient({
      name: `node-${platform}`,
      version: '22.23.3',
      binary: 'bin/node',
      megabytes: 120,
    })
    const client = { name: '@qwen-code/qwen-code', version: testedVersion('qwen'), binary: 'cli-entry.js' }
    return [node, await ensureClient({ ...client, node, withoutOptional: true, megabytes: 152 })]
  },
  // Otherwise its memory sends the model a request after the last turn.
  configure({ home }) {
    const memory = { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false }
    writeFileSync(inHome(home, '.qwen/settings.json'), JSON.stringify({ memory }))
  },
  args: ({ prompt, resume }) => [
    ...['--auth-type', 'anthropic', '-m', 'scripted', '--yolo', '-o', 'stream-json'],
    ...(resume === undefined ? [] : ['--resume', resume]),
    ...['-p', prompt],
  ],
  env: ({ model }) => ({
    ANTHROPIC_API_KEY: 'not-a-key',
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_MODEL: 'scripted',
    QWEN_TELEMETRY_ENABLED: 'false',
  }),
  shell: (command) => ({
    tools: [{ name: 'run_shell_command', input: { command, is_background: false, description: 'work' } }],
  }),
  delegate(actor) {
    const input = { description: 'work', prompt: `ACTOR:${actor} go`, subagent_type: 'general-purpose' }
    return [{ tools: [{ name: 'agent', input: { ...input, run_in_background: false } }] }]
  },
}

/** Droid has custom models. In its air-gapped mode it asks no server of its own. */
const droid: HookClient = {
  name: 'droid',
  settings: '.factory/settings.json',
  ensure: async () => {
    const name = `@factory/cli-${platform}`
    return [await ensureClient({ name, version: testedVersion('droid'), binary: 'bin/droid', megabytes: 243 })]
  },
  configure({ home, model }) {
    const file = inHome(home, '.factory/settings.json')
    const custom = { model: 'scripted', displayName: 'scripted', apiKey: 'not-a-key', provider: 'anthropic' }
    const customModels = [{ ...custom, baseUrl: model.url, maxOutputTokens: 4096 }]
    writeFileSync(file, JSON.stringify({ ...settingsIn(file), customModels }))
  },
  args: ({ prompt, resume }) => [
    ...['exec', '--skip-permissions-unsafe', '-m', 'custom:scripted', '-o', 'stream-json'],
    ...(resume === undefined ? [] : ['-s', resume]),
    prompt,
  ],
  env: ({ model, resume }) => ({
    FACTORY_API_KEY: 'fk-not-a-key',
    // To resume, it first asks a server for the session, also in that mode. The scripted model answers 404.
    ...(resume === undefined ? { FACTORY_AIRGAP_ENABLED: 'true' } : { FACTORY_API_BASE_URL: model.url }),
  }),
  shell: (command) => ({
    tools: [{ name: 'Execute', input: { command, summary: 'work', riskLevel: 'low', riskLevelReason: 'none' } }],
  }),
  delegate(actor) {
    const input = { description: 'work', prompt: `ACTOR:${actor} go`, subagent_type: 'worker', await: true }
    return [{ tools: [{ name: 'Task', input }] }]
  },
}

export const HOOK_CLIENTS = { codex, copilot, qwen, droid } satisfies Record<HookHostName, HookClient>

function inHome(home: string, name: string): string {
  const file = join(home, name)
  mkdirSync(dirname(file), { recursive: true })
  return file
}

function settingsIn(file: string): object {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object
  } catch {
    return {}
  }
}
