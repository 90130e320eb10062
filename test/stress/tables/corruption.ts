/** The table: each of our files × each way to break it, with the answers of the hook and of each command. */

export const STOPS = 5

export const COMMANDS = {
  inspect: ['inspect'],
  explain: ['explain', '--payload', 'PAYLOAD'],
  doctor: ['doctor'],
  logs: ['logs'],
  create: ['create', '7', 'x', '--operation', 'implement'],
  force: ['create', '7', 'x', '--operation', 'research', '--force'],
  step: ['step', '7', '1'],
  adopt: ['adopt', '7'],
  bypass: ['bypass', '7'],
  clear: ['clear', '7'],
  'clear-all': ['clear', '--all'],
  orphaned: ['clear', '--orphaned'],
  install: ['install'],
  uninstall: ['uninstall'],
} as const satisfies Record<string, readonly string[]>

export type Command = keyof typeof COMMANDS

interface SubjectFacts {
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** True when its bytes must be kept if they cannot be parsed. A count and a lock are not evidence. */
  readonly isEvidence: boolean
  /** The commands that open it; the others are tested with a healthy project only. */
  readonly commands: readonly Command[]
}

const subject =
  (kind: 'file' | 'folder', isEvidence: boolean) =>
  (path: string, commands: string): SubjectFacts => ({
    ...{ path: path.replace(/^\.postflight-/, 'specs/007_x/$&'), kind, isEvidence },
    commands: commands.split(' ') as Command[],
  })
const file = subject('file', false)
const evidence = subject('file', true)
const folder = subject('folder', false)

const ON_MARKERS = 'inspect explain doctor create force step adopt bypass clear clear-all orphaned'
const ON_COUNTS = 'inspect explain create force step bypass clear'
const ON_ABANDONED = 'inspect doctor create adopt clear clear-all orphaned'
const ON_GIVEN_UP = 'inspect explain create step adopt clear'
const ON_SETTINGS = 'doctor install uninstall'

export const SUBJECTS = {
  marker: evidence('.postflight-pending', ON_MARKERS),
  'loop guard': file('.postflight-loop-guard', ON_COUNTS),
  'claims folder': folder('.postflight-claims', ON_COUNTS),
  claim: file('.postflight-claims/pf_aaaabbbbcccc.1', ON_COUNTS),
  'abandoned marker': evidence('.postflight-abandoned', ON_ABANDONED),
  'abandoned, alone': evidence('.postflight-abandoned', ON_ABANDONED),
  lock: file('.postflight-lock', 'create step bypass clear'),
  'unparsed copy': evidence('.postflight-unparsed', 'force adopt bypass clear'),
  journal: evidence('specs/.postflight/journal.jsonl', 'logs create clear'),
  'journal folder': folder('specs/.postflight', 'logs create clear'),
  'reports folder': folder('specs/.postflight/reports', 'create'),
  report: file('specs/.postflight/reports/agent-a', 'create'),
  'given-up note': file('specs/.postflight/given-up/007_x', ON_GIVEN_UP),
  'given-up folder': folder('specs/.postflight/given-up', ON_GIVEN_UP),
  settings: evidence('.claude/settings.json', ON_SETTINGS),
  'settings folder': folder('.claude', ON_SETTINGS),
  'task folder': folder('specs/007_x', ON_MARKERS),
  'specs folder': folder('specs', `${ON_MARKERS} logs`),
}

export type Subject = keyof typeof SUBJECTS

export const CORRUPTIONS = [
  ...(['missing', 'empty', 'one byte', 'half', 'garbage', 'wrong type', 'huge', 'folder'] as const),
  ...(['link out', 'dangling link', 'link to itself', 'pipe', 'unreadable', 'unreadable (root)'] as const),
  ...(['not writable', 'not writable (root)', 'future', 'byte-order mark', 'CRLF'] as const),
]

export type Corruption = (typeof CORRUPTIONS)[number]

export interface Row {
  readonly when: readonly Corruption[]
  /**
   * The hook's answers to SessionStart, PostToolUse, and `STOPS` stops in a row, after one continuation that was spent
   * before: B block, n an allow with a notice for the user, c context for the session, - nothing.
   */
  readonly hook: string
  /** The exit codes of the subject's commands, in their order. */
  readonly codes: string
}

/** Root may read and write everything, so these are not corruptions for root. */
const ROOTS_OWN: readonly Corruption[] = ['unreadable (root)', 'not writable (root)']
const UNPARSED: readonly Corruption[] = ['one byte', 'half', 'garbage', 'wrong type', 'huge']
const NO_FILE: readonly Corruption[] = ['folder', 'link out', 'dangling link', 'link to itself', 'pipe']
const NO_FOLDER: readonly Corruption[] = ['one byte', 'link out', 'dangling link', 'link to itself', 'pipe']
const UNDERSTOOD: readonly Corruption[] = [...ROOTS_OWN, 'future', 'byte-order mark', 'CRLF']
/** Changes after which a lock or a claim is still what it is by its name. */
const BY_NAME: readonly Corruption[] = ['missing', 'empty', ...UNPARSED, 'unreadable', ...UNDERSTOOD]
const USABLE: readonly Corruption[] = ['missing', 'empty', 'huge', ...ROOTS_OWN, 'future']

