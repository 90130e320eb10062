/** Every program that writes, each in a project in which it has much to do. */

import {
  agentReturned,
  type Fields,
  OTHER_SESSION,
  sessionStart,
  shellRan,
  stop,
  subagentStop,
} from '../../support/payloads.ts'
import {
  ABANDONED,
  CLAIMS,
  GUARD,
  MARKER,
  NEW_REASON,
  OLD_ID,
  OLD_MARKER,
  OLD_REASON,
  type Program,
  TASK,
} from '../support/contention.ts'
import type { Files } from './fault-files.ts'

export interface FaultProgram {
  readonly name: string
  /** The project's files before. */
  readonly files: Files
  /** Programs that run first, without a fault. */
  readonly setup?: readonly ((root: string) => Program)[]
  /** A change of the files by another program after that. */
  readonly change?: (files: Files) => Files
  readonly run: (root: string) => Program
  /** Texts that must never be lost; a text that does not parse is always one of them. */
  readonly keeps?: readonly string[]
  /** The possible exit codes when the program runs again after it was killed half-way. */
  readonly again?: readonly number[]
  /**
   * The least and the most stops that are blocked from the start of the program until its marker is gone. The least counts
   * a program that was killed half-way. Undefined where its marker blocks no stop.
   */
  readonly blocks?: readonly [number, number] | undefined
}

const IN_TASK = `specs/${TASK}`
const NOW = new Date().toISOString()
const DAYS_AGO = '2020-01-01T00:00:00Z'
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
const UNPARSABLE = 'status: pending\nbut no JSON at all\n'
const { id: _id, cc_session_id: _session, ...BARE } = OLD_MARKER

const hook =
  (payload: (more: Fields) => Fields) =>
  (root: string): Program => ({ program: 'hook', payload: JSON.stringify(payload({ cwd: root })) })
const cli =
  (...words: string[]) =>
  (): Program => ({ program: 'cli', words })

/** A stop of the marker's owner. */
export const STOP = hook(subagentStop)

const LEARN = hook((more) => shellRan('postflight create 259', OLD_ID, { agent_id: 'agent-a', ...more }))

/** Programs other than stops that keep the marker. */
export const OTHERS_ON_A_MARKER = [
  LEARN,
  cli('step', '259', 'second'),
  cli('step', '259', '1', '--undo'),
  cli('create', '259', '--operation', 'research'),
  cli('adopt', '259', '--agent', 'agent-a'),
]

/** The files of a marker with `spent` continuations spent. */
function pending(fields: object | string, spent = 0): Record<string, string> {
  return {
    [`${IN_TASK}/${MARKER}`]: typeof fields === 'string' ? fields : json(fields),
    ...(spent > 0 && { [`${IN_TASK}/${GUARD}`]: `${spent}\n`, [`${IN_TASK}/${CLAIMS}/.gitignore`]: '*\n' }),
    ...Object.fromEntries(
      Array.from({ length: spent }, (_, index) => [`${IN_TASK}/${CLAIMS}/${OLD_ID}.${index + 1}`, 'f0-0\n']),
    ),
  }
}

const REPORT = 'specs/.postflight/reports/agent-a'
const ABANDONED_TEXT = json({ ...OLD_MARKER, id: 'pf_earlier00000' })
const WAITED = { for: 'an answer', count: 1, prompt_id: 'an earlier prompt' }
const ABANDONED_BEFORE = { [`${IN_TASK}/${ABANDONED}`]: ABANDONED_TEXT }
const OTHER_TASK = {
  'specs/007_other/.postflight-pending': json({ ...OLD_MARKER, id: 'pf_other0000000', reason: 'OTHER marker' }),
}
const LEFT_BY_AGENT = {
  [`${IN_TASK}/.return-meta.json`]: '{"status":"done"}\n',
  [`${IN_TASK}/report.md`]: 'A report.\n',
}

