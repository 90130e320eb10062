import { describe } from 'vitest'
import { DRIVER_TEXT, GRAPH_TEXT, PROMPT_TEXT, RUN_RECORDS, WORKFLOW_TEXT } from '../../src/run/run-messages.ts'
import { itSays } from './sentences.ts'

describe('the reasons for the state of a run', () => {
  itSays(WORKFLOW_TEXT, {
    noArtifact: [['plan.md', 'plan.md is missing']],
    noStepResult: [['step-1.json', 'step-1.json is missing']],
    stepSaysFailed: [['step-1.json', 'step-1.json says that the step failed']],
    stepExhausted: [
      [2, 1, 'no file', 'step 2 failed once: no file'],
      [2, 3, 'no file', 'step 2 failed 3 times, most recently: no file'],
    ],
    tooManyFailed: [
      [1, 1, 'step 1 failed', 'step 1 failed'],
      [3, 3, 'step 3 failed', 'all 3 steps failed; step 3 failed'],
      [2, 3, 'step 3 failed', '2 of 3 steps failed, more than max_skips allows; step 3 failed'],
    ],
    promptsSpent: [
      [
        1,
        1,
        1,
        'the budget is spent: 1 prompt of at most 1 (max_prompts). A resume does not renew it: `postflight workflow start <task> --definition FILE --fresh` begins a new run',
      ],
      [
        9,
        3,
        10,
        'the budget is spent: 9 prompts of at most 10 (max_prompts), and 3 more were due. A resume does not renew it: `postflight workflow start <task> --definition FILE --fresh` begins a new run',
      ],
    ],
    minutesSpent: [
      [
        1,
        'the budget is spent: 1 minute of work (max_minutes). A resume does not renew it: `postflight workflow start <task> --definition FILE --fresh` begins a new run',
      ],
      [
        60,
        'the budget is spent: 60 minutes of work (max_minutes). A resume does not renew it: `postflight workflow start <task> --definition FILE --fresh` begins a new run',
      ],
    ],
    exhausted: [
      [1, 'no file', '1 attempt failed: no file'],
      [3, 'no file', '3 attempts failed, most recently: no file'],
    ],
    visitsSpent: [
      ['plan', 1, 'phase "plan" was already entered once, its limit (max_visits)'],
      ['plan', 3, 'phase "plan" was already entered 3 times, its limit (max_visits)'],
    ],
    endedOnFail: [['review', 'the verdict of phase "review" was "fail", which ends the workflow']],
    sentBack: [['review', 'fail', 'the verdict of phase "review" was "fail": find out why, and fix it']],
    wentOnWithout: [
      [1, '1 step or artifact was skipped (`postflight workflow history <task>` says which)'],
      [2, '2 steps or artifacts were skipped (`postflight workflow history <task>` says which)'],
    ],
    rejected: [['too short', 'a person rejected it: too short']],
    passedOver: [['c', 'resume --from c']],
    awaitsApproval: [
      [
        '7_x',
        'specs/007_x/plan.md',
        'postflight workflow approve 7',
        'postflight workflow reject 7',
        'postflight-guard: the workflow of task 7_x needs your approval: read specs/007_x/plan.md, then `postflight workflow approve 7` or `postflight workflow reject 7 --reason TEXT`. Then tell the agent to go on.',
      ],
    ],
    running: [['flow', 'phase plan, attempt 1 of 3', 'the workflow "flow" is running: phase plan, attempt 1 of 3']],
    over: [['flow', 'stalled', 'the workflow "flow" has ended (stalled)']],
    ended: [
      [
        '7_x',
        'completed',
        undefined,
        'postflight workflow resume 7',
        'postflight-guard: the workflow of task 7_x has ended (completed).',
      ],
      [
        '7_x',
        'stalled',
        'no file',
        'postflight workflow resume 7',
        'postflight-guard: the workflow of task 7_x has ended (stalled): no file. `postflight workflow resume 7` continues it.',
      ],
      [
        '7_x',
        'stopped',
        undefined,
        'postflight workflow resume 7',
        'postflight-guard: the workflow of task 7_x has ended (stopped). `postflight workflow resume 7` continues it.',
      ],
    ],
    unusable: [
      [
        'specs/7_x',
        'EACCES',
        'postflight-guard: the workflow in specs/7_x could not continue (EACCES), so the stop was allowed.',
      ],
    ],
    unfinished: [
      [
        '7_x',
        'postflight-guard: the workflow of task 7_x has more finished phases than one stop has time to check, so the stop was allowed. It continues at the next stop.',
      ],
    ],
    heard: [
      [
        '7_x',
        'postflight workflow stop 7_x --now',
        'postflight-guard: you interrupted the workflow of task 7_x, so this stop was allowed. The workflow goes on after your next message; `postflight workflow stop 7_x --now` ends it.',
      ],
    ],
    checkNotRun: [
      [
        'npm test',
        'postflight workflow check 7',
        'the check `npm test` was not run: `postflight workflow check 7` runs it',
      ],
    ],
    checkVoid: [
      [
        'npm test',
        'src/a.ts',
        'postflight workflow check 7',
        'src/a.ts changed after the check `npm test` had run, so its result no longer counts: `postflight workflow check 7` runs it again',
      ],
    ],
    checkFailed: [
      [
        'npm test',
        { kind: 'exited', exitCode: 1 },
        'postflight workflow check 7',
        'the check `npm test` failed (exit code 1); `postflight workflow check 7` runs it again. The end of its output:',
      ],
    ],
    kind: [['plan.md', 'a folder', 'plan.md is a folder, not a file']],
    unreadable: [['plan.md', 'EACCES', 'plan.md cannot be read (EACCES)']],
    tooSmall: [
      ['plan.md', 1, 200, 'plan.md has 1 byte, but must have at least 200'],
      ['plan.md', 20, 200, 'plan.md has 20 bytes, but must have at least 200'],
    ],
    tooLarge: [['plan.md', 1048576, 'plan.md is larger than 1048576 bytes, too large to be checked']],
    notJson: [['plan.json', 'Unexpected token', 'plan.json is not JSON (Unexpected token)']],
    notStepResult: [['step-1.json', 'step-1.json must have a "success" that is true or false']],
    breach: [
      [
        'plan.json',
        '',
        'type',
        'object',
        'plan.json does not match its schema: the whole value must satisfy type: object',
      ],
      [
        'plan.json',
        '/steps',
        'minItems',
        '1',
        'plan.json does not match its schema: the value at "/steps" must satisfy minItems: 1',
      ],
      ['plan.json', '/x', 'false', '', 'plan.json does not match its schema: the value at "/x" is not allowed'],
    ],
    checkTooLong: [
      [
        'a.json',
        250_000,
        'a.json cannot be checked: its schema needs more than 250000 steps for it. Make the file or the schema smaller',
      ],
    ],
    noVerdict: [['r.json', '/passed', 'r.json has no verdict at "/passed": it must be true, false, "pass" or "fail"']],
    noCase: [['r.json', '/kind', '"bug", "idea"', 'r.json has no verdict at "/kind": it must be one of "bug", "idea"']],
    noStepsFile: [
      [
        'plan.json',
        'plan.json, which lists the steps, is missing: create it, then run `postflight workflow resume <task>`',
      ],
    ],
    mendSteps: [
      ['plan.json is missing', 'plan.json is missing: fix the file, then run `postflight workflow resume <task>`'],
    ],
    noSteps: [['plan.json', '/steps', 'plan.json has no list of steps at "/steps"']],
    noTasks: [['plan.md', 'plan.md has no task list (lines such as "- [ ] a task")']],
    tooDeep: [['plan.json', 'plan.json is nested too deeply to be read']],
    notUtf8: [['plan.json', 'plan.json is not UTF-8']],
    tooManySteps: [['plan.json', 300, 200, 'plan.json lists 300 steps, more than the maximum of 200']],
  })
})

