import { expect, it } from 'vitest'
import { generatedSchemas } from '../../support/json-schemas.ts'

it.each(Object.entries(generatedSchemas()))(
  'schema/%s is up to date (`npm run schema` writes it)',
  async (file, text) => {
    await expect(text).toMatchFileSnapshot(`../../../schema/${file}`)
  },
)
