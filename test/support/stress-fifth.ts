import { relative } from 'node:path'
import { beforeEach } from 'vitest'
import { PACKAGE } from './process.ts'

/** `POSTFLIGHT_STRESS_FIFTH`, from 0 to 4: only that fifth of the stress tests runs (scripts/stress.js). */
const fifth = process.env.POSTFLIGHT_STRESS_FIFTH

beforeEach(({ task, skip }) => {
  if (fifth === undefined) return
  const title = `${relative(PACKAGE, task.file.filepath)} ${task.name}`
  skip(hashOf(title) % 5 !== Number(fifth), 'in another fifth: `npm run test:stress -- --all` runs all of them')
})

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash
}