describe('who drives a run', () => {
  itSays(DRIVER_TEXT, {
    drives: [['s1', 'session s1 drives it']],
    noSession: [
      [
        'postflight workflow resume 7',
        'It has no session. For prompts from the hook, the agent runs this in its shell: postflight workflow resume 7',
      ],
    ],
    askForEach: [['postflight workflow next 7', 'Get each prompt with: postflight workflow next 7']],
    endTurn: [
      [
        'postflight workflow next 7',
        'If the hook is installed, end your turn now: the prompts come automatically. Otherwise get each one with: postflight workflow next 7',
      ],
    ],
    noHook: [
      [
        'the hook is not installed',
        'postflight install',
        'postflight workflow next 7',
        'No prompt will come automatically, because the hook is not installed: postflight install, then start a new session and resume there. Or get each prompt with: postflight workflow next 7 (If the hook is wired in another way, end your turn now.)',
      ],
    ],
    afterInit: [
      [
        'postflight workflow next 7',
        'No prompt will come automatically until the hook is set up (`postflight init`) and a new session resumes the run. Until then, get each prompt with: postflight workflow next 7',
      ],
    ],
    inWorktree: [
      [
        '/p',
        'This is a linked worktree of /p: the run is stored in the worktree and is removed with it, and only a session whose folder is in the worktree gets its prompts. Settings that git does not track (settings.local.json) are not there.',
      ],
    ],
    takenFrom: [['s1', 'taken over from session s1, where it was running']],
    isElsewhere: [
      [
        's1',
        'postflight workflow resume 7',
        true,
        'session s1 drives this workflow; `postflight workflow status` shows how far it is. `postflight workflow resume 7` takes it over.',
      ],
      [
        's1',
        'postflight workflow resume 7',
        false,
        "session s1 drives this workflow; `postflight workflow status` shows how far it is. To take it over, run `postflight workflow resume 7` in the agent's shell, or set POSTFLIGHT_HOST_SESSION for both commands.",
      ],
    ],
  })
})

