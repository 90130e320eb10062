// Writes schema/workflow.schema.json from the definition's own schema: `npm run schema`. A test keeps them equal.
import fs from 'node:fs'
import { unrun } from 'unrun'

const { module } = await unrun({ path: 'src/core/workflow/schema.ts' })
fs.mkdirSync('schema', { recursive: true })
fs.writeFileSync('schema/workflow.schema.json', `${JSON.stringify(module.definitionJsonSchema(), null, 2)}\n`)
