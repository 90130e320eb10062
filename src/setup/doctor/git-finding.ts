import { shellWord } from '../../kernel/text.ts'
import { ownFilesNotIgnored, trackedFiles } from '../install/git.ts'
import { GIT_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding } from './finding.ts'

/** Checks that git neither tracks our files nor would add them. */

/** The files that git must not track, relative to the root. */
const PATTERNS = ['specs/**/.postflight-*', 'specs/**/.postflight-*/**', 'specs/.postflight/**']

/** The command that adds our lines to `.gitignore`, and nothing else. */
const ADD_LINES = 'postflight init --yes --skip hook --skip permissions --skip skill'

/** At most this many tracked files are named in a fix. */
const MAX_NAMED = 20

/** Checks the root's repository. Without one, and without git, there is nothing to find. */
export function checkGit(root: string): DoctorFinding[] {
  const missing = ownFilesNotIgnored(root) ?? []
  const tracked = trackedFiles(root, PATTERNS)
  const named = tracked.slice(0, MAX_NAMED).map(shellWord).join(' ')
  return [
    ...(missing.length === 0 ? [] : [bad('git', GIT_FINDINGS.notIgnored(missing[0] as string), ADD_LINES)]),
    ...(tracked.length === 0 ? [] : [bad('git', GIT_FINDINGS.tracked(tracked), `git rm -q --cached ${named}`)]),
  ]
}
