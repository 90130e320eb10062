import { expect } from 'vitest'
import type { GuardedProject as OfClaudeCode } from './claude-code/guarded.ts'
import type { GuardedProject as OfOpenCode } from './opencode/guarded.ts'

const RULES = `done:
  - when: ["src/**"]
    check: echo ran >> runs; echo "test 7 of 9 failed"; test ! -e red
  - when: ["docs/**"]
    check: test -d docs
    name: pages
`

/** Makes it a project that says when work is done. A person has trusted that, unless `isTrusted` is false. */
export function withRules<Guarded extends OfClaudeCode | OfOpenCode>(guarded: Guarded, isTrusted = true): Guarded {
  guarded.project.write('specs/done.yaml', RULES)
  guarded.project.write('src/a.ts', 'one\n')
  guarded.project.write('docs/a.md', 'one\n')
  if (isTrusted) expect(guarded.postflight('trust', '--yes')).toMatchObject({ status: 0 })
  return guarded
}
