import { describe, expect, it } from 'vitest'
import {
  CLEAR_TEXT,
  CONFLICTING_OWNERS,
  EXPLAIN_TEXT,
  INSPECT_TEXT,
  JOURNAL_DETAILS,
  notInJournal,
  STEP_TEXT,
} from '../../src/core/messages/commands.ts'
import { INSTALL_TEXT } from '../../src/core/messages/settings.ts'
import { NEXT_TEXT, SIMULATE_TEXT, STATUS_TEXT, VALIDATE_TEXT } from '../../src/core/messages/workflow-commands.ts'

/** Sentences of commands, with and without the facts that may be missing. */

describe('the words of marker commands', () => {
  it.each([
    [EXPLAIN_TEXT.whose('s1', 'main'), 'of session s1, agent main'],
    [EXPLAIN_TEXT.whose(undefined, undefined), 'of session (unknown), agent (unknown)'],
    [CONFLICTING_OWNERS.unowned('sess_1'), 'pending without a host session (sess_1)'],
    [CONFLICTING_OWNERS.unowned(undefined), 'pending without a host session'],
    [JOURNAL_DETAILS.replaced('pf_1'), 'replaced pf_1'],
    [JOURNAL_DETAILS.replaced(undefined), 'replaced an older marker'],
    [JOURNAL_DETAILS.step('git commit', true), 'done: git commit'],
    [JOURNAL_DETAILS.step('git commit', false), 'undone: git commit'],
    [CLEAR_TEXT.cleared('specs/1_x', ['a', 'b'], ['kept'], false), 'cleared specs/1_x: a, b (kept)'],
    [CLEAR_TEXT.cleared('specs/1_x', ['a'], [], true), 'would clear specs/1_x: a'],
    [STEP_TEXT.line(1, 'git commit', true, 0), '✓ 1. git commit (all done: clear the marker)'],
    [STEP_TEXT.line(1, 'git commit', false, 2), '· 1. git commit (2 to go)'],
    [INSPECT_TEXT.owner('s1', null, null), 'owner: session s1, agent not known yet'],
    [INSPECT_TEXT.owner('s1', 'a7', 'coder'), 'owner: session s1, agent a7, type coder'],
    [INSPECT_TEXT.check('npm test', null), 'check: npm test'],
    [INSPECT_TEXT.check('npm test', 'exit code 1'), 'check: npm test (failed the last time: exit code 1)'],
    [notInJournal({ kind: 'not-recorded', detail: 'EACCES' }), 'postflight: not recorded in the journal: EACCES'],
    [
      notInJournal({ kind: 'not-rotated', detail: 'EACCES' }),
      'postflight: the journal is too long and cannot be rotated: EACCES',
    ],
  ])('%s', (said, words) => {
    expect(said).toBe(words)
  })
})

describe('the words of install and uninstall', () => {
  const NOTHING = { entry: false, reactive: false, permissions: false }

  it.each([
    [INSTALL_TEXT.installed('hook', 'f', false), 'Installed the hook in f'],
    [INSTALL_TEXT.installed('plugin', 'f', true), 'Would install the plugin in f'],
    [INSTALL_TEXT.alreadyInstalled('hook', 'f'), 'The hook is already in f'],
    [INSTALL_TEXT.alreadyInstalled('reactive rules', 'f'), 'The reactive rules are already in f'],
    [INSTALL_TEXT.removed('hook', { ...NOTHING, entry: true }, 'f', false), 'Removed the hook from f'],
    [INSTALL_TEXT.removed('hook', NOTHING, 'f', true), 'Would remove the hook from f'],
    [INSTALL_TEXT.removed('hook', { ...NOTHING, reactive: true }, 'f', false), 'Removed the reactive rules from f'],
    [
      INSTALL_TEXT.removed('hook', { entry: true, reactive: true, permissions: true }, 'f', false),
      'Removed the hook, the reactive rules and our permission rules from f',
    ],
    [INSTALL_TEXT.removedLines('f', true), 'Would remove our lines from f'],
    [INSTALL_TEXT.removedLines('f', false), 'Removed our lines from f'],
    [INSTALL_TEXT.removedWhole('f', true), 'Would remove f'],
    [INSTALL_TEXT.removedWhole('f', false), 'Removed f'],
    [INSTALL_TEXT.removedFile('f', true), 'Would remove f: it held nothing else'],
    [INSTALL_TEXT.removedFile('f', false), 'Removed f: it held nothing else'],
  ])('%s', (said, words) => {
    expect(said).toBe(words)
  })
})

describe('the words of workflow commands', () => {
  it.each([
    [STATUS_TEXT.stopping(true), 'stopping after this step'],
    [STATUS_TEXT.stopping(false), 'stopping after this phase'],
    [NEXT_TEXT.prompt('make', undefined, 1), 'prompt: phase make, attempt 1'],
    [NEXT_TEXT.prompt('make', 2, 3), 'prompt: phase make, step 2, attempt 3'],
    [NEXT_TEXT.finish('completed', undefined), 'finish: completed'],
    [NEXT_TEXT.finish('stalled', 'the budget is spent'), 'finish: stalled (the budget is spent)'],
    [SIMULATE_TEXT.path('x', ['a', 'b'], 'completed', undefined), 'x: a → b → completed'],
    [SIMULATE_TEXT.path('x', ['a'], undefined, 'too many'), 'x: a → … (too many)'],
    [VALIDATE_TEXT.valid('x', 1, 3, undefined), 'x: 1 phase, at most 3 prompts'],
    [VALIDATE_TEXT.valid('x', 2, 30, 1000), 'x: 2 phases, at most 30 prompts (steps not known yet count as 1000)'],
  ])('%s', (said, words) => {
    expect(said).toBe(words)
  })
})
