/** Unowned markers from before the conversation block none of its sub-agents; those made in it do. */

import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../client-cache.ts'
import { bash, delegate, reasonsIn, say, stubborn } from './agents.ts'
import { guardedProject } from './guarded.ts'

const MARKER = 'specs/259_x/.postflight-pending'
const MAKE = `mkdir -p specs/259_x && echo '{ "created": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'" }' > ${MARKER}`

describe.skipIf(hostsSkipped())('an unowned marker', () => {
  it('from before the conversation holds no sub-agent of it', async () => {
    const guarded = guardedProject()
    const created = new Date(Date.now() - 2 * 3_600_000).toISOString()
    guarded.project.write(MARKER, JSON.stringify({ created }))

    const { model } = await guarded.run({
      main: [delegate('worker'), say('Thanks.')],
      worker: stubborn(say('The report.')),
    })

    expect(model.turns('worker')).toHaveLength(1)
    expect(guarded.files('259_x')).toEqual(['.postflight-pending'])
  })

  it('made in the conversation holds its sub-agents', async () => {
    const guarded = guardedProject()

    const { model } = await guarded.run({
      main: [bash(MAKE), delegate('worker'), say('Thanks.')],
      worker: stubborn(say('The report.')),
    })

    expect(reasonsIn(model.turns('worker').at(-1))).toHaveLength(3)
  })
})
