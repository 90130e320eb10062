/** A workflow on the real client: from `workflow start` to its end with no human turn, and over a client that dies. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import type { Reply, Script, Turn } from '../model.ts'
import { bash, reasonsIn, say } from './agents.ts'
import { type GuardedProject, guardedProject } from './guarded.ts'

const TASK = '007_flow'
const IN_TASK = `specs/${TASK}`

const FOUR_PHASES = readFileSync(new URL('../../../examples/four-phases.yaml', import.meta.url), 'utf8')

const START = bash(`postflight workflow start 7 flow --definition flow.yaml`)

/** Where a prompt is: `plan 1`, `execute step 2 1`. */
function placeOf(reason: string): string {
  const [, phase, step, attempt] = /phase "(\w+)"(?:, step (\d+) of \d+)?, attempt (\d+) of/.exec(reason) ?? []
  return `${phase}${step === undefined ? '' : ` step ${step}`} ${attempt}`
}

/** Puts a file into the task folder. */
function leave(name: string, text: string): Reply {
  return bash(`printf '%s' '${text}' > ${IN_TASK}/${name}`)
}

const WORK: Readonly<Record<string, Reply>> = {
  'analyse 1': leave('analysis.json', '{}'),
  'plan 1': leave('plan.json', '{"steps": ["first", "second", "third"]}'),
  'execute step 1 1': leave('step-result.json', '{"success": true}'),
  'execute step 2 1': leave('step-result.json', '{"success": false, "summary": "no luck"}'),
  'execute step 2 2': leave('step-result.json', '{"success": true}'),
  'execute step 3 1': leave('step-result.json', '{"success": false}'),
  'execute step 3 2': leave('step-result.json', '{"success": false}'),
  'execute step 3 3': leave('step-result.json', '{"success": false}'),
  'report 1': leave('report.md', 'All was done but the third step, which failed three times.'),
}

/** An agent that says its lines, then does each prompt that the hook gives it, and ends its turn. */
function worker(...lines: readonly Reply[]): Script {
  const left = [...lines]
  let seen = 0
  return (turn: Turn) => {
    const reasons = reasonsIn(turn)
    const reason = reasons.at(-1)
    if (reason !== undefined && reasons.length > seen)
      left.push(WORK[placeOf(reason)] ?? say('I do not know how'), say('Done.'))
    seen = reasons.length
    return left.shift()
  }
}

function projectWithFlow(): GuardedProject {
  const guarded = guardedProject()
  guarded.project.write('flow.yaml', FOUR_PHASES)
  return guarded
}

function stateOf(guarded: GuardedProject): Record<string, unknown> {
  return JSON.parse(guarded.read(`${IN_TASK}/workflow/state.json`) ?? '{}')
}

describe.skipIf(hostsSkipped())('a workflow on Claude Code', () => {
  it('runs from its start to completed with no human turn; one step is retried, one skipped, each attempt is archived', async () => {
    const guarded = projectWithFlow()

    const { ran, model } = await guarded.run({ main: worker(START, say('Started.')) })

    expect(reasonsIn(model.turns('main').at(-1)).map(placeOf)).toEqual(Object.keys(WORK))
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed' })
    expect(guarded.read(`${IN_TASK}/step-results/execute/2-1.json`)).toContain('no luck')
    expect(guarded.files(`${TASK}/step-results/execute`)).toEqual([
      '1-1.json',
      '2-1.json',
      '2-2.json',
      '3-1.json',
      '3-2.json',
      '3-3.json',
    ])
    expect(ran.notices).toEqual([expect.stringMatching(/task 007_flow is completed/)])
    expect(guarded.marker(TASK)).toBeUndefined()
  })

  it('goes on in a new session where a killed client left it, and draws no other session in', async () => {
    const guarded = projectWithFlow()
    // The client dies in the middle of a step: it was asked for, and nothing came of it.
    let asked = (): void => {}
    const inStep = new Promise<void>((resolve) => {
      asked = resolve
    })
    const before = worker(START, say('Started.'))
    const { client } = await guarded.start({
      main: async (turn) => {
        const reason = reasonsIn(turn).at(-1)
        if (reason === undefined || placeOf(reason) !== 'execute step 2 1') {
          return typeof before === 'function' ? before(turn) : undefined
        }
        asked()
        return new Promise<Reply>(() => {})
      },
    })
    await inStep
    client.kill()
    await client.done
    expect(stateOf(guarded)).toMatchObject({ active: true, phase: 'execute', current_step: 1, step_attempts: 0 })

    const stranger = await guarded.run({ main: [say('Only passing.')] })
    expect(stranger.model.turns('main')).toHaveLength(1)

    const { model } = await guarded.run({ main: worker(bash('postflight workflow resume 7'), say('Resumed.')) })

    expect(reasonsIn(model.turns('main').at(-1)).map(placeOf)).toEqual(Object.keys(WORK).slice(3))
    expect(stateOf(guarded)).toMatchObject({ active: false, outcome: 'completed' })
  })
})
