export const RESTART = 'Restart running sessions to use it'

export function notPortable(personalScope: string): string {
  return `This entry names a path on this machine: for shared settings, make postflight-guard a dev dependency of the project, or use --scope ${personalScope}`
}

export const SHARED_WITH_CLAUDE = 'Claude Code and Copilot CLI both read this file'

export function initQuestion(part: string, isRepeated = false): string {
  return `   ${isRepeated ? 'Please answer y or n. ' : ''}${part === 'shell-hook' ? 'Remove this' : 'Write this'}? [Y/n] `
}

/** The parts of `init`. */
export const PART_TITLES = {
  hook: 'the hook',
  'shell-hook': 'the entry of a shell hook',
  permissions: 'permission rules',
  gitignore: 'lines for git',
  skill: 'a skill',
  done: 'a definition of done',
} as const