/** A folder has no text; "one byte" puts a file in its place. */
export const NOT_OF_FOLDERS: readonly Corruption[] = [
  'half',
  'garbage',
  'wrong type',
  'folder',
  'byte-order mark',
  'CRLF',
]

export const TABLE: Readonly<Record<Subject, readonly Row[]>> = {
  // inspect explain doctor create force step adopt bypass clear clear-all orphaned
  marker: [
    { when: ['missing'], hook: '-- -----', codes: '0 0 0 0 0 1 1 1 0 0 0' },
    // Any file of that name is an unowned marker. Its owner is not known, so `create` requires --force.
    { when: ['empty', ...UNPARSED], hook: 'c- BBn--', codes: '0 0 1 1 0 65 0 0 0 0 0' },
    { when: UNDERSTOOD, hook: 'c- BBn--', codes: '0 0 0 0 0 0 0 0 0 0 0' },
    { when: [...NO_FILE, 'unreadable'], hook: '-- nnnnn', codes: '0 0 1 65 65 65 65 65 65 65 0' },
    { when: ['not writable'], hook: 'c- nnnnn', codes: '0 0 1 73 73 73 73 73 73 73 0' },
  ],
  // inspect explain create force step bypass clear
  'loop guard': [
    // The claims hold the count.
    { when: ['missing', 'empty', ...UNPARSED, ...UNDERSTOOD], hook: 'c- BBn--', codes: '0 0 0 0 0 0 0' },
    // Nothing can be counted, so nothing is blocked. A new marker or `clear` may remove a link or a pipe.
    {
      when: ['link out', 'dangling link', 'link to itself', 'pipe', 'unreadable'],
      hook: 'c- nnnnn',
      codes: '0 0 73 0 73 73 0',
    },
    { when: ['folder', 'not writable'], hook: 'c- nnnnn', codes: '0 0 73 73 73 73 73' },
  ],
  'claims folder': [
    // The loop guard holds the count.
    { when: USABLE, hook: 'c- BBn--', codes: '0 0 0 0 0 0 0' },
    { when: [...NO_FOLDER, 'not writable'], hook: 'c- nnnnn', codes: '0 0 0 0 0 0 0' },
    { when: ['unreadable'], hook: 'c- nnnnn', codes: '0 0 73 73 73 73 73' },
  ],
  claim: [
    // A claim is its name: its text and its kind do not matter.
    { when: [...BY_NAME, ...NO_FILE], hook: 'c- BBn--', codes: '0 0 0 0 0 0 0' },
    { when: ['not writable'], hook: 'c- nnnnn', codes: '0 0 0 0 0 0 0' },
  ],
  // inspect doctor create adopt clear clear-all orphaned
  'abandoned marker': [
    { when: ['missing'], hook: 'c- BBn--', codes: '0 0 0 0 0 0 0' },
    { when: ['empty', ...UNPARSED, ...UNDERSTOOD], hook: 'c- BBn--', codes: '0 1 0 0 0 0 0' },
    { when: [...NO_FILE, 'unreadable'], hook: 'c- BBn--', codes: '0 1 0 0 65 65 0' },
    { when: ['not writable'], hook: 'c- nnnnn', codes: '0 1 73 73 73 73 0' },
  ],
  'abandoned, alone': [
    { when: ['missing'], hook: '-- -----', codes: '0 0 0 1 0 0 0' },
    { when: ['empty', ...UNPARSED, ...UNDERSTOOD], hook: 'c- -----', codes: '0 1 0 0 0 0 0' },
    { when: [...NO_FILE, 'unreadable'], hook: '-- -----', codes: '0 1 0 65 65 65 65' },
    // It is this session's, so `--orphaned` leaves it.
    { when: ['not writable'], hook: 'c- -----', codes: '0 1 73 73 73 73 0' },
  ],
  // create step bypass clear
  lock: [
    // The lock is stale: its text does not matter, and claims do not need it.
    { when: BY_NAME, hook: 'c- BBn--', codes: '0 0 0 0' },
    // Without the lock no marker is abandoned; the stop is still allowed.
    { when: NO_FILE, hook: 'c- BBnnn', codes: '65 65 65 65' },
    { when: ['not writable'], hook: 'c- nnnnn', codes: '73 73 73 73' },
  ],
  // force adopt bypass clear
  'unparsed copy': [
    // The next copy takes another name, whatever has this one.
    { when: [...BY_NAME, ...NO_FILE], hook: 'c- BBn--', codes: '0 0 0 0' },
    { when: ['not writable'], hook: 'c- nnnnn', codes: '73 73 73 73' },
  ],
  // logs create clear
  journal: [
    {
      when: ['missing', 'empty', 'one byte', 'half', 'garbage', 'wrong type', 'not writable', ...UNDERSTOOD],
      hook: 'c- BBn--',
      codes: '0 0 0',
    },
    // The journal is a record, never an input: only `logs` fails.
    { when: [...NO_FILE, 'unreadable'], hook: 'c- BBn--', codes: '65 0 0' },
    // Only its end is read.
    { when: ['huge'], hook: 'c- BBn--', codes: '0 0 0' },
  ],
  'journal folder': [
    { when: [...USABLE, 'not writable'], hook: 'c- BBn--', codes: '0 0 0' },
    { when: [...NO_FOLDER, 'unreadable'], hook: 'c- BBn--', codes: '65 0 0' },
  ],
  // create. The block stands, whatever lies in the place of a report.
  'reports folder': [{ when: [...USABLE, ...NO_FOLDER, 'unreadable', 'not writable'], hook: 'c- BBn--', codes: '0' }],
  report: [{ when: [...BY_NAME, ...NO_FILE, 'not writable'], hook: 'c- BBn--', codes: '0' }],
  // inspect explain create step adopt clear
  'given-up note': [
    // It names the marker, so no stop is blocked; only the very line counts.
    { when: [...ROOTS_OWN, 'not writable', 'future'], hook: 'c- n----', codes: '0 0 0 0 0 0' },
    {
      when: ['missing', 'empty', ...UNPARSED, ...NO_FILE, 'unreadable', 'byte-order mark', 'CRLF'],
      hook: 'c- BBBn-',
      codes: '0 0 0 0 0 0',
    },
  ],
  'given-up folder': [
    { when: ['huge', ...ROOTS_OWN, 'not writable', 'future'], hook: 'c- n----', codes: '0 0 0 0 0 0' },
    { when: ['missing', 'empty', ...NO_FOLDER, 'unreadable'], hook: 'c- BBBn-', codes: '0 0 0 0 0 0' },
  ],
  // doctor install uninstall
  settings: [
    { when: ['missing', 'empty'], hook: 'c- BBn--', codes: '1 0 0' },
    { when: [...UNPARSED, ...NO_FILE, 'unreadable'], hook: 'c- BBn--', codes: '1 65 65' },
    { when: UNDERSTOOD, hook: 'c- BBn--', codes: '0 0 0' },
    // The hook is installed already, so there is nothing to write.
    { when: ['not writable'], hook: 'c- BBn--', codes: '0 0 73' },
  ],
  'settings folder': [
    { when: ['missing', 'empty'], hook: 'c- BBn--', codes: '1 0 0' },
    { when: ['one byte', 'pipe'], hook: 'c- BBn--', codes: '1 73 0' },
    { when: ['link out', 'dangling link', 'link to itself', 'unreadable'], hook: 'c- BBn--', codes: '1 65 65' },
    { when: ['huge', ...ROOTS_OWN, 'future'], hook: 'c- BBn--', codes: '0 0 0' },
    { when: ['not writable'], hook: 'c- BBn--', codes: '0 0 73' },
  ],
  // inspect explain doctor create force step adopt bypass clear clear-all orphaned
  'task folder': [
    { when: ['missing', 'empty'], hook: '-- -----', codes: '0 0 0 0 0 1 1 1 0 0 0' },
    { when: NO_FOLDER, hook: '-- -----', codes: '0 0 0 73 73 1 1 1 0 0 0' },
    { when: ['huge', ...ROOTS_OWN, 'future'], hook: 'c- BBn--', codes: '0 0 0 0 0 0 0 0 0 0 0' },
    // The only case without a notice: to the launcher's shell such a folder looks empty, and testing the rights of each
    // folder would cost time at every stop of every project. With another marker, the Node hook starts and reports it.
    { when: ['unreadable'], hook: '-- -----', codes: '0 0 1 73 73 73 73 73 73 73 0' },
    { when: ['not writable'], hook: 'c- nnnnn', codes: '0 0 1 73 73 73 73 73 73 73 0' },
  ],
  // inspect explain doctor create force step adopt bypass clear clear-all orphaned logs
  'specs folder': [
    // Something other than a folder does not make a root.
    { when: ['missing', ...NO_FOLDER], hook: '-- -----', codes: '0 0 1 73 73 1 1 1 0 0 0 1' },
    { when: ['empty'], hook: '-- -----', codes: '0 0 0 0 0 1 1 1 0 0 0 0' },
    { when: ['huge', 'not writable', ...ROOTS_OWN, 'future'], hook: 'c- BBn--', codes: '0 0 0 0 0 0 0 0 0 0 0 0' },
    { when: ['unreadable'], hook: '-- nnnnn', codes: '0 0 1 73 73 65 65 65 65 73 65 65' },
  ],
}

export interface Cell {
  readonly subject: Subject
  readonly corruption: Corruption
  readonly hook: string
  readonly codes: Readonly<Partial<Record<Command, string>>>
}

export function listCells(): Cell[] {
  return (Object.keys(TABLE) as Subject[]).flatMap((subject) =>
    TABLE[subject].flatMap(({ when, hook, codes }) => {
      const given = codes.split(' ')
      const byCommand = Object.fromEntries(SUBJECTS[subject].commands.map((command, index) => [command, given[index]]))
      return when.map((corruption) => ({ subject, corruption, hook, codes: byCommand as Cell['codes'] }))
    }),
  )
}
