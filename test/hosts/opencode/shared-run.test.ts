/** A shared run on real clients: from Claude Code to OpenCode to a third machine, and a takeover while the agent works. */

import { describe, expect, it } from 'vitest'
import { git, publishedLog } from '../../support/machines.ts'
import { promptPlace } from '../agents.ts'
import { bash as claudeBash, reasonsIn as claudeReasonsIn } from '../claude-code/agents.ts'
import { type GuardedProject as ClaudeProject, guardedProject as claudeProject } from '../claude-code/guarded.ts'
import type { Project } from '../claude-code/project.ts'
import { hostsSkipped } from '../client-cache.ts'
import type { Script, Turn } from '../model.ts'
import { bash, say } from './agents.ts'
import { runWorkflow } from './flow.ts'
import { guardedProject } from './guarded.ts'

const IN_TASK = 'specs/007_flow'

const FLOW = JSON.stringify({
  name: 'walk',
  phases: [
    { id: 'plan', prompt: 'Plan.', artifact: 'plan.md' },
    { id: 'build', prompt: 'Build.', artifact: 'built.md', approve: true },
    { id: 'ship', prompt: 'Ship.', artifact: 'shipped.md' },
  ],
})

const START = claudeBash('postflight workflow start 7 flow --definition flow.json --share; echo "exit $?"')

const leave = (name: string): string => `printf '%s' '${name} of this run' > ${IN_TASK}/${name}`

/** Gives a machine the definition and the common remote. */
function join<One extends { readonly project: Project }>(machine: One, remote: string): One {
  machine.project.write('flow.json', FLOW)
  git(machine.project.dir, 'remote', 'add', 'origin', `file://${remote}`)
  return machine
}

function firstMachine(): { one: ClaudeProject; remote: string } {
  const one = claudeProject({ git: true })
  git(one.project.base, 'init', '-q', '--bare', 'remote')
  const remote = `${one.project.base}/remote`
  return { one: join(one, remote), remote }
}

/** The places of the prompts of the hook, in order. */
function placesOf(turn: Turn | undefined): (string | undefined)[] {
  return claudeReasonsIn(turn).map((reason) => promptPlace(reason, 'walk'))
}

/** The agent of OpenCode: it says its lines, and its child sessions do the work of their prompts. */
function openCodeAgent(lines: ReturnType<typeof say>[]): Script {
  const left = [...lines]
  return (turn) => {
    const isPhase = turn.userTexts.some((text) => promptPlace(text, 'walk') !== undefined)
    if (!isPhase) return left.shift()
    return turn.lastToolResult === undefined ? bash(leave('built.md')) : say('Done.')
  }
}

describe.skipIf(hostsSkipped())('a shared run', () => {
  it('begins on Claude Code, continues on OpenCode, and is approved and finished on a third machine', async () => {
    const { one, remote } = firstMachine()
    const two = join(guardedProject(), remote)
    const three = join(claudeProject({ git: true }), remote)

    const work = [claudeBash(leave('plan.md')), claudeBash('postflight workflow release 7'), say('Released.')]
    const first = await one.run({ main: [START, say('Started.'), ...work] })
    expect(placesOf(first.model.turns('main').at(-1))).toEqual(['plan 1'])
    expect(one.state()).toMatchObject({ active: false, outcome: 'moved' })
    const id = String(one.state().id)

    const resume = bash('postflight workflow resume 7 --shared')
    const release = bash('postflight workflow release 7')
    await two.run({ main: openCodeAgent([resume, say('Resumed.'), runWorkflow('7'), release, say('Released.')]) })
    expect(two.read(`${IN_TASK}/plan.md`)).toBe('plan.md of this run')
    const moved = { active: false, outcome: 'moved', phase: 'build', approval: { standing: 'asked' } }
    expect(two.state()).toMatchObject(moved)

    expect(three.postflight('workflow', 'resume', '7', '--shared')).toMatchObject({ status: 0, stderr: '' })
    expect(three.postflight('workflow', 'approve', '7')).toMatchObject({ status: 0 })
    const goOn = [claudeBash('postflight workflow resume 7'), say('Resumed.')]
    const third = await three.run({ main: [...goOn, claudeBash(leave('shipped.md')), say('Done.')] })

    expect(placesOf(third.model.turns('main').at(-1))).toEqual(['ship 1'])
    expect(three.state()).toMatchObject({ active: false, outcome: 'completed', prompts: 3 })
    for (const name of ['plan.md', 'built.md', 'shipped.md'])
      expect(three.read(`${IN_TASK}/${name}`)).toBe(`${name} of this run`)
    expect(three.postflight('workflow', 'publish', '7')).toMatchObject({ status: 0 })
    expect(three.postflight('status', '--shared', '--exit-code')).toMatchObject({ status: 0 })
    expect(git(remote, 'rev-list', '--min-parents=2', `refs/postflight/${id}`)).toBe('')
    const claims = publishedLog(remote, id).flatMap(({ subject }) =>
      /taken|released/.test(subject) ? subject.slice(id.length + 2) : [],
    )
    expect(claims).toEqual(['released', 'taken by claim 2', 'released', 'taken by claim 3'])
  })
})
