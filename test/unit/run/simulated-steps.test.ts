import { expect, it } from 'vitest'
import { simulatedStepCount } from '../../../src/run/machine/simulate.ts'

const script = { steps: new Map([['work', 5]]) }
const phase = (steps?: object) => ({ id: 'work', steps }) as Parameters<typeof simulatedStepCount>[1]

it('a phase has the steps that it lists, those that the script gives it for a file, or none', () => {
  expect(simulatedStepCount(script, phase({ kind: 'list', steps: ['one', 'two'] }))).toBe(2)
  expect(simulatedStepCount(script, phase({ kind: 'checklist' }))).toBe(5)
  expect(simulatedStepCount({ steps: new Map() }, phase({ kind: 'checklist' }))).toBe(3)
  expect(simulatedStepCount(script, phase())).toBe(0)
})
