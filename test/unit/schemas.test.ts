import { describe, expect, it } from 'vitest'
import { generatedSchemas, publishedSchemas } from '../support/json-schemas.ts'

describe('schema/', () => {
  it.each(Object.entries(generatedSchemas()))('%s is up to date (`npm run schema` writes it)', async (file, text) => {
    await expect(text).toMatchFileSnapshot(`../../schema/${file}`)
  })

  it('holds no other file', () => {
    expect(publishedSchemas().sort()).toEqual(Object.keys(generatedSchemas()).sort())
  })
})
