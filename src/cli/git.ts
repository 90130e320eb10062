import { spawnSync } from 'node:child_process'
import path from 'node:path'

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

/** The given paths, relative to `folder`, that git does not ignore; undefined if git gives no answer. */
export function notIgnored(folder: string, paths: readonly string[]): string[] | undefined {
  const ignored = askGit(folder, ['check-ignore', '--no-index', '--stdin', '-z'], `${paths.join('\0')}\0`)
  if (ignored === undefined) return undefined
  const names = ignored.split('\0')
  return paths.filter((one) => !names.includes(one))
}

/** The files that git tracks below `folder` and that match one of the patterns, relative to it. */
export function trackedFiles(folder: string, patterns: readonly string[]): string[] {
  const listed = askGit(folder, ['ls-files', '-z', '--cached', '--', ...patterns.map((one) => `:(glob)${one}`)])
  return (listed ?? '').split('\0').filter((name) => name !== '')
}

/** Files of ours, one of each kind, that git should ignore, relative to the root. */
export const OWN_FILES = [
  'specs/.postflight-pending',
  'specs/259_x/.postflight-pending',
  'specs/.postflight/journal.jsonl',
  path.posix.join('.claude', 'settings.json.postflight-backup'),
]
