import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installPacked } from '../../support/packed.ts'
import { PACKAGE, runProcess } from '../../support/process.ts'

const FACTORIES = [
  ...['createChatHeadersHook', 'createDelegateTaskRetryHook', 'createForegroundFallbackHook'],
  ...['createJsonErrorRecoveryHook', 'createPhaseReminderHook', 'createPostReadNudgeHook', 'createReactiveAgentHook'],
]

/** Another plugin as its author writes it: OpenCode's types of the hooks are stricter than ours. */
const PLUGIN = `
import { ${FACTORIES.join(', ')}, spawnAgent } from 'postflight-guard/opencode/hooks'
import type {
  ForegroundFallbackOptions,
  JsonErrorRecoveryOptions,
  PhaseReminderOptions,
  PostReadNudgeOptions,
  ReactiveAgentOptions,
} from 'postflight-guard/opencode/hooks'

interface Input { client: { session: { get(): Promise<unknown> } }; directory: string; worktree: string }
interface Hooks {
  event?: (input: { event: { type: 'server.disposed'; properties: { directory: string } } }) => Promise<void>
  config?: (config: { model?: string }) => Promise<void>
  'chat.message'?: (input: { sessionID: string }, output: { message: { id: string }; parts: { type: 'text' }[] }) => Promise<void>
  'chat.headers'?: (input: { sessionID: string; agent: string }, output: { headers: Record<string, string> }) => Promise<void>
  'tool.execute.before'?: (input: { tool: string; sessionID: string; callID: string }, output: { args: any }) => Promise<void>
  'tool.execute.after'?: (
    input: { tool: string; sessionID: string; callID: string; args: any },
    output: { title: string; output: string; metadata: any },
  ) => Promise<void>
}

const chains: ForegroundFallbackOptions = { chains: { build: ['a/b'] }, patterns: ['later'] }
const nudging: PostReadNudgeOptions = { every: 3, agents: ['build'], text: 'x' }
const reminding: PhaseReminderOptions = { agents: ['build'], text: 'x' }
const recovering: JsonErrorRecoveryOptions = { except: ['x'] }
const rules: ReactiveAgentOptions = [{ tool: 'bash', command: 'git commit*', prompt: 'x', answer: 'block' }]

export async function server(input: Input): Promise<Hooks> {
  const nudge = createPostReadNudgeHook(input, nudging)
  const others: Hooks[] = [
    createChatHeadersHook(input),
    createDelegateTaskRetryHook(input),
    createForegroundFallbackHook(input, chains),
    createJsonErrorRecoveryHook(input, recovering),
    createPhaseReminderHook(input, reminding),
    createReactiveAgentHook(input, rules),
    createJsonErrorRecoveryHook(input),
    createPhaseReminderHook(input),
    createPostReadNudgeHook(input),
  ]
  const answer = await spawnAgent(input.client, { parentID: 'x', prompt: 'y', signal: new AbortController().signal })
  const text: string = 'text' in answer ? answer.text : answer.why
  return {
    ...nudge,
    async 'tool.execute.after'(call, output) {
      await nudge['tool.execute.after'](call, output)
      output.output += text + others.length
    },
  }
}

// @ts-expect-error: the chains are required.
createForegroundFallbackHook({ client: {}, directory: '' })
// @ts-expect-error: the factory has no such hook.
createJsonErrorRecoveryHook({ client: {}, directory: '' }).event
`

describe.concurrent('postflight-guard/opencode/hooks', () => {
  it('has types that fit a plugin', async () => {
    const project = installPacked()
    project.write('plugin.ts', PLUGIN)
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, module: 'nodenext', target: 'es2022', types: [] },
      ...{ lib: ['es2022', 'dom'], noEmit: true },
    }
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['plugin.ts'] }))
    project.write('package.json', '{ "type": "module" }')
    const compiler = join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc')
    const run = await runProcess(process.execPath, [compiler, '--project', '.'], {
      cwd: project.dir,
      env: project.env,
      limitMs: 60_000,
    })
    expect(run).toMatchObject({ status: 0, stdout: '' })
  })

  it('exports the factories and `spawnAgent`, and nothing else', async () => {
    const project = installPacked()
    project.write(
      'load.mjs',
      "import * as hooks from 'postflight-guard/opencode/hooks'\nconsole.log(JSON.stringify(Object.keys(hooks).sort()))",
    )
    const run = await runProcess(process.execPath, ['load.mjs'], { cwd: project.dir, env: project.env })
    expect(run.stderr).toBe('')
    expect(JSON.parse(run.stdout)).toEqual([...FACTORIES, 'spawnAgent'])
  })
})