const HOOK_PROGRAMS: readonly FaultProgram[] = [
  { name: 'a stop, the first continuation', files: pending(OLD_MARKER), run: STOP, blocks: [2, 3] },
  { name: 'a stop, the second', files: pending(OLD_MARKER, 1), run: STOP, blocks: [1, 2] },
  { name: 'a stop, the third', files: pending(OLD_MARKER, 2), run: STOP, blocks: [0, 1] },
  {
    name: 'a stop that abandons the marker',
    files: { ...pending(OLD_MARKER, 3), ...ABANDONED_BEFORE, ...LEFT_BY_AGENT },
    run: STOP,
    keeps: [json(OLD_MARKER), ABANDONED_TEXT, ...Object.values(LEFT_BY_AGENT)],
    blocks: [0, 0],
  },
  {
    name: 'a stop that abandons a marker whose count is only in the loop guard',
    files: { ...pending({ ...BARE, created: NOW }), [`${IN_TASK}/${GUARD}`]: '3\n' },
    run: STOP,
    blocks: [0, 0],
  },
  {
    name: 'a stop of a marker as plain bash writes it',
    files: pending({ ...BARE, created: NOW }),
    run: STOP,
    blocks: [2, 3],
  },
  { name: 'a stop of a marker that does not parse', files: pending(UNPARSABLE), run: STOP, blocks: [2, 3] },
  {
    name: 'a stop of two markers',
    files: { ...pending(OLD_MARKER, 1), ...OTHER_TASK },
    run: STOP,
    // The three blocks of the second marker are added, some of them in one answer with the first one's.
    blocks: [2, 5],
  },
  {
    name: 'a stop that a bypass allows',
    files: pending({ ...OLD_MARKER, stop_hook_active: true }, 1),
    run: STOP,
    blocks: [0, 0],
  },
  {
    name: 'a stop at which a wait is over',
    files: pending({ ...OLD_MARKER, wait: WAITED }, 1),
    run: STOP,
    blocks: [1, 2],
  },
  {
    name: 'a stop that stamps a wait',
    files: pending({ ...OLD_MARKER, agent_id: 'main', wait: { for: 'an answer', count: 1 } }, 1),
    run: hook(stop),
  },
  {
    name: 'a wait that is stamped after its command',
    files: pending({ ...OLD_MARKER, wait: { for: 'an answer', count: 1 } }, 1),
    run: hook((more) => shellRan('postflight wait 259', `waiting x  ${OLD_ID}`, more)),
    blocks: [2, 2],
  },
  { name: 'a stop of an expired marker', files: pending({ ...BARE, created: DAYS_AGO }), run: STOP },
  {
    name: 'the owner noted after a command',
    files: pending(OLD_MARKER, 1),
    run: LEARN,
    blocks: [2, 2],
  },
  {
    name: 'a session that starts',
    files: { ...pending({ ...OLD_MARKER, wait: WAITED }, 1), ...ABANDONED_BEFORE },
    run: hook((more) => sessionStart('startup', more)),
    blocks: [2, 2],
  },
  {
    name: 'a sub-agent that is blocked again, and has a longer report',
    files: { ...pending(OLD_MARKER, 1), [REPORT]: 'Short.', [`${REPORT}-of-old`]: 'An old report.' },
    run: STOP,
    blocks: [1, 2],
  },
  {
    name: 'a sub-agent that returns to its caller',
    files: { ...pending(OLD_MARKER, 1), [REPORT]: 'A report.' },
    run: hook((more) => agentReturned('Done.', more)),
    blocks: [2, 2],
  },
]

const FORCE = cli('create', '259', '--force', '--operation', 'plan', '--reason', NEW_REASON)
const SETTINGS = `{\n    "model": "opus",\n    "hooks": { "Stop": [] }\n}\n`

