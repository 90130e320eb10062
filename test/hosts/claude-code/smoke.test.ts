/** Checks the harness: the real client, the scripted model and a hook of the test's own. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { isAlive } from '../client-process.ts'
import { inBackground, NEVER, say } from './agents.ts'
import { guardedProject } from './guarded.ts'

const LOGGING_HOOK = `#!/bin/sh
{ cat; echo; } >> "$CLAUDE_PROJECT_DIR/hook.log"
if [ -e "$CLAUDE_PROJECT_DIR/blocked" ]; then echo '{}'; exit; fi
touch "$CLAUDE_PROJECT_DIR/blocked"
echo '{"decision":"block","reason":"the test says: go on"}'
`

describe.skipIf(hostsSkipped())('the harness drives the real Claude Code', () => {
  it('and shows the payloads of a Stop hook, and how its block reaches the model', async () => {
    const guarded = guardedProject({ install: false })
    guarded.project.write('hook.sh', LOGGING_HOOK, 0o755)
    guarded.addHook('Stop', '"$CLAUDE_PROJECT_DIR"/hook.sh')
    const { ran, model } = await guarded.run({ main: [say('too early'), say('now really')] })
    expect(ran.stderr).toBe('')
    expect(ran.result).toMatchObject({ result: 'now really' })
    expect(model.turns('main').map((turn) => turn.lastUserText)).toEqual([
      'go',
      'Stop hook feedback:\nthe test says: go on',
    ])
    const lines = (guarded.read('hook.log') ?? '').split('\n').filter((line) => line !== '')
    const payload = {
      hook_event_name: 'Stop',
      session_id: ran.sessionId,
      cwd: guarded.project.dir,
      background_tasks: [],
    }
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { ...payload, stop_hook_active: false, last_assistant_message: 'too early' },
      { ...payload, stop_hook_active: true, last_assistant_message: 'now really' },
    ])
  })

  it('and kills a client together with the shells it started', async () => {
    const guarded = guardedProject({ install: false })
    const start = inBackground('echo $$ > shell.pid; exec sleep 60', 'sleep')
    const { client, model } = await guarded.start({ main: ({ index }) => (index === 0 ? start : NEVER) })
    await model.arrived('main', 1)
    await expect.poll(() => guarded.read('shell.pid')).toMatch(/^\d+\n$/)
    const pid = Number(guarded.read('shell.pid'))
    expect(isAlive(pid)).toBe(true)
    client.kill()
    expect(await client.done).toMatchObject({ signal: 'SIGKILL', timedOut: false, result: undefined })
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})
