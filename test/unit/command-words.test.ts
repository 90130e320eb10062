import { describe } from 'vitest'
import { CLEAR_DETAILS, CLEAR_TEXT } from '../../src/cli/clear/clear-view.ts'
import { BYPASS_TEXT } from '../../src/cli/commands/bypass.ts'
import { CREATE_NOTES } from '../../src/cli/commands/create.ts'
import { EXPLAIN_TEXT } from '../../src/cli/commands/explain.ts'
import { LOGS_TEXT } from '../../src/cli/commands/logs.ts'
import { STEP_TEXT } from '../../src/cli/commands/step.ts'
import { CONFLICTING_OWNERS } from '../../src/cli/promise-owner.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from '../../src/cli/usage-messages.ts'
import { INSPECT_TEXT } from '../../src/marker/check-messages.ts'
import { notInJournal } from '../../src/project/journal-entry.ts'
import { unwired } from '../../src/setup/settings-messages.ts'
import { itSays } from './sentences.ts'

describe('the words of explain', () => {
  const toPipe = (session: string): string =>
    [
      'To explain a stop, pipe what the host gives its hook on stdin (or name a file: --payload FILE). For example:',
      `  echo '{"hook_event_name":"Stop","session_id":"${session}"}' | postflight explain --payload -`,
      'Without a payload, the hook knows nothing of the stop, and takes it for this one:',
    ].join('\n')
  itSays(EXPLAIN_TEXT, {
    noPayload: [
      [undefined, toPipe('ID')],
      ['sess-1', toPipe('sess-1')],
      ["s'; rm -r x", toPipe('ID')],
    ],
    whose: [
      ['s1', 'main', 'of session s1, agent main'],
      [undefined, undefined, 'of session (unknown), agent (unknown)'],
      ['s\n1', 'a\n7', 'of session s 1, agent a 7'],
    ],
    roots: [
      [['/p'], 'roots: /p'],
      [['/p', '/q'], 'roots: /p, /q'],
    ],
    marker: [
      [
        'specs/7_x/.postflight-pending',
        4,
        'expired',
        'it is old',
        'specs/7_x/.postflight-pending: row 4, expired: it is old',
      ],
      ['specs/7_x/.postflight-pending', null, null, 'it is old', 'specs/7_x/.postflight-pending: it is old'],
    ],
    run: [['specs/7_x/.postflight-workflow.json', 'it continues', 'specs/7_x/.postflight-workflow.json: it continues']],
    rule: [
      ['docs', true, ['docs/a.md', 'docs/b.md'], '  due: docs (docs/a.md, docs/b.md)'],
      ['docs', false, [], '  not due: docs'],
    ],
    unreadable: [['EACCES', 'cannot be read (EACCES), so the stop is allowed']],
    told: [['the stop\nwas allowed', 'notice to the user: the stop was allowed']],
    notAStop: [['PostToolUse', '"PostToolUse" is not a stop event, so nothing is blocked']],
    'answer-ignored': [['Kimi Code', 'Kimi Code ignores the answer to this stop, so nothing is counted']],
    'own-agent': [['OpenCode', "this stop is of OpenCode's own agent (a compaction), so nothing is blocked"]],
  })
})

describe('the notes of create', () => {
  itSays(CREATE_NOTES, {
    newRoot: [['/home/me/my\nproject', 'made specs/ in /home/me/my project']],
    droppedSteps: [[['commit', 'push'], 'ticked in the previous marker, but not in this one: "commit", "push"']],
  })
})

describe('a session without the hook', () => {
  itSays(
    { unwired },
    {
      unwired: [
        [
          'Qwen Code',
          'postflight: no settings file of Qwen Code starts the hook, so it will probably not hold this session. `postflight init` sets it up.',
        ],
      ],
    },
  )
})

describe('the owner of a marker in the way', () => {
  itSays(CONFLICTING_OWNERS, {
    hostSession: [['s1', 'pending for host session s1']],
    skillSession: [['sess_1', 'pending for session sess_1']],
    unowned: [
      ['sess_1', 'pending without a host session (sess_1)'],
      [undefined, 'pending without a host session'],
    ],
  })
})

describe('the details of journal lines', () => {
  itSays(CLEAR_DETAILS, {
    settledRun: [['f\nlow', 'failed', 'settled the workflow "f low" (failed)']],
    leftSteps: [[['commit', 'push'], 'steps not ticked: "commit", "push"']],
  })
})

