import { expect, it } from 'vitest'
import { closestName } from '../../../src/kernel/text.ts'

const KNOWN = ['id', 'name', 'prompt', 'prompt_file', 'step_prompt', 'steps', 'from']

it.each<(string | undefined)[]>([
  ['prompts', 'prompt'],
  ['promt', 'prompt'],
  ['prumpt', 'prompt'],
  ['prompt_fiel', 'prompt_file'],
  ['Step_Prompt', 'step_prompt'],
  ['form', 'from'],
  // Half of a swap is not one: each of these takes two edits.
  ...['orfm', 'foxm', 'fxrm'].map((name) => [name, undefined]),
  ['step', 'steps'],
  ['prompt', 'prompt'],
  ...['ids', 'fort', '', 'x'.repeat(10_000)].map((name) => [name, undefined]),
])('the name closest to %.20j is %s', (name = '', expected) => {
  expect(closestName(name, KNOWN)).toBe(expected)
})

it('the closest of several close names is suggested', () => {
  expect(closestName('min_item', ['maxItems', 'min_bytes', 'min_items'])).toBe('min_items')
})