describe('the parts of a prompt', () => {
  itSays(PROMPT_TEXT, {
    standard: [
      [true, 'Do this step of the work: {{step}}'],
      [false, 'All steps of this phase have ended. Write down their results.'],
    ],
    title: [
      ['flow', '7_x', 'make', undefined, 1, 3, 'Workflow "flow", task 7_x: phase "make", attempt 1 of 3.'],
      [
        'flow',
        '7_x',
        'make',
        'step 2 of 5',
        2,
        3,
        'Workflow "flow", task 7_x: phase "make", step 2 of 5, attempt 2 of 3.',
      ],
    ],
    failure: [['no file', 'Problem with the last result: no file']],
    before: [['cut', 'The file was there before this attempt, and is not valid: cut']],
    ledBy: [
      ['review', undefined, undefined, 1, 'This phase follows the phase "review".'],
      [
        'review',
        'fail',
        undefined,
        2,
        'This is visit 2 of this phase. It follows the phase "review", whose verdict was "fail".',
      ],
      ['review', 'fail', 'too short', 1, 'This phase follows the phase "review", whose verdict was "fail":\ntoo short'],
    ],
    previousArtifact: [['old/plan.md', 'The previous result is now in the file old/plan.md.']],
    artifact: [
      ['plan.md', [], 'Write the result of this phase to the file plan.md.'],
      [
        'plan.json',
        ['it must be JSON', 'it must have at least 2 bytes'],
        'Write the result of this phase to the file plan.json:\n- it must be JSON\n- it must have at least 2 bytes',
      ],
    ],
    minBytes: [
      [1, 'it must have at least 1 byte'],
      [200, 'it must have at least 200 bytes'],
    ],
    schema: [['{"type":"object"}', 'it must match this JSON Schema: {"type":"object"}']],
    verdict: [
      ['/passed', 'at the JSON pointer /passed it must have true or "pass" if all is well, false or "fail" if not'],
    ],
    caseVerdict: [
      ['/kind', ['bug', 'idea'], false, 'at the JSON pointer /kind it must have one of these strings: "bug", "idea"'],
      ['/kind', ['bug'], true, 'at the JSON pointer /kind it must have a string, such as one of these: "bug"'],
    ],
    batchTitle: [
      [
        'flow',
        '7_x',
        'make',
        'steps 1, 2 and 3 of 5',
        'Workflow "flow", task 7_x: phase "make", steps 1, 2 and 3 of 5, at the same time.',
      ],
    ],
    batch: [
      [
        [
          { step: 1, agent: undefined, model: undefined, prompt: 'Do one.' },
          { step: 2, agent: 'coder', model: 'haiku', prompt: 'Do two.' },
        ],
        'Start 2 sub-agents in one message, so that they work at the same time: one for each part below. Give each its part word for word, and wait for all of them. When all have finished, end your turn.\n\n=== step 1 ===\nDo one.\n\n=== step 2, a sub-agent of the type coder, with the model haiku ===\nDo two.',
      ],
    ],
    stepSchema: [['{"type":"object"}', 'If it succeeded, that JSON must match this JSON Schema: {"type":"object"}']],
    stepResult: [
      [
        'step-1.json',
        'When the step is done, write {"success": true} to the file step-1.json. If it could not be done, write {"success": false, "summary": "<what went wrong>"}.',
      ],
    ],
    check: [
      [
        'npm test',
        'postflight workflow check 7',
        'Then run `postflight workflow check 7`. It runs the check `npm test`, which must succeed; give that shell call enough time. If it fails, fix what it shows and run it again.',
      ],
    ],
    dispatch: [
      [
        undefined,
        undefined,
        'Hand the following to a sub-agent, word for word, and wait for it. When it has finished, end your turn.',
      ],
      [
        'coder',
        undefined,
        'Hand the following to a sub-agent of the type coder, word for word, and wait for it. When it has finished, end your turn.',
      ],
      [
        'coder',
        'haiku',
        'Hand the following to a sub-agent of the type coder with the model haiku, word for word, and wait for it. When it has finished, end your turn.',
      ],
    ],
    askToWait: [
      [
        '7_x',
        ['npm test'],
        'postflight wait 7 --for',
        'The workflow of task 7_x waits for the result of its last prompt, and work that you started is running in the background: "npm test". If you are waiting for that: postflight wait 7 --for "<what>", then end your turn. Otherwise go on with the prompt, and write its result.',
      ],
      [
        '7_x',
        ['a', 'b', 'c', 'd', 'e', 'f'],
        'postflight wait 7 --for',
        'The workflow of task 7_x waits for the result of its last prompt, and work that you started is running in the background: "a", "b", "c", "d", "e". If you are waiting for that: postflight wait 7 --for "<what>", then end your turn. Otherwise go on with the prompt, and write its result.',
      ],
    ],
    follows: [
      ['Workflow "flow".', 'stop it', 'Workflow "flow". The prompt follows. (A person ends the run with: stop it)'],
    ],
    inFile: [
      [
        'specs/7_x/.postflight-prompt.md',
        'Read specs/7_x/.postflight-prompt.md and do exactly what it says. It is the next prompt of a running workflow, and too long to be shown here.',
      ],
    ],
  })
})

describe('the labels of a diagram', () => {
  itSays(GRAPH_TEXT, {
    steps: [
      [1, '1 step'],
      [2, '2 steps'],
    ],
    stepsFrom: [['plan.json', 'steps from plan.json']],
    atOnce: [[3, '3 at once']],
  })
})

describe('what the journal says of a run', () => {
  itSays(RUN_RECORDS, {
    started: [['flow', 'started: flow']],
    prompt: [
      ['make', undefined, 1, false, 'prompt: make, attempt 1'],
      ['make', 'step 2 of 5: test', 3, true, 'prompt again: make, step 2 of 5: test, attempt 3'],
      ['make', 'steps 1, 2 and 5 of 5', undefined, false, 'prompt: make, steps 1, 2 and 5 of 5'],
    ],
  })
})
