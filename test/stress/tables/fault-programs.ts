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
      Array.from({ length: spent }, (_, at) => [`${IN_TASK}/${CLAIMS}/${OLD_ID}.${at + 1}`, 'f0-0\n']),
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

const ONCE = pending(OLD_MARKER, 1)

const program = (
  name: string,
  files: Files,
  run: FaultProgram['run'],
  blocks?: FaultProgram['blocks'],
): FaultProgram => ({ name, files, run, blocks })

const flowOf = (...phases: readonly object[]): Files => ({
  'flow.json': json({ name: 'flow', phases }),
  [`${IN_TASK}/`]: '',
})
const FLOW_FILES = flowOf(
  { id: 'make', prompt: 'Make it.', artifact: 'made.json' },
  { id: 'work', steps: ['one', 'two'], step_prompt: 'Do {{step}}.', max_step_attempts: 2 },
  {
    ...{ id: 'check', prompt: 'Check it.', artifact: 'check.json', max_visits: 2 },
    next: { pass: 'end', fail: 'make', verdict: '/ok' },
  },
)
const SHORT_FILES = flowOf(...['made', 'check'].map((name) => ({ id: name, prompt: 'p', artifact: `${name}.json` })))
const MAKE = { id: 'make', prompt: 'p', artifact: 'made.json' }

/** A program after others; in a run, unless `more` has other files. */
const during = (
  name: string,
  setup: FaultProgram['setup'] & {},
  run: FaultProgram['run'],
  more: Partial<FaultProgram> = {},
): FaultProgram => ({ name, files: FLOW_FILES, setup, run, ...more })

const HOOK_PROGRAMS: readonly FaultProgram[] = [
  program('a stop, the first continuation', pending(OLD_MARKER), STOP, [2, 3]),
  program('a stop, the second', ONCE, STOP, [1, 2]),
  program('a stop, the third', pending(OLD_MARKER, 2), STOP, [0, 1]),
  {
    name: 'a stop that abandons the marker',
    files: { ...pending(OLD_MARKER, 3), ...ABANDONED_BEFORE, ...LEFT_BY_AGENT },
    run: STOP,
    keeps: [json(OLD_MARKER), ABANDONED_TEXT, ...Object.values(LEFT_BY_AGENT)],
    blocks: [0, 0],
  },
  program(
    'a stop that abandons a marker whose count is only in the loop guard',
    { ...pending({ ...BARE, created: NOW }), [`${IN_TASK}/${GUARD}`]: '3\n' },
    STOP,
    [0, 0],
  ),
  program('a stop of a marker as plain bash writes it', pending({ ...BARE, created: NOW }), STOP, [2, 3]),
  program('a stop of a marker that does not parse', pending(UNPARSABLE), STOP, [2, 3]),
  {
    name: 'a stop of two markers',
    files: { ...ONCE, ...OTHER_TASK },
    run: STOP,
    // The three blocks of the second marker are added, some of them in one answer with the first one's.
    blocks: [2, 5],
  },
  program('a stop that a bypass allows', pending({ ...OLD_MARKER, stop_hook_active: true }, 1), STOP, [0, 0]),
  program('a stop at which a wait is over', pending({ ...OLD_MARKER, wait: WAITED }, 1), STOP, [1, 2]),
  program(
    'a stop that stamps a wait',
    pending({ ...OLD_MARKER, agent_id: 'main', wait: { for: 'an answer', count: 1 } }, 1),
    hook(stop),
  ),
  program(
    'a wait that is stamped after its command',
    pending({ ...OLD_MARKER, wait: { for: 'an answer', count: 1 } }, 1),
    hook((more) => shellRan('postflight wait 259', `waiting x  ${OLD_ID}`, more)),
    [2, 2],
  ),
  program('a stop of an expired marker', pending({ ...BARE, created: DAYS_AGO }), STOP),
  program('the owner noted after a command', ONCE, LEARN, [2, 2]),
  program(
    'a session that starts',
    { ...pending({ ...OLD_MARKER, wait: WAITED }, 1), ...ABANDONED_BEFORE },
    hook((more) => sessionStart('startup', more)),
    [2, 2],
  ),
  program(
    'a sub-agent that is blocked again, and has a longer report',
    { ...ONCE, [REPORT]: 'Short.', [`${REPORT}-of-old`]: 'An old report.' },
    STOP,
    [1, 2],
  ),
  program(
    'a sub-agent that returns to its caller',
    { ...ONCE, [REPORT]: 'A report.' },
    hook((more) => agentReturned('Done.', more)),
    [2, 2],
  ),
]

