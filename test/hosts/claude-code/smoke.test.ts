/** Checks the harness: the real client, the scripted model and a hook of the test's own. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ensureClaudeCode, hostsSkipped } from '../client-cache.ts'
import { type Model, startModel } from '../model.ts'
import { createProject, type Project } from './project.ts'
import { isAlive, runClaude, startClaude, transcriptNotices } from './run-client.ts'

const binary = hostsSkipped() ? '' : await ensureClaudeCode()

/** A hook that logs its input, and blocks as often as the file `blocks` says. */
const LOGGING_HOOK = `#!/bin/sh
{ cat; echo; } >> "$CLAUDE_PROJECT_DIR/hook.log"
left=$(cat "$CLAUDE_PROJECT_DIR/blocks")
if [ "$left" -gt 0 ]; then
  echo $((left - 1)) > "$CLAUDE_PROJECT_DIR/blocks"
  echo '{"decision":"block","reason":"the test says: go on"}'
else
  echo '{}'
fi
`

describe.skipIf(hostsSkipped())('the harness drives the real Claude Code', () => {
  let project: Project
  let model: Model

  afterEach(async () => {
    await model.close()
    project.remove()
  })

  function projectWithHook(blocks: number): Project {
    const made = createProject()
    made.write('hook.sh', LOGGING_HOOK, 0o755)
    made.write('blocks', String(blocks))
    const command = '"$CLAUDE_PROJECT_DIR"/hook.sh'
    made.writeSettings({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
    return made
  }

  function payloads(): Record<string, unknown>[] {
    const lines = readFileSync(join(project.dir, 'hook.log'), 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  function options(prompt: string) {
    return { binary, project: project.dir, home: project.home, path: project.path, model, prompt }
  }

  function run(prompt: string) {
    return runClaude(options(prompt))
  }

  it('runs a turn, and the Stop hook gets its payload', async () => {
    project = projectWithHook(0)
    model = await startModel({ actors: { main: [{ text: 'hello from the script' }] } })

    const ran = await run('say hello')

    expect(ran.stderr).toBe('')
    expect(ran.exitCode).toBe(0)
    expect(ran.result).toMatchObject({ result: 'hello from the script', is_error: false })
    expect(model.turns('main')[0]?.lastUserText).toBe('say hello')
    expect(model.errors).toEqual([])
    expect(payloads()).toMatchObject([
      {
        hook_event_name: 'Stop',
        session_id: ran.sessionId,
        cwd: project.dir,
        stop_hook_active: false,
        last_assistant_message: 'hello from the script',
        background_tasks: [],
      },
    ])
  })

  it('carries tool calls and their results', async () => {
    project = projectWithHook(0)
    const command = 'echo from-the-shell'
    model = await startModel({
      actors: { main: [{ tools: [{ name: 'Bash', input: { command } }] }, { text: 'finished' }] },
    })

    const ran = await run('use the shell')

    expect(ran.result).toMatchObject({ result: 'finished' })
    expect(model.turns('main')[1]?.lastToolResult).toBe('from-the-shell')
  })

  it('distinguishes actors', async () => {
    project = projectWithHook(0)
    const input = {
      description: 'work',
      subagent_type: 'general-purpose',
      prompt: 'ACTOR:worker-a go',
      run_in_background: false,
    }
    model = await startModel({
      actors: {
        main: [{ tools: [{ name: 'Agent', input }] }, { text: 'all done' }],
        'worker-a': [{ text: 'my report' }],
      },
    })

    const ran = await run('delegate')

    expect(ran.result).toMatchObject({ result: 'all done' })
    expect(model.turns('worker-a')).toHaveLength(1)
    expect(model.turns('main')[1]?.lastToolResult).toContain('my report')
  })

  it('shows how one block reaches the model', async () => {
    project = projectWithHook(1)
    model = await startModel({ actors: { main: [{ text: 'too early' }, { text: 'now really' }] } })

    const ran = await run('do the task')

    expect(ran.result).toMatchObject({ result: 'now really' })
    expect(model.turns('main')).toHaveLength(2)
    expect(model.turns('main')[1]?.lastUserText).toBe('Stop hook feedback:\nthe test says: go on')
    expect(payloads().map((payload) => payload.stop_hook_active)).toEqual([false, true])
    expect(model.ranOut).toEqual([])
  })

  it("shows a hook's notice to the user", async () => {
    project = createProject()
    const command = `echo '{"systemMessage":"something to know"}'`
    const hooks = [{ hooks: [{ type: 'command', command }] }]
    project.writeSettings({ hooks: { Stop: hooks, SubagentStop: hooks } })
    const input = {
      description: 'work',
      subagent_type: 'general-purpose',
      prompt: 'ACTOR:worker-a go',
      run_in_background: false,
    }
    model = await startModel({
      actors: { main: [{ tools: [{ name: 'Agent', input }] }, { text: 'end' }], 'worker-a': [{ text: 'report' }] },
    })

    const ran = await runClaude({ ...options('go'), output: 'stream-json' })

    expect(ran.notices).toEqual(['Stop says: something to know'])
    expect(transcriptNotices(project.home)).toEqual(
      expect.arrayContaining([
        { hookEvent: 'Stop', content: 'something to know' },
        { hookEvent: 'SubagentStop', content: 'something to know' },
      ]),
    )
  })

  it('kills a client together with the shells it started', async () => {
    project = projectWithHook(0)
    const input = { command: 'echo $$ > shell.pid; exec sleep 60' }
    model = await startModel({
      actors: {
        main: async ({ index }) => {
          if (index === 0) return { tools: [{ name: 'Bash', input: { ...input, run_in_background: true } }] }
          return new Promise(() => {})
        },
      },
    })

    const client = startClaude(options('go'))
    await model.arrived('main', 1)
    const pidFile = join(project.dir, 'shell.pid')
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+\n$/)
    const shell = Number(readFileSync(pidFile, 'utf8'))
    expect(isAlive(shell)).toBe(true)
    client.kill()

    expect(await client.done).toMatchObject({ signal: 'SIGKILL', timedOut: false, result: undefined })
    await expect.poll(() => isAlive(shell)).toBe(false)
  })
})
