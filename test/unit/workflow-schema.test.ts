import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { definitionJsonSchema } from '../../src/core/workflow/schema.ts'

it('schema/workflow.schema.json is what `npm run schema` writes', () => {
  const file = readFileSync(new URL('../../schema/workflow.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(file)).toEqual(definitionJsonSchema())
})