const FORCE = cli('create', '259', '--force', '--operation', 'plan', '--reason', NEW_REASON)
const INSTALL = cli('install', '--scope', 'project')
const UNINSTALL = cli('uninstall', '--scope', 'project')
const SETTINGS = `{\n    "model": "opus",\n    "hooks": { "Stop": [] }\n}\n`
const WITH_SETTINGS = { 'specs/': '', '.claude/settings.json': SETTINGS }

const COMMAND_PROGRAMS: readonly FaultProgram[] = [
  program(
    'create',
    { 'specs/': '' },
    cli('create', '259', 'prove_completeness', '--operation', 'research', '--reason', OLD_REASON, '--step', 'one'),
    [3, 3],
  ),
  program('create without a specs/ folder', {}, cli('create', '259', 'prove_completeness'), [3, 3]),
  program('create again', ONCE, cli('create', '259', '--operation', 'research', '--step', 'fourth'), [2, 2]),
  program('create --force', pending(OLD_MARKER, 2), FORCE, [3, 3]),
  program(
    "create --force over another session's marker",
    pending({ ...OLD_MARKER, cc_session_id: OTHER_SESSION }, 2),
    FORCE,
    [3, 3],
  ),
  program('create --force over a marker that does not parse', pending(UNPARSABLE, 2), FORCE, [3, 3]),
  program('clear', { ...pending(OLD_MARKER, 2), ...LEFT_BY_AGENT }, cli('clear', '259'), [0, 0]),
  program(
    'clear --return-meta with an abandoned marker beside it',
    { ...pending(OLD_MARKER, 2), ...ABANDONED_BEFORE, ...LEFT_BY_AGENT },
    cli('clear', '259', '--return-meta'),
    [0, 0],
  ),
  program('clear of a marker that does not parse', pending(UNPARSABLE, 1), cli('clear', '259'), [0, 0]),
  program('clear --all', { ...ONCE, ...OTHER_TASK }, cli('clear', '--all'), [0, 0]),
  program(
    'clear --orphaned',
    { ...ABANDONED_BEFORE, ...OTHER_TASK, [`${IN_TASK}/${GUARD}`]: '2\n' },
    cli('clear', '--orphaned'),
    [0, 0],
  ),
  program('step', ONCE, cli('step', '259', 'second'), [2, 2]),
  program(
    'step --undo',
    pending({ ...OLD_MARKER, steps: [{ name: 'first', done: true }], mine: 'kept' }, 1),
    cli('step', '259', '1', '--undo'),
    [2, 2],
  ),
  program('wait', ONCE, cli('wait', '259', '--for', 'an answer'), [2, 2]),
  program('bypass', ONCE, cli('bypass', '259'), [0, 0]),
  program('bypass of a marker that does not parse', pending(UNPARSABLE, 1), cli('bypass', '259'), [0, 0]),
  program('bypass --all', { ...ONCE, ...OTHER_TASK }, cli('bypass', '--all'), [0, 0]),
  program(
    'adopt',
    pending({ ...OLD_MARKER, cc_session_id: OTHER_SESSION, agent_id: 'agent-x' }, 1),
    cli('adopt', '259', '--agent', 'agent-a'),
    [2, 2],
  ),
  program('adopt of a marker without an id', pending(BARE, 1), cli('adopt', '259'), [2, 2]),
  program('adopt of an abandoned marker', { ...ABANDONED_BEFORE }, cli('adopt', '259'), [3, 3]),
  program('adopt of a marker that does not parse', pending(UNPARSABLE, 1), cli('adopt', '259'), [2, 2]),
  program('install', WITH_SETTINGS, INSTALL),
  program('install where there are no settings', { 'specs/': '' }, INSTALL),
  during('uninstall', [INSTALL], UNINSTALL, { files: WITH_SETTINGS }),
  during('uninstall from settings that were changed since', [INSTALL], UNINSTALL, {
    files: WITH_SETTINGS,
    change: (files) => ({ '.claude/settings.json': (files['.claude/settings.json'] ?? '').replace('opus', 'sonnet') }),
  }),
  during('uninstall from settings that hold nothing else', [INSTALL], UNINSTALL, { files: { 'specs/': '' } }),
]

