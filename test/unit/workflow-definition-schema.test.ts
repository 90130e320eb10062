import { expect, it } from 'vitest'
import { definitionJsonSchema } from '../../src/core/workflow/definition-schema.ts'

it('schema/workflow.schema.json is up to date (`npm run schema` writes it)', async () => {
  const text = `${JSON.stringify(definitionJsonSchema(), null, 2)}\n`
  await expect(text).toMatchFileSnapshot('../../schema/workflow.schema.json')
})
