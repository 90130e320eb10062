import { expect, it } from 'vitest'
import { type LineItem, statusLine } from '../../../src/views/status-line.ts'

const item = (kind: LineItem['kind'], isOurs = true): LineItem => ({ kind, isOurs, text: kind })
const items = (...kinds: LineItem['kind'][]): LineItem[] => kinds.map((kind) => item(kind))

it.each<[string, LineItem[], string]>([
  ['is empty without items', [], ''],
  ['begins with what waits for the user', items('running', 'pending', 'waiting'), '⏸ waiting · ⚑ pending · ▶ running'],
  ['ends with what is over', items('abandoned', 'unusable', 'running'), '▶ running · ! unusable · ✗ abandoned'],
  [
    'names three, and counts the others',
    items('abandoned', 'running', 'unusable', 'pending', 'waiting'),
    '⏸ waiting · ⚑ pending · ▶ running · +2 more',
  ],
  [
    'counts the items of other sessions',
    [item('waiting', false), item('pending'), item('running', false)],
    '⚑ pending · +2 elsewhere',
  ],
])('the status line %s', (_, items, expected) => expect(statusLine(items)).toBe(expected))