const workflow = (name: string) => cli('workflow', name, '259')
const begin = cli('workflow', 'start', '259', '--definition', 'flow.json')
const next = workflow('next')
const MADE = { [`${IN_TASK}/made.json`]: '{"visit":1}\n' }
const ALL_DONE = { ...MADE, [`${IN_TASK}/check.json`]: '{}\n' }
const RUN_FILE = `specs/.postflight/running/${TASK}`
const STEP_DONE = { [`${IN_TASK}/step-result.json`]: '{"success":true,"summary":"done one"}\n' }

const WORKFLOW_PROGRAMS: readonly FaultProgram[] = [
  during('workflow start', [], begin, { again: [0, 1] }),
  during('workflow next', [begin], next),
  during('workflow next, on to the next phase and its first step', [begin, next], next, { change: () => MADE }),
  during('workflow next, a step result archived', [begin, next], next, {
    change: () => STEP_DONE,
    files: { ...FLOW_FILES, ...MADE },
  }),
  during('workflow stop', [begin, next], workflow('stop')),
  during('workflow resume', [begin, next, workflow('stop')], workflow('resume')),
  during('workflow abort', [begin, next], workflow('abort')),
  during(
    'workflow start --fresh',
    [begin, next, workflow('abort')],
    cli('workflow', 'start', '259', '--definition', 'flow.json', '--fresh'),
    { again: [0, 1], files: { ...FLOW_FILES, ...MADE } },
  ),
  during('a stop that sends the next prompt', [begin], hook(stop)),
  during("a sub-agent's stop that archives a step result", [begin, hook(stop)], hook(subagentStop), {
    change: () => STEP_DONE,
    files: { ...FLOW_FILES, ...MADE },
  }),
  during('a stop that completes a run', [begin, next], hook(stop), { change: () => ALL_DONE, files: SHORT_FILES }),
  during('a stop at which a run stalls', [begin, hook(stop)], hook(stop), {
    files: flowOf({ ...MAKE, max_attempts: 1 }),
  }),
  during('workflow next that completes a run', [begin, next], next, { change: () => ALL_DONE, files: SHORT_FILES }),
  during('workflow stop before the first prompt, which ends the run', [begin], workflow('stop')),
  during('workflow resume where the run file leads elsewhere', [begin, next], workflow('resume'), {
    change: (files) => ({
      [`${IN_TASK}/workflow/id`]: 'wf_000000000000\n',
      [RUN_FILE]: (files[RUN_FILE] ?? '').replace(TASK, 'old'),
    }),
  }),
  during('a stop of a run whose folder was renamed', [begin], hook(stop), {
    change: (files) => ({ [RUN_FILE]: (files[RUN_FILE] ?? '').replace(TASK, '007_before') }),
  }),
  during('a stop that finds the run file of an ended run', [begin, next, workflow('abort')], hook(stop), {
    change: (files) => {
      const { id } = JSON.parse(files[`${IN_TASK}/workflow/state.json`] ?? '{}')
      return { [RUN_FILE]: `${JSON.stringify({ id, path: TASK })}\n`, [`${IN_TASK}/workflow/id`]: `${id}\n` }
    },
  }),
]

const CHECKING = during('workflow check, which leaves a receipt', [begin, next], workflow('check'), {
  files: flowOf({ ...MAKE, check: { run: 'true' } }),
  change: () => MADE,
})

export const FAULT_PROGRAMS: readonly FaultProgram[] = [...HOOK_PROGRAMS, ...COMMAND_PROGRAMS, ...WORKFLOW_PROGRAMS]

export const POWER_CUT_PROGRAMS: readonly FaultProgram[] = [...FAULT_PROGRAMS, CHECKING]