const COMMAND_PROGRAMS: readonly FaultProgram[] = [
  {
    name: 'create',
    files: { 'specs/': '' },
    run: cli('create', '259', 'prove_completeness', '--operation', 'research', '--reason', OLD_REASON, '--step', 'one'),
    blocks: [3, 3],
  },
  {
    name: 'create without a specs/ folder',
    files: {},
    run: cli('create', '259', 'prove_completeness'),
    blocks: [3, 3],
  },
  {
    name: 'create again',
    files: pending(OLD_MARKER, 1),
    run: cli('create', '259', '--operation', 'research', '--step', 'fourth'),
    blocks: [2, 2],
  },
  { name: 'create --force', files: pending(OLD_MARKER, 2), run: FORCE, blocks: [3, 3] },
  {
    name: "create --force over another session's marker",
    files: pending({ ...OLD_MARKER, cc_session_id: OTHER_SESSION }, 2),
    run: FORCE,
    blocks: [3, 3],
  },
  {
    name: 'create --force over a marker that does not parse',
    files: pending(UNPARSABLE, 2),
    run: FORCE,
    blocks: [3, 3],
  },
  { name: 'clear', files: { ...pending(OLD_MARKER, 2), ...LEFT_BY_AGENT }, run: cli('clear', '259'), blocks: [0, 0] },
  {
    name: 'clear --return-meta with an abandoned marker beside it',
    files: { ...pending(OLD_MARKER, 2), ...ABANDONED_BEFORE, ...LEFT_BY_AGENT },
    run: cli('clear', '259', '--return-meta'),
    blocks: [0, 0],
  },
  {
    name: 'clear of a marker that does not parse',
    files: pending(UNPARSABLE, 1),
    run: cli('clear', '259'),
    blocks: [0, 0],
  },
  {
    name: 'clear --all',
    files: { ...pending(OLD_MARKER, 1), ...OTHER_TASK },
    run: cli('clear', '--all'),
    blocks: [0, 0],
  },
  {
    name: 'clear --orphaned',
    files: { ...ABANDONED_BEFORE, ...OTHER_TASK, [`${IN_TASK}/${GUARD}`]: '2\n' },
    run: cli('clear', '--orphaned'),
    blocks: [0, 0],
  },
  { name: 'step', files: pending(OLD_MARKER, 1), run: cli('step', '259', 'second'), blocks: [2, 2] },
  {
    name: 'step --undo',
    files: pending({ ...OLD_MARKER, steps: [{ name: 'first', done: true }], mine: 'kept' }, 1),
    run: cli('step', '259', '1', '--undo'),
    blocks: [2, 2],
  },
  { name: 'wait', files: pending(OLD_MARKER, 1), run: cli('wait', '259', '--for', 'an answer'), blocks: [2, 2] },
  { name: 'bypass', files: pending(OLD_MARKER, 1), run: cli('bypass', '259'), blocks: [0, 0] },
  {
    name: 'bypass of a marker that does not parse',
    files: pending(UNPARSABLE, 1),
    run: cli('bypass', '259'),
    blocks: [0, 0],
  },
  {
    name: 'bypass --all',
    files: { ...pending(OLD_MARKER, 1), ...OTHER_TASK },
    run: cli('bypass', '--all'),
    blocks: [0, 0],
  },
  {
    name: 'adopt',
    files: pending({ ...OLD_MARKER, cc_session_id: OTHER_SESSION, agent_id: 'agent-x' }, 1),
    run: cli('adopt', '259', '--agent', 'agent-a'),
    blocks: [2, 2],
  },
  { name: 'adopt of a marker without an id', files: pending(BARE, 1), run: cli('adopt', '259'), blocks: [2, 2] },
  { name: 'adopt of an abandoned marker', files: { ...ABANDONED_BEFORE }, run: cli('adopt', '259'), blocks: [3, 3] },
  {
    name: 'adopt of a marker that does not parse',
    files: pending(UNPARSABLE, 1),
    run: cli('adopt', '259'),
    blocks: [2, 2],
  },
  {
    name: 'install',
    files: { 'specs/': '', '.claude/settings.json': SETTINGS },
    run: cli('install', '--scope', 'project'),
  },
  { name: 'install where there are no settings', files: { 'specs/': '' }, run: cli('install', '--scope', 'project') },
  {
    name: 'uninstall',
    files: { 'specs/': '', '.claude/settings.json': SETTINGS },
    setup: [cli('install', '--scope', 'project')],
    run: cli('uninstall', '--scope', 'project'),
  },
  {
    name: 'uninstall from settings that were changed since',
    files: { 'specs/': '', '.claude/settings.json': SETTINGS },
    setup: [cli('install', '--scope', 'project')],
    change: (files) => ({ '.claude/settings.json': (files['.claude/settings.json'] ?? '').replace('opus', 'sonnet') }),
    run: cli('uninstall', '--scope', 'project'),
  },
  {
    name: 'uninstall from settings that hold nothing else',
    files: { 'specs/': '' },
    setup: [cli('install', '--scope', 'project')],
    run: cli('uninstall', '--scope', 'project'),
  },
]

const FLOW = json({
  name: 'flow',
  phases: [
    { id: 'make', prompt: 'Make it.', artifact: 'made.json' },
    { id: 'work', steps: ['one', 'two'], step_prompt: 'Do {{step}}.', max_step_attempts: 2 },
    {
      id: 'check',
      prompt: 'Check it.',
      artifact: 'check.json',
      next: { pass: 'end', fail: 'make', verdict: '/ok' },
      max_visits: 2,
    },
  ],
})
/** Two phases, without steps between them. */
const SHORT_FLOW = json({
  name: 'flow',
  phases: ['made', 'check'].map((name) => ({ id: name, prompt: 'p', artifact: `${name}.json` })),
})
const FLOW_FILES = { 'flow.json': FLOW, [`${IN_TASK}/`]: '' }
const begin = cli('workflow', 'start', '259', '--definition', 'flow.json')
const next = cli('workflow', 'next', '259')
const SHORT_FILES = { 'flow.json': SHORT_FLOW, [`${IN_TASK}/`]: '' }
const MADE = { [`${IN_TASK}/made.json`]: '{"visit":1}\n' }
const ALL_DONE = { ...MADE, [`${IN_TASK}/check.json`]: '{}\n' }
const ONE_ATTEMPT = json({
  name: 'flow',
  phases: [{ id: 'make', prompt: 'p', artifact: 'made.json', max_attempts: 1 }],
})
const RUN_FILE = `specs/.postflight/running/${TASK}`
const STEP_DONE = { [`${IN_TASK}/step-result.json`]: '{"success":true,"summary":"done one"}\n' }

