import { describe, expect, it } from 'vitest'
import { reconcile, type WorkflowPorts } from '../../../src/run/machine/machine.ts'
import type { Observation } from '../../../src/run/machine/observation.ts'
import { isPrompted, type WorkflowState } from '../../../src/run/machine/state.ts'
import { begin, DONE, seeing } from './builders.ts'

/** Ports that note every action in order. `see` returns the observation. */
function noting(see: (state: WorkflowState) => Partial<Observation>): WorkflowPorts & { readonly noted: string[] } {
  const noted: string[] = []
  return {
    noted,
    observe: (state) => seeing(see(state)),
    apply: (effect) => noted.push(effect.kind),
    write: ({ phase, visits, sequence }) => noted.push(`write ${phase}#${visits[phase]} at ${sequence}`),
  }
}

const chain = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ id: `p${index}`, prompt: 'p', artifact: `${index}.json` }))

describe('the loop of every driver', () => {
  it('ends with a prompt, and with the state on disk', () => {
    const ports = noting(() => ({}))
    const { state, command } = reconcile(begin(...chain(1)), ports)
    expect(command).toBe('prompt')
    expect(isPrompted(state)).toBe(true)
    expect(ports.noted).toEqual(['write p0#1 at 3'])
  })

  it('writes nothing if nothing changed', () => {
    const ports = noting(() => ({ mayPrompt: false }))
    expect(reconcile(begin(...chain(1)), ports).command).toBe('wait')
    expect(ports.noted).toEqual([])
  })

  it('passes all phases with existing artifacts, and writes once', () => {
    const ports = noting(() => ({ artifact: { kind: 'valid' } }))
    expect(reconcile(begin(...chain(5)), ports)).toMatchObject({ command: 'finish', state: { outcome: 'completed' } })
    expect(ports.noted).toEqual(['write p4#1 at 12'])
  })

  it('stops when its time is over, with the state on disk, and the next turn continues', () => {
    const ports = noting(() => ({ artifact: { kind: 'valid' } }))
    let turns = 0
    const late = reconcile(begin(...chain(5)), { ...ports, isOutOfTime: () => ++turns === 3 })
    expect(late).toMatchObject({ command: 'wait', unfinished: true, state: { phase: 'p3', active: true } })
    expect(ports.noted).toEqual(['write p3#1 at 8'])
    expect(reconcile(late.state, ports)).toMatchObject({ command: 'finish', unfinished: false })
  })

  it('writes the state before an effect and after it', () => {
    const again = [{ id: 'a', prompt: 'p', artifact: 'a.json', next: 'a', max_visits: 2 }]
    const ports = noting(({ visits }) => ({ artifact: visits.a === 1 ? { kind: 'valid' } : { kind: 'absent' } }))
    reconcile(begin(...again), ports)
    expect(ports.noted).toEqual(['write a#2 at 4', 'archive-artifact', 'write a#2 at 5'])
  })

  it('names the results in the state before it archives them', () => {
    const ports = noting((now) => ({ stepResults: isPrompted(now) ? [DONE] : [] }))
    const written: (readonly string[])[] = []
    const noted = { ...ports, write: ({ archiving }: WorkflowState) => written.push(archiving) }
    const asked = reconcile(begin({ id: 'a', steps: ['x', 'y'] }), noted)
    reconcile(asked.state, noted)
    expect(written).toEqual([[], ['1-1.json'], []])
  })

  it('writes all transitions, and a state only at the end or after a thousand of them', () => {
    const ports = noting(() => ({ artifact: { kind: 'valid' } }))
    const start = begin(...chain(200))
    const written: WorkflowState[] = []
    reconcile(start, { ...ports, write: (...states) => written.push(...states) })
    expect(written).toEqual([expect.objectContaining({ phase: 'p199', sequence: 402 }), start])
    expect(written[0]?.history.map(({ n }) => n)).toEqual(Array.from({ length: 402 }, (_, index) => index + 1))
    const parts: number[][] = []
    const noteNew = ({ history }: WorkflowState, { sequence }: WorkflowState) =>
      parts.push(history.map(({ n }) => n).filter((n) => n > sequence))
    const { state } = reconcile(begin(...chain(2000)), { ...ports, write: noteNew })
    expect(parts.flat()).toEqual(Array.from({ length: 4000 }, (_, index) => index + 3))
    expect([parts.length, state.history.length < 1100]).toEqual([5, true])
  })
})
