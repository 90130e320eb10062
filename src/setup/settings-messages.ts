import { inLine } from '../kernel/text.ts'

export const RESTART = 'Restart running sessions to use it'

export function notPortable(personalScope: string): string {
  return `This entry names a path on this machine: for shared settings, make postflight-guard a dev dependency of the project, or use --scope ${personalScope}`
}

export function cachedCopy(folder: string): string {
  return `Warning: the entry names ${inLine(folder)}, a cache that will be emptied: after that, no stop is blocked, and no error says so. Install a copy that stays, then run this command again: \`npm install --save-dev postflight-guard\``
}

export const SHARED_WITH_CLAUDE = 'Claude Code and Copilot CLI both read this file'

export function initQuestion(part: string, isRepeated = false): string {
  return `   ${isRepeated ? 'Please answer y or n. ' : ''}${part === 'shell-hook' ? 'Remove this' : 'Write this'}? [Y/n] `
}