const WORKFLOW_PROGRAMS: readonly FaultProgram[] = [
  { name: 'workflow start', files: FLOW_FILES, run: begin, again: [0, 1] },
  { name: 'workflow next', files: FLOW_FILES, setup: [begin], run: next },
  {
    name: 'workflow next, on to the next phase and its first step',
    files: FLOW_FILES,
    setup: [begin, next],
    change: () => MADE,
    run: next,
  },
  {
    name: 'workflow next, a step result archived',
    files: { ...FLOW_FILES, ...MADE },
    setup: [begin, next],
    change: () => STEP_DONE,
    run: next,
  },
  { name: 'workflow stop', files: FLOW_FILES, setup: [begin, next], run: cli('workflow', 'stop', '259') },
  {
    name: 'workflow resume',
    files: FLOW_FILES,
    setup: [begin, next, cli('workflow', 'stop', '259')],
    run: cli('workflow', 'resume', '259'),
  },
  { name: 'workflow abort', files: FLOW_FILES, setup: [begin, next], run: cli('workflow', 'abort', '259') },
  {
    name: 'workflow start --fresh',
    files: { ...FLOW_FILES, ...MADE },
    setup: [begin, next, cli('workflow', 'abort', '259')],
    run: cli('workflow', 'start', '259', '--definition', 'flow.json', '--fresh'),
    again: [0, 1],
  },
  { name: 'a stop that sends the next prompt', files: FLOW_FILES, setup: [begin], run: hook(stop) },
  {
    name: "a sub-agent's stop that archives a step result",
    files: { ...FLOW_FILES, ...MADE },
    setup: [begin, hook(stop)],
    change: () => STEP_DONE,
    run: hook(subagentStop),
  },
  {
    name: 'a stop that completes a run',
    files: SHORT_FILES,
    setup: [begin, next],
    change: () => ALL_DONE,
    run: hook(stop),
  },
  {
    name: 'a stop at which a run stalls',
    files: { 'flow.json': ONE_ATTEMPT, [`${IN_TASK}/`]: '' },
    setup: [begin, hook(stop)],
    run: hook(stop),
  },
  {
    name: 'workflow next that completes a run',
    files: SHORT_FILES,
    setup: [begin, next],
    change: () => ALL_DONE,
    run: next,
  },
  {
    name: 'workflow stop before the first prompt, which ends the run',
    files: FLOW_FILES,
    setup: [begin],
    run: cli('workflow', 'stop', '259'),
  },
  {
    name: 'workflow resume where the run file leads elsewhere',
    files: FLOW_FILES,
    setup: [begin, next],
    change: (files) => ({
      [`${IN_TASK}/workflow/id`]: 'wf_000000000000\n',
      [RUN_FILE]: (files[RUN_FILE] ?? '').replace(TASK, 'old'),
    }),
    run: cli('workflow', 'resume', '259'),
  },
  {
    name: 'a stop of a run whose folder was renamed',
    files: FLOW_FILES,
    setup: [begin],
    change: (files) => ({ [RUN_FILE]: (files[RUN_FILE] ?? '').replace(TASK, '007_before') }),
    run: hook(stop),
  },
  {
    name: 'a stop that finds the run file of an ended run',
    files: FLOW_FILES,
    setup: [begin, next, cli('workflow', 'abort', '259')],
    change: (files) => {
      const { id } = JSON.parse(files[`${IN_TASK}/workflow/state.json`] ?? '{}')
      return { [RUN_FILE]: `${JSON.stringify({ id, path: TASK })}\n`, [`${IN_TASK}/workflow/id`]: `${id}\n` }
    },
    run: hook(stop),
  },
]

const CHECKED_FLOW = json({
  name: 'flow',
  phases: [{ id: 'make', prompt: 'p', artifact: 'made.json', check: { run: 'true' } }],
})
/** Programs that only a power cut needs. */
const SYNCING_PROGRAMS: readonly FaultProgram[] = [
  {
    name: 'workflow check, which leaves a receipt',
    files: { 'flow.json': CHECKED_FLOW, [`${IN_TASK}/`]: '' },
    setup: [begin, next],
    change: () => MADE,
    run: cli('workflow', 'check', '259'),
  },
]

export const FAULT_PROGRAMS: readonly FaultProgram[] = [...HOOK_PROGRAMS, ...COMMAND_PROGRAMS, ...WORKFLOW_PROGRAMS]

export const POWER_CUT_PROGRAMS: readonly FaultProgram[] = [...FAULT_PROGRAMS, ...SYNCING_PROGRAMS]
