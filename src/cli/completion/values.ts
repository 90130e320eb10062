import { HOST_TITLES } from '../../hosts/hook-hosts.ts'

/** The values of options and arguments that take one of a few values. Arguments are in angle brackets. */
export const COMPLETION_VALUES: Readonly<Record<string, readonly { value: string; description: string }[]>> = {
  '--scope': [
    { value: 'project', description: 'shared with everyone who works on the project' },
    { value: 'local', description: 'yours, in this project' },
    { value: 'user', description: 'yours, in all projects' },
  ],
  '--host': Object.entries(HOST_TITLES).map(([value, description]) => ({ value, description })),
  '--skip': [
    { value: 'hook', description: 'the entries in the settings' },
    { value: 'shell-hook', description: 'the question about a shell hook' },
    { value: 'permissions', description: 'the permission rules' },
    { value: 'gitignore', description: 'the lines of .gitignore' },
    { value: 'skill', description: 'the skill that teaches the protocol' },
  ],
  '--agent': [{ value: 'main', description: 'the main conversation' }],
  '<shell>': [
    { value: 'bash', description: 'completion for bash' },
    { value: 'zsh', description: 'completion for zsh' },
    { value: 'fish', description: 'completion for fish' },
  ],
}
