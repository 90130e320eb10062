export const RESTART = 'Restart running sessions to use it'

export function notPortable(personalScope: string): string {
  return `This entry names a path on this machine: for shared settings, make postflight-guard a dev dependency of the project, or use --scope ${personalScope}`
}

export const SHARED_WITH_CLAUDE = 'Claude Code and Copilot CLI both read this file'

export function initQuestion(part: string, isRepeated = false): string {
  return `   ${isRepeated ? 'Please answer y or n. ' : ''}${part === 'shell-hook' ? 'Remove this' : 'Write this'}? [Y/n] `
}
