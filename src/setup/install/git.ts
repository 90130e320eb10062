import { spawnSync } from 'node:child_process'

// A folder of a clone may look like a bare repository, with a configuration of its own.
const SETTINGS = ['core.fsmonitor=false', 'core.untrackedCache=false', 'safe.bareRepository=explicit']
const SAFE = SETTINGS.flatMap((setting) => ['-c', setting])

function askGit(folder: string, words: readonly string[], input?: string): string | undefined {
  const run = spawnSync('git', [...SAFE, ...words], {
    cwd: folder,
    // In a partial clone, git may fetch what is missing, by a program that the configuration names.
    env: { ...process.env, GIT_ALLOW_PROTOCOL: '' },
    encoding: 'utf8',
    timeout: 10_000,
    // In bytes.
    maxBuffer: 67_108_864,
    input: input ?? '',
  })
  // Exit code 1: `check-ignore` found none.
  return run.status === 0 || run.status === 1 ? run.stdout : undefined
}

const OWN_FILES = [
  'specs/259_x/.postflight-pending',
  'specs/.postflight-pending',
  'specs/.postflight/journal.jsonl',
  '.claude/settings.json.postflight-backup',
]

export function ownFilesNotIgnored(project: string, others: readonly string[] = []): string[] | undefined {
  const files = [...OWN_FILES, ...others]
  const ignored = askGit(project, ['check-ignore', '--no-index', '--stdin', '-z'], `${files.join('\0')}\0`)
  if (ignored === undefined) return undefined
  const names = ignored.split('\0')
  return files.filter((one) => !names.includes(one))
}

export function trackedFiles(folder: string, patterns: readonly string[]): string[] {
  const listed = askGit(folder, ['ls-files', '-z', '--cached', '--', ...patterns.map((one) => `:(glob)${one}`)])
  return (listed ?? '').split('\0').filter((name) => name !== '')
}
