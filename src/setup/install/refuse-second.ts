import fs from 'node:fs'
import path from 'node:path'
import { hookHost } from '../../hosts/hook-hosts.ts'
import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { type CommandContext, displayPath } from '../../project/command-context.ts'
import { distinctFiles } from '../settings-paths.ts'
import type { Target } from './target.ts'
import { enabledPlugin, hookHostPlaces, type SettingsPlace, settingsPlaces } from './wiring.ts'

/** Refuses to wire the hook a second time: hosts run each entry, and each stop would use several continuations. */

/** @throws {PostflightError} `already-wired`, which names the other place and the command that removes it there. */
export function refuseSecond(context: CommandContext, { project, files, entry }: Target): void {
  const places = settingsPlaces(context, project)
  const plugin = enabledPlugin(places)?.name ?? ownPlugin(context)
  if (plugin !== undefined) refuse('plugin', plugin, `claude plugin uninstall ${plugin}`)
  const wired = places.filter(({ commands }) => commands.length > 0)
  const isWished = ({ file }: SettingsPlace): boolean => files.some((one) => distinctFiles([file, one]).length === 1)
  for (const place of wired.filter((one) => !isWished(one))) {
    // Claude Code runs the same command once if settings list it twice (2.1.329); other hosts run both.
    const isSame = place.commands.every(({ command }) => command.startsWith(entry))
    if (isSame && wired.some(isWished)) continue
    const where = displayPath(context, place.file)
    refuse(isSame ? 'same-command' : 'settings', where, `postflight uninstall --scope ${place.scope}`)
  }
}

/** Refuses a second scope of another host, which would run both hooks. @throws {PostflightError} `already-wired`. */
export function refuseOtherScope(context: CommandContext, name: string, { files, project }: Target): void {
  const host = hookHost(name)
  if (host === undefined) return
  const places = hookHostPlaces(context, host, project)
  const other = places.find(({ file, commands }) => !files.includes(file) && commands.length > 0)
  if (other === undefined) return
  refuse('scope', displayPath(context, other.file), `postflight uninstall --host ${name} --scope ${other.scope}`)
}

/** The name of the plugin whose own CLI this is: `--plugin-dir` is recorded in no settings. */
function ownPlugin({ packageFolder }: CommandContext): string | undefined {
  return fs.existsSync(path.join(packageFolder, '.claude-plugin', 'plugin.json')) ? 'postflight-guard' : undefined
}

function refuse(wiredBy: ErrorArguments['already-wired']['wiredBy'], where: string, command: string): never {
  throw new PostflightError('already-wired', { where, wiredBy, command })
}
