import type { CommandContext } from '../../project/command-context.ts'
import { findEntries } from '../claude-hooks.ts'
import { projectFolder } from '../install/host-entry.ts'
import { hooksDisabledIn, settingsPlaces } from '../install/wiring.ts'
import { isReactiveHook } from '../reactive/reactive-hooks.ts'
import { HOOK_FINDINGS } from './doctor-messages.ts'
import { type DoctorFinding, good } from './finding.ts'

/**
 * Lists the reactive rules in Claude Code's settings. They do not depend on the hook, so they do not show whether it
 * works.
 */
export function checkReactive(context: CommandContext): DoctorFinding[] {
  const places = settingsPlaces(context, projectFolder(context))
  if (hooksDisabledIn(places) !== undefined) return []
  return places.flatMap(({ text, file, fault }) => {
    if (text === undefined || fault !== undefined) return []
    const count = findEntries(text, file, isReactiveHook).length
    return count === 0 ? [] : [good('settings', HOOK_FINDINGS.reactive(count, file))]
  })
}
