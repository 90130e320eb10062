/**
 * The names of the files that postflight-guard reads and writes (DESIGN sections 2, 6 and 10).
 * Other programs and skills rely on them: they never change.
 */

/** The folder that makes its parent a root. */
export const SPECS_FOLDER = 'specs'

/** "Postflight is pending": in a task folder, or in `specs/` itself (the old global place). */
export const MARKER_FILE = '.postflight-pending'

/** One integer for `cat`: the continuations spent. A view of the claims, and a floor under them. */
export const LOOP_GUARD_FILE = '.postflight-loop-guard'

/** What a marker is renamed to when its continuations are spent. */
export const ABANDONED_FILE = '.postflight-abandoned'

/** One exclusively created file per continuation: the count that a block stands on. */
export const CLAIMS_FOLDER = '.postflight-claims'

/** Held for milliseconds by whoever rewrites or removes a marker. */
export const LOCK_FILE = '.postflight-lock'

/** Where the text of a marker that did not parse is kept before it is replaced or removed. */
export const UNPARSED_FILE = '.postflight-unparsed'

/** What a sub-agent leaves for its caller; `clear --return-meta` removes it. */
export const RETURN_META_FILE = '.return-meta.json'

/** Folder of the journal, inside `specs/`. */
export const JOURNAL_FOLDER = '.postflight'

/** The journal and the one old file that rotation keeps. */
export const JOURNAL_FILE = 'journal.jsonl'
export const OLD_JOURNAL_FILE = 'journal.old.jsonl'
