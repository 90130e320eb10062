import { describe, expect, it } from 'vitest'
import type { MarkerView } from '../../../src/marker/marker-view.ts'
import type { LostMarker } from '../../../src/views/status/lost-markers.ts'
import { lostMarkerItem, markerItem } from '../../../src/views/status/status-items.ts'

const PENDING: MarkerView = {
  ...{ state: 'pending', outcome: null, task: '007_x', path: '/p/specs/007_x/m', relative_path: 'specs/007_x/m' },
  ...{ id: 'm', skill: null, operation: 'work', reason: null, promised_at: null, age_ms: null, wait: null },
  owner: { host_session: 's\n1', agent: null, agent_type: null },
  continuations: { spent: 0, limit: 3 },
  ...{ steps: [], checks: [], problems: [] },
}
const LOCATION = { root: '/p', rootOption: undefined }

describe('the sentence of a marker', () => {
  const spent = (count: number): Partial<MarkerView> => ({ continuations: { spent: count, limit: 3 } })
  const steps = [
    { name: 'a', done: false },
    { name: 'b', done: true },
  ]
  const failed = (run: string, failure: string | null) => ({ run, step: null, failed: failure })

  it.each<[Partial<MarkerView>, string]>([
    [{}, 'Task 7: its postflight is still pending.'],
    [{ task: '.' }, 'specs/: its postflight is still pending.'],
    [{ task: 'my\nnotes' }, 'Task "my notes": its postflight is still pending.'],
    [spent(1), 'Task 7: its postflight is still pending after 1 blocked stop.'],
    [
      { wait: { for: 'the\nuser', count: 1 } },
      'Task 7: its postflight is still pending: the agent waits for the user.',
    ],
    [{ state: 'bypassed' }, 'Task 7: its marker was bypassed, and no agent has stopped since.'],
    [{ state: 'expired' }, 'Task 7: its marker names no host session and is older than 24 h, so it blocks no stop.'],
    [{ state: 'unreadable', problems: ['cannot be read (a folder)'] }, 'Task 7: its marker cannot be read (a folder).'],
    [
      { state: 'abandoned', ...spent(3), checks: [failed('npm test', 'exit code 1')], steps },
      'Task 7: the agent gave up after 3 blocked stops. Check "npm test" failed (exit 1). Not ticked: "a".',
    ],
    [
      {
        state: 'abandoned',
        outcome: 'unchecked',
        checks: [failed('npm\ntest', null), failed('ls', 'killed by SIGKILL')],
      },
      'Task 7: its marker ended without its checks ("npm test", "ls"). Check "ls" failed (killed by SIGKILL).',
    ],
    [{ state: 'abandoned', outcome: 'unchecked' }, 'Task 7: its marker ended without its checks.'],
  ])('%j', (facts, sentence) => {
    expect(markerItem({ ...PENDING, ...facts }, LOCATION, false).sentence).toBe(sentence)
  })

  it('has its facts in the line of a terminal too, with what to do', () => {
    const checks = [failed('npm test', 'exit code 1')]
    const more = { ...spent(2), operation: 'research', age_ms: 7_200_000, steps, checks }
    const { message, fix } = markerItem({ ...PENDING, ...more }, LOCATION, true)
    expect(message).toBe(
      'pending: specs/007_x/m · research · 2 h old · blocked 2 of 3 stops · 1 step to go · `npm test` failed the last time (exit code 1) · session s 1 · no stop of that session was seen: does its host start the hook? (`postflight doctor`)',
    )
    expect(fix).toBe(
      'when its postflight is done: postflight clear 007_x (in another session: postflight adopt 007_x first)',
    )
    const bypassed = markerItem({ ...PENDING, state: 'bypassed', age_ms: -1 }, LOCATION, false)
    expect(bypassed.message).toBe('bypassed: specs/007_x/m · dated in the future · session s 1')
    expect(bypassed.fix).toBe('the next stop removes it')
  })
})

it.each<[LostMarker['kind'], string[], string]>([
  ['removed', [], 'its marker was removed by hand, not cleared.'],
  [
    'removed',
    ['npm test'],
    'its marker was removed by hand, not cleared, and its checks have not passed since ("npm test").',
  ],
  ['abandoned', [], 'the agent gave up, and the abandoned marker was removed by hand.'],
  [
    'unchecked',
    ['npm test'],
    'its marker ended without its checks, and the abandoned marker was removed by hand. Its checks have not passed since ("npm test").',
  ],
])('the sentence of a lost marker: %s %j', (kind, unproven, sentence) => {
  const lost = { kind, task: '7_x', relative: 'specs/7_x', record: undefined, unproven }
  expect(lostMarkerItem(lost, 0, undefined).sentence).toBe(`Task 7: ${sentence}`)
})
