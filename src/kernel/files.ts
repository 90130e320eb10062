/** Names of files that postflight-guard reads and writes. They never change: other programs and skills rely on them. */

/** The folder that makes its parent a root. */
export const SPECS_FOLDER = 'specs'

/** In a task folder, or in `specs/` itself (the old global place). */
export const MARKER_FILE = '.postflight-pending'
/** One integer, for `cat`: the used continuations. It mirrors the claims, and the count never falls below it. */
export const LOOP_GUARD_FILE = '.postflight-loop-guard'
/** The new name of a marker whose continuations are used up. */
export const ABANDONED_FILE = '.postflight-abandoned'
/** One exclusively created file for each continuation. No stop is blocked without its claim. */
export const CLAIMS_FOLDER = '.postflight-claims'
/** For rewriting or removing a marker; held for milliseconds. */
export const LOCK_FILE = '.postflight-lock'
/** The lock of a process that runs a marker's checks; it is touched as long as they run. */
export const CHECKING_FILE = '.postflight-checking'
/** The copy of a marker that did not parse, made before the marker is replaced or removed. */
export const UNPARSED_FILE = '.postflight-unparsed'
/** A file that a sub-agent leaves for its caller; `clear --return-meta` removes it. */
export const RETURN_META_FILE = '.return-meta.json'

/** In `specs/`. */
export const JOURNAL_FOLDER = '.postflight'
/** The markers below it are those of definitions of done. */
export const JOURNAL_PATH = `${SPECS_FOLDER}/${JOURNAL_FOLDER}`
export const JOURNAL_FILE = 'journal.jsonl'
/** The one old file that rotation keeps. */
export const OLD_JOURNAL_FILE = 'journal.old.jsonl'
/** Beside the journal: a note for each task folder whose marker was given up. */
export const GIVEN_UP_FOLDER = 'given-up'
/** Beside the journal: the run file of each running workflow. */
export const RUNNING_FOLDER = 'running'
/** Beside the journal: the reports of sub-agents that were blocked. */
export const REPORTS_FOLDER = 'reports'
/** Beside the journal: prefix of the session folders. */
export const DONE_FOLDER_PREFIX = 'done-'
export const DONE_RECEIPTS_FILE = 'done-receipts.json'

/** The definition of done, in `specs/`. */
export const DONE_FILE = 'done.yaml'
export const DONE_PATH = `${SPECS_FOLDER}/${DONE_FILE}`

/** The folder of a run, in its task folder. */
export const WORKFLOW_FOLDER = 'workflow'
/** It moves with the folder. */
export const RUN_ID_FILE = 'workflow/id'
export const RUN_STATE_FILE = 'workflow/state.json'
/** The remote to which a run is published, and the last commit there. */
export const RUN_SHARE_FILE = 'workflow/shared.json'
export const RUN_HISTORY_FILE = 'workflow/history.jsonl'

/** In a task folder: what runs archive. */
export const ARTIFACTS_FOLDER = 'artifacts'
export const CHECKS_FOLDER = 'checks'
export const STEP_RESULTS_FOLDER = 'step-results'
/** In a task folder: the files of earlier runs. */
export const EARLIER_RUNS_FOLDER = 'workflow-runs'

/** Links are not followed; `other` is a device or a socket. */
export type PathKind = 'file' | 'folder' | 'link' | 'pipe' | 'other'
