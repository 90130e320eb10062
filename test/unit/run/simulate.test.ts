import { expect, it } from 'vitest'
import { skippedText } from '../../../src/run/machine/position.ts'
import {
  answering,
  type Script,
  simulate,
  simulatedStepCount,
  simulatedSteps,
} from '../../../src/run/machine/simulate.ts'
import { ready } from '../../property/run/arbitraries.ts'
import { PLACE } from './builders.ts'

const NOTHING: Script = { failures: new Map(), cases: new Map(), steps: new Map() }
const A = { id: 'a', prompt: 'p', artifact: 'a.json' }

const phaseOf = (phase: object) => ready({ name: 'x', phases: [phase] }).definition.phases[0]

it('a simulation has no history that lists its skipped steps', () => {
  expect(skippedText(2)).toBe('2 steps or artifacts were skipped')
})

it('the answers of a script count for each step, or for the artifact', () => {
  const answer = answering({ ...NOTHING, failures: new Map(['a', 'a/2'].map((name) => [name, 1])) })
  const phase = phaseOf({ id: 'a', steps: ['x', 'y'] })
  expect([1, 2, 2].map((step) => answer(phase, { step }))).toEqual(['pass', 'fail', 'pass'])
  const artifact = phaseOf(A)
  expect([1, 2].map(() => answer(artifact, { step: undefined }))).toEqual([undefined, 'pass'])
})

it('made-up steps are three texts, or as many tasks of a list as the script says', () => {
  const listed = phaseOf({ id: 'a', steps: { from: 'x.json', pointer: '' } })
  expect(simulatedSteps(NOTHING, listed)).toEqual(['step 1', 'step 2', 'step 3'])
  const tasks = phaseOf({ id: 'a', steps: { from: 'x.md', checklist: true } })
  const steps = ['step 1', 'step 2'].map((text, item) => ({ text, item }))
  expect(simulatedSteps({ ...NOTHING, steps: new Map([['a', 2]]) }, tasks)).toEqual(steps)
})

it('a phase has the steps that it lists, those that the script gives it for a file, or none', () => {
  const script = { ...NOTHING, steps: new Map([['a', 5]]) }
  const tasks = phaseOf({ id: 'a', steps: { from: 'x.md', checklist: true } })
  expect(simulatedStepCount(script, phaseOf({ id: 'a', steps: ['one', 'two'] }))).toBe(2)
  expect([script, NOTHING].map((one) => simulatedStepCount(one, tasks))).toEqual([5, 3])
  expect(simulatedStepCount(script, phaseOf(A))).toBe(0)
})

it('a simulated phase that is entered again gets the path of its own last artifact, and no other phase does', () => {
  const prompt = '<{{previous_artifact}}>'
  const check = { id: 'check', prompt, artifact: 'c.json', next: { pass: 'end', fail: 'fix', verdict: '/ok' } }
  const fix = { id: 'fix', prompt, artifact: 'docs/fix.md', next: 'check' }
  const { definition } = ready({ name: 'x', phases: [check, fix].map((one) => ({ ...one, max_visits: 3 })) })
  const script = { ...NOTHING, failures: new Map([['check', 2]]) }
  const { prompts, state } = simulate(definition, script, PLACE, {})
  expect(prompts.map(({ phase, prompt: said }) => `${phase} ${/<.*>/.exec(said)?.[0]}`)).toEqual([
    'check <>',
    'fix <>',
    'check </f/artifacts/check/1-c.json>',
    'fix </f/artifacts/fix/1-fix.md>',
    'check </f/artifacts/check/2-c.json>',
  ])
  expect(state).toMatchObject({ outcome: 'completed', id: 'simulated', startedMs: 0, hostSession: undefined })
})

it('a simulation shows the values of the inputs', () => {
  const { definition } = ready({ name: 'x', inputs: { issue: {} }, phases: [{ ...A, prompt: 'Do {{input.issue}}.' }] })
  expect(simulate(definition, NOTHING, PLACE, { issue: '41' }).prompts[0]?.prompt).toContain('Do 41.')
})
