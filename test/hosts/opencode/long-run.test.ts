/** A long run on the real OpenCode: inputs, an approval, twelve tasks of a checklist, four sessions at once, two kills. */

import { describe, expect, it, vi } from 'vitest'
import { NEVER } from '../agents.ts'
import { hostsSkipped } from '../client-cache.ts'
import { expectCompleted, LONG_RUN, placeOf, TASK, tasksDone, workOf } from '../long-run.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, call, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const START = call('workflow_run', { task: TASK, definition: 'flow.json', inputs: 'goal=photos' })
const GO_ON = call('workflow_run', { task: '7', definition: '', inputs: '' })

function projectWith(definition: string): GuardedProject {
  const guarded = guardedProject()
  guarded.project.write('flow.json', definition)
  guarded.project.write('specs/README.md', 'The tasks.\n')
  return guarded
}

function promptOf(turn: Turn): string | undefined {
  return turn.userTexts.findLast((text) => placeOf(text) !== undefined)
}

/** The script of all sessions: the conversation says its lines, and each child does the work of its prompts. */
function worker(lines: readonly Reply[], hangsAt?: string): Script {
  const left = [...lines]
  return (turn) => {
    const prompt = promptOf(turn)
    if (prompt === undefined) return left.shift()
    if (placeOf(prompt) === hangsAt) return NEVER
    return turn.lastToolResult === undefined ? bash(workOf(prompt)) : say('Done.')
  }
}

/** Goes on in a new process, and kills it when these tasks are done and a session hangs at a place. */
async function killAt(guarded: GuardedProject, place: string, done: number[]): Promise<void> {
  const { client, model } = await guarded.start({ main: worker([GO_ON], place) })
  const isReached = (): boolean =>
    model.turns('main').some((turn) => placeOf(promptOf(turn) ?? '') === place) &&
    done.every((task) => tasksDone(guarded.read('done.log')).includes(task))
  await expect.poll(isReached, { timeout: 60_000 }).toBe(true)
  client.kill('SIGKILL')
  await client.done
}

describe.skipIf(hostsSkipped())('a long run on OpenCode', () => {
  it('does every task once, over an approval, a rejection, two kills, failures and a skip', async () => {
    const guarded = projectWith(LONG_RUN)
    const first = await guarded.talk({ main: worker([START, say('I wait.')]) })
    expect(first.model.turns('main').at(-1)?.lastToolResult).toContain('`postflight workflow approve 007_flow`')
    const asked = { active: true, phase: 'review', approval: { standing: 'asked' } }
    expect(guarded.state()).toMatchObject({ ...asked, prompts: 2 })
    await guarded.talk({ main: worker([GO_ON, say('I still wait.')]) })
    expect(guarded.state()).toMatchObject({ ...asked, prompts: 2, phase_attempts: 0 })
    expect(guarded.postflight('workflow', 'reject', '7', '--reason', 'look at T003 again')).toMatchObject({ status: 0 })
    await guarded.talk({ main: worker([GO_ON, say('I wait.')]) })
    expect(guarded.state()).toMatchObject({ ...asked, prompts: 3, phase_attempts: 1 })
    expect(guarded.postflight('workflow', 'approve', '7', '--note', 'go ahead')).toMatchObject({ status: 0 })
    await killAt(guarded, 'work step 6 1', [1, 2, 3, 4, 7, 8])
    await killAt(guarded, 'work step 10 1', [6])
    await guarded.talk({ main: worker([GO_ON, say('All is done.')]) })
    expectCompleted(guarded)
  })

  it('has four steps in progress at once, each in a session of its own', async () => {
    const phase = { id: 'work', steps: ['a', 'b', 'c', 'd'], step_prompt: 'Do: {{step}}', parallel: 4 }
    const guarded = projectWith(JSON.stringify({ name: 'long run', inputs: { goal: {} }, phases: [phase] }))
    let prompted = 0
    const { server, session, model } = await guarded.talk({
      main: async (turn) => {
        const prompt = promptOf(turn)
        if (prompt === undefined) return turn.index === 0 ? START : say('All is done.')
        if (turn.lastToolResult !== undefined) return say('Done.')
        prompted += 1
        // No step is done before all are in progress.
        await vi.waitUntil(() => prompted === 4, 30_000)
        return bash(`printf '{"success": true}' > '${/to the file (\S+)\. If/.exec(prompt)?.[1]}'`)
      },
    })
    expect(guarded.state()).toMatchObject({ outcome: 'completed', prompts: 4 })
    expect(model.turns('main').filter((turn) => promptOf(turn) !== undefined)).toHaveLength(8)
    expect(await server.children(session)).toHaveLength(4)
  })
})
