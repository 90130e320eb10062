/** A long run on the real client: inputs, an approval, twelve tasks of a checklist, four in progress at once, two kills. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { expectCompleted, LONG_RUN, partsOf, placeOf, tasksDone, workOf } from '../long-run.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, NEVER, promptsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const START = bash('postflight workflow start 7 flow --definition flow.json --set goal=photos')

/** A prompt that was too long for a reason lies in a file. */
function wholeText(text: string): string {
  const file = /^Read (\S+) and do exactly what it says/m.exec(text)?.[1]
  return file === undefined ? text : readFileSync(file, 'utf8')
}

/** The prompts that main got at its stops, in order: the places of each. */
type Story = string[][]

/**
 * The script of main and its sub-agents. Main says its lines to the user, and hands each part of a prompt to a sub-agent. At
 * the place `hangsAt` an agent never answers.
 */
function worker(lines: readonly Reply[], story: Story, hangsAt?: string): Script {
  const left = [...lines]
  const workFor = (text: string): Reply | Promise<Reply> => (placeOf(text) === hangsAt ? NEVER : bash(workOf(text)))
  return (turn: Turn) => {
    if (turn.lastToolResult !== undefined) return say('Done.')
    if (turn.agentId !== undefined) return workFor(wholeText(turn.lastUserText))
    if (!turn.lastUserText.startsWith('Stop hook feedback:')) return left.shift()
    const parts = partsOf(wholeText(promptsIn(turn).at(-1) ?? ''))
    story.push(parts.map((part) => placeOf(wholeText(part)) ?? 'unknown'))
    const [only = ''] = parts
    if (parts.length === 1) return workFor(only)
    const calls = parts.map((prompt) => ({ description: 'a part', subagent_type: 'general-purpose', prompt }))
    return { tools: calls.map((input) => ({ name: 'Agent', input: { ...input, run_in_background: false } })) }
  }
}

/** Resumes the session with a word of the user, until the client ends. */
async function goOn(guarded: GuardedProject, session: string, story: Story): Promise<void> {
  await guarded.run({ main: worker([say('I go on.')], story) }, { prompt: 'go on', args: ['--resume', session] })
}

/** Resumes the session, and kills the client when these tasks are done and an agent hangs at a place. */
async function killAt(guarded: GuardedProject, session: string, story: Story, place: string, done: number[]) {
  const { client, model } = await guarded.start(
    { main: worker([say('I go on.')], story, place) },
    { prompt: 'go on', args: ['--resume', session] },
  )
  const isReached = (): boolean =>
    model.turns('main').some((turn) => placeOf(wholeText(turn.lastUserText)) === place) &&
    done.every((task) => tasksDone(guarded.read('done.log')).includes(task))
  await expect.poll(isReached, { timeout: 60_000 }).toBe(true)
  client.kill('SIGKILL')
  await client.done
}

describe.skipIf(hostsSkipped())('a long run on Claude Code', () => {
  it('does every task once, over an approval, a rejection, two kills, failures and a skip', async () => {
    const guarded = guardedProject()
    guarded.project.write('flow.json', LONG_RUN)
    const story: Story = []

    const { ran } = await guarded.run({ main: worker([START], story) })
    const session = String(ran.sessionId)
    const asked = { active: true, phase: 'review', approval: { standing: 'asked' } }
    expect(guarded.state()).toMatchObject({ ...asked, prompts: 2 })
    expect(ran.notices).toContainEqual(expect.stringContaining('`postflight workflow approve 007_flow`'))
    await goOn(guarded, session, story)
    expect(guarded.state()).toMatchObject({ ...asked, prompts: 2, phase_attempts: 0 })

    expect(guarded.postflight('workflow', 'reject', '7', '--reason', 'look at T003 again')).toMatchObject({ status: 0 })
    await goOn(guarded, session, story)
    expect(guarded.state()).toMatchObject({ ...asked, prompts: 3, phase_attempts: 1 })
    expect(guarded.postflight('workflow', 'approve', '7', '--note', 'go ahead')).toMatchObject({ status: 0 })

    await killAt(guarded, session, story, 'work step 6 1', [1, 2, 3, 4, 7, 8])
    await killAt(guarded, session, story, 'work step 10 1', [6, 11])
    await goOn(guarded, session, story)

    expectCompleted(guarded)
    // Main gets one prompt for four steps.
    const firsts = [1, 2, 3, 4].map((step) => `work step ${step} 1`)
    expect(story).toContainEqual(firsts)
    expect(story.flat()).not.toContain('unknown')
    expect(story.flat().filter((place) => firsts.includes(place))).toHaveLength(4)
  })
})
