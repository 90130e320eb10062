/** Runs git in throw-away folders, without the configuration of the machine or the user. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
} as const

export function git(folder: string, ...words: string[]): string {
  const settings = ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', '-c', 'gc.auto=0']
  const run = spawnSync('git', [...settings, ...words], { cwd: folder, env: ENVIRONMENT, encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`git ${words.join(' ')}: ${run.error?.message ?? run.stderr}`)
  return run.stdout
}

export function initRepository(folder: string, ...words: string[]): void {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q', ...words)
}
