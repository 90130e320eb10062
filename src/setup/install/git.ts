import { spawnSync } from 'node:child_process'

/** Asks git about a project's files. */

/** A repository's configuration may name programs. These are the ones that the commands below would start. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.untrackedCache=false']

/** git's answer; undefined if git is missing, or the folder is not in a working tree. */
function askGit(folder: string, words: readonly string[], input?: string): string | undefined {
  const run = spawnSync('git', [...SAFE, ...words], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 10_000,
    input: input ?? '',
  })
  // 1: `check-ignore` found none.
  return run.status === 0 || run.status === 1 ? run.stdout : undefined
}

/** Files of ours, one of each kind, that git should ignore, relative to the root. */
const OWN_FILES = [
  'specs/.postflight-pending',
  'specs/259_x/.postflight-pending',
  'specs/.postflight/journal.jsonl',
  '.claude/settings.json.postflight-backup',
]

/** Those of our files that git does not ignore in a project; undefined if git gives no answer. */
export function ownFilesNotIgnored(project: string): string[] | undefined {
  const ignored = askGit(project, ['check-ignore', '--no-index', '--stdin', '-z'], `${OWN_FILES.join('\0')}\0`)
  if (ignored === undefined) return undefined
  const names = ignored.split('\0')
  return OWN_FILES.filter((one) => !names.includes(one))
}

/** The files that git tracks below `folder` and that match one of the patterns, relative to it. */
export function trackedFiles(folder: string, patterns: readonly string[]): string[] {
  const listed = askGit(folder, ['ls-files', '-z', '--cached', '--', ...patterns.map((one) => `:(glob)${one}`)])
  return (listed ?? '').split('\0').filter((name) => name !== '')
}
