/** What `install` and `uninstall` print. */

/** The hook for Claude Code, or the plugin for OpenCode. */
type Installed = 'hook' | 'plugin'

export const INSTALL_TEXT = {
  installed: (what: Installed, file: string, isDryRun: boolean): string =>
    `${isDryRun ? 'Would install' : 'Installed'} the ${what} in ${file}`,
  alreadyInstalled: (what: Installed, file: string): string => `The ${what} is already in ${file}`,
  backup: (file: string): string => `Backup: ${file}`,
  restart: 'Restart running sessions to use it',
  notPortable: (personalScope: string): string =>
    `This entry names a path on this machine: for shared settings, make postflight-guard a dev dependency of the project, or use --scope ${personalScope}`,
  removed: (what: Installed, file: string, isDryRun: boolean): string =>
    `${isDryRun ? 'Would remove' : 'Removed'} the ${what} from ${file}`,
  removedFile: (file: string, isDryRun: boolean): string =>
    `${isDryRun ? 'Would remove' : 'Removed'} ${file}: it held nothing else`,
  notInstalled: (what: Installed, files: readonly string[]): string => `The ${what} is not in ${files.join(' or ')}`,
} as const
