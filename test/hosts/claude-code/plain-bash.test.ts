/** Skills that write the marker with plain bash, without the CLI: they need only `SubagentStop`. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, reportIn, say, stubborn } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const TASK = '259_prove_completeness'
const REASON = 'Postflight pending: status update, artifact linking, git commit'
const REPORT = 'The report of the worker.'

/** The first stage of such a skill. `delimiter` decides whether the shell fills in the variables. */
function heredoc(delimiter: string): string {
  return `task_number=259; project_name=prove_completeness; session_id="sess_1736700000_abc123"
# Ensure task directory exists
padded_num=$(printf "%03d" "$task_number")
mkdir -p "specs/\${padded_num}_\${project_name}"

cat > "specs/\${padded_num}_\${project_name}/.postflight-pending" << ${delimiter}
{
  "session_id": "\${session_id}",
  "skill": "skill-lean-research",
  "task_number": \${task_number},
  "operation": "research",
  "reason": "${REASON}",
  "created": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "stop_hook_active": false
}
EOF`
}

/** The last stage of such a skill. */
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
      main: [bash(heredoc('EOF')), delegate('worker'), say('Main is done.')],
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

  it('blocks three times at most, and is then kept as abandoned', async () => {
    const guarded = withSubagentStopOnly()

    const { ran, model } = await guarded.run({
      main: [bash(heredoc('EOF')), delegate('worker'), say('Main is done.')],
      worker: stubborn(say(REPORT)),
    })

    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(3)
    expect(reportIn(model.turns('main')[2]?.lastToolResult)).toBe(REPORT)
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.files(TASK)).toEqual(['.postflight-abandoned'])
    expect(guarded.story()).toEqual(['block 1', 'block 2', 'block 3', 'cap 3'])
  })

  it('blocks although it is not JSON because of a quoted heredoc, and the reason says so', async () => {
    const guarded = withSubagentStopOnly()

    const { model } = await guarded.run({
      main: [bash(heredoc("'EOF'")), delegate('worker'), say('Main is done.')],
      worker: [say(REPORT), bash(REMOVE), say(REPORT)],
    })

    const [reason, ...others] = reasonsIn(model.turns('worker').at(-1))
    expect(reason).toMatch(
      new RegExp(
        `^Postflight operations pending \\(the marker specs/${TASK}/.postflight-pending has "\\$[^"]+" in it: the heredoc was quoted`,
      ),
    )
    expect(others).toEqual([])
  })
})

describe.skipIf(hostsSkipped())('a marker written by plain bash, with everything wired', () => {
  it("blocks the sub-agent, never main's own stop", async () => {
    const guarded = guardedProject()

    const { ran, model } = await guarded.run({
      main: [bash(heredoc('EOF')), delegate('worker'), bash(heredoc('EOF')), say('Main is done.')],
      worker: [say(REPORT), bash(REMOVE), say(REPORT)],
    })

    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(1)
    expect(reasonsIn(model.turns('main').at(-1))).toEqual([])
    expect(ran.result).toMatchObject({ result: 'Main is done.' })
    expect(guarded.marker(TASK)?.reason).toBe(REASON)
  })
})
