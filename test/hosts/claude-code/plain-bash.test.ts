/** Skills that write the marker with plain bash, without the CLI: they need only `SubagentStop`. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, reportIn, say } from './agents.ts'
import { type GuardedProject, guardedProject, scene } from './guarded.ts'

const TASK = '259_prove_completeness'
const REASON = 'Postflight pending: status update, artifact linking, git commit'
const REPORT = 'The report of the worker.'

const HEREDOC = bash(`task_number=259; project_name=prove_completeness; session_id="sess_1736700000_abc123"
# Ensure task directory exists
padded_num=$(printf "%03d" "$task_number")
mkdir -p "specs/\${padded_num}_\${project_name}"

cat > "specs/\${padded_num}_\${project_name}/.postflight-pending" << EOF
{
  "session_id": "\${session_id}",
  "skill": "skill-lean-research",
  "task_number": \${task_number},
  "operation": "research",
  "reason": "${REASON}",
  "created": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "stop_hook_active": false
}
EOF`)

const REMOVE = `rm -f "specs/${TASK}/.postflight-pending"
rm -f "specs/${TASK}/.postflight-loop-guard"
rm -f "specs/${TASK}/.return-meta.json"`

function withSubagentStopOnly(): GuardedProject {
  const guarded = guardedProject({ install: false })
  guarded.addHook('SubagentStop', `"${join(guarded.packageFolder, 'hooks', 'postflight-hook')}"`)
  return guarded
}

describe.skipIf(hostsSkipped())('a marker written by plain bash, with only SubagentStop wired', () => {
  it('blocks the sub-agent that stops until the marker is removed', async () => {
    const guarded = withSubagentStopOnly()
    const { ran, model } = await guarded.run({
      main: [HEREDOC, delegate('worker'), say('Main is done.')],
      worker: [say(REPORT), bash(REMOVE), say(REPORT)],
    })
    const [reason, ...others] = reasonsIn(model.turns('worker').at(-1))
    expect(reason?.split('\n')[0]).toBe(REASON)
    expect(others).toEqual([])
    expect(reportIn(model.turns('main')[2]?.lastToolResult)).toBe(REPORT)
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.files(TASK).filter((name) => name !== '.postflight-claims')).toEqual([])
  })
})

describe.skipIf(hostsSkipped())('a marker written by plain bash, with everything wired', () => {
  it("blocks the sub-agent, never main's own stop", async () => {
    const { guarded, ran, model } = await scene({
      main: [HEREDOC, delegate('worker'), HEREDOC, say('Main is done.')],
      worker: [say(REPORT), bash(REMOVE), say(REPORT)],
    })
    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(1)
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.marker(TASK)?.reason).toBe(REASON)
  })
})