describe('the words of clear', () => {
  itSays(CLEAR_TEXT, {
    noFolder: [['7', '/p', 'nothing to clear: no folder for task 7 in /p']],
    cleared: [
      ['specs/7_x', ['a', 'b'], ['kept', 'late'], false, 'cleared specs/7_x: a, b (kept) (late)'],
      ['specs/7_x', ['a'], [], true, 'would clear specs/7_x: a'],
    ],
    leftSteps: [[['commit', 'push'], 'not ticked: "commit", "push"']],
    keptTexts: [
      [['a', 'b'], false, 'its text does not parse and is kept as a, b'],
      [['a'], true, 'its text does not parse and would be kept as a'],
    ],
    ofOtherSession: [['s\n2', 'it belonged to session s 2']],
    settled: [
      ['specs/7_x', 'removed', false, 'settled specs/7_x: its marker was removed by hand, and its file is gone'],
      ['specs/7\n_x', 'abandoned', true, 'would settle specs/7 _x: its marker was given up, and its file is gone'],
    ],
    settledRun: [
      [
        'specs/7_x',
        'flow',
        'failed',
        'resume it',
        false,
        'settled specs/7_x: status no longer lists its workflow "flow" (failed); to continue it: resume it',
      ],
      [
        'specs/7\n_x',
        'f\nlow',
        'aborted',
        null,
        true,
        'would settle specs/7 _x: status no longer lists its workflow "f low" (aborted)',
      ],
    ],
    ownRun: [
      [
        'specs/7_x',
        'flow',
        'failed',
        'clear it',
        'specs/7_x: status still lists its workflow "flow" (failed), because the session that ran it cannot settle it. In a terminal: clear it',
      ],
    ],
    runGoesOn: [['specs/7_x', 'stop it', 'specs/7_x: the workflow goes on; to stop it: stop it']],
    notCleared: [['specs/7_x', 'EACCES', 'postflight: specs/7_x cannot be read (EACCES), so it was not cleared']],
  })
})

describe('the words of bypass', () => {
  itSays(BYPASS_TEXT, {
    nextStop: [['specs/7_x', 'specs/7_x: the next stop goes through and removes it']],
    stopped: [['specs/7_x', 'resume it', 'specs/7_x: the workflow was stopped; to continue it: resume it']],
  })
})

describe('the words of step', () => {
  itSays(STEP_TEXT, {
    line: [
      [1, 'git commit', true, 0, '✓ 1. git commit (all done: clear the marker)'],
      [1, 'git commit', false, 2, '· 1. git commit (2 to go)'],
    ],
  })
})

describe('the words of inspect', () => {
  itSays(INSPECT_TEXT, {
    noMarkers: [['/p/specs', 'no markers in /p/specs']],
    age: [['3 h', '3 h old']],
    spent: [[1, 3, '1 of 3 stops blocked']],
    owner: [
      ['s1', null, null, 'owner: session s1, agent not known yet'],
      ['s1', 'a7', 'coder', 'owner: session s1, agent a7, type coder'],
    ],
    reason: [['status update', 'reason: status update']],
    waits: [['the answer', 'waits for: the answer']],
    check: [
      ['npm test', null, 'check: npm test'],
      ['npm test', 'exit code 1', 'check: npm test (failed the last time: exit code 1)'],
    ],
    unreadable: [['EACCES', 'cannot be read (EACCES)']],
    noCount: [['not a number', 'has a count that cannot be read (not a number)']],
  })
})

describe('the words of logs', () => {
  itSays(LOGS_TEXT, {
    continuation: [['2 of 3', 'blocked stop 2 of 3']],
    session: [['s1', 'session s1']],
    agent: [['a7', 'agent a7']],
  })
})

describe('a problem of the journal', () => {
  itSays(
    { notInJournal },
    {
      notInJournal: [
        [{ kind: 'not-recorded', detail: 'EACCES' }, 'postflight: not recorded in the journal: EACCES'],
        [
          { kind: 'not-rotated', detail: 'EACCES' },
          'postflight: the journal is too long and cannot be rotated: EACCES',
        ],
      ],
    },
  )
})

describe('errors of usage', () => {
  itSays(USAGE_TEXT, {
    missingCommand: [['postflight --help', 'Missing command: `postflight --help` lists the commands.']],
    missingOption: [
      [
        '--definition',
        'postflight workflow start --help',
        'Missing option --definition. See `postflight workflow start --help`.',
      ],
    ],
    parserSays: [
      ["unknown option '--forse'", 'postflight --help', "Unknown option '--forse'. See `postflight --help`."],
      ['Too many arguments.', 'postflight --help', 'Too many arguments. See `postflight --help`.'],
    ],
    meantOption: [['all\n', '--all', 'Task "all" does not exist: did you mean --all?']],
    didYouMean: [
      [['clear'], '(Did you mean clear?)'],
      [['clear', 'create'], '(Did you mean one of clear, create?)'],
    ],
  })
})

describe('what the value of an option must be', () => {
  itSays(OPTION_EXPECTATIONS, {
    atMostCharacters: [[200, 'must have at most 200 characters']],
    roomForChecks: [[19, 20, 'can add at most 1 check to this marker, which has 19 (the limit is 20)']],
    seconds: [[999_999, 'takes a number of seconds from 1 to 999999']],
    atMostTimes: [[20, 'can be given at most 20 times']],
    oneOf: [[['user', 'project', 'local'], 'must be one of user, project, local']],
    failures: [
      [['plan', 'work/1 to work/3'], 'takes PHASE:COUNT or PHASE/STEP:COUNT (plan, work/1 to work/3)'],
      [[], 'takes PHASE:COUNT or PHASE/STEP:COUNT (this workflow has no such phase)'],
      [[`a${'b'.repeat(600)}`], `takes PHASE:COUNT or PHASE/STEP:COUNT (a${'b'.repeat(498)}…)`],
    ],
    phaseCase: [
      [['triage=bug', 'triage=idea'], 'takes PHASE=CASE (triage=bug, triage=idea)'],
      [[], 'takes PHASE=CASE (this workflow has no such phase)'],
    ],
    phaseSteps: [[['work', 'list'], 1000, 'takes PHASE=COUNT with at most 1000 steps (work, list)']],
  })
})
