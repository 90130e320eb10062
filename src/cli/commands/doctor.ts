import { REACH_FINDINGS } from '../../core/messages/doctor.ts'
import { inLine } from '../../core/text.ts'
import { type CommandContext, type CommandResult, findCommandRoot } from '../context.ts'
import { checkSettings } from '../doctor/claude-settings.ts'
import { checkGit } from '../doctor/git.ts'
import { checkHook } from '../doctor/hook.ts'
import { checkHookHosts, checkUnsupportedHosts } from '../doctor/hook-hosts.ts'
import { checkMarkers, checkStrays } from '../doctor/markers.ts'
import { checkOpenCode } from '../doctor/opencode.ts'
import { checkReach, needsNpx } from '../doctor/reach.ts'
import { checkReactive } from '../doctor/reactive.ts'
import { checkRoot } from '../doctor/root.ts'
import { checkLostRuns, checkRuns } from '../doctor/runs.ts'
import { checkShellHook } from '../doctor/shell-hook.ts'
import type { DoctorDocument } from '../documents/doctor.ts'
import type { Painter } from '../painter.ts'

/**
 * `postflight doctor`: checks the installation, and looks for markers that will never be cleared. It runs the checks of
 * `../doctor/` and prints their findings.
 */

export async function doctor(context: CommandContext, paint: Painter): Promise<CommandResult<DoctorDocument>> {
  const root = findCommandRoot(context)
  const openCode = checkOpenCode(context)
  const hookHosts = checkHookHosts(context)
  const settings = checkSettings(context, openCode.length + hookHosts.length > 0)
  const isWired = [...settings, ...hookHosts, ...openCode].some(({ ok }) => ok)
  const findings = [
    ...settings,
    ...hookHosts,
    ...checkUnsupportedHosts(context),
    ...openCode,
    ...checkReactive(context),
    ...checkShellHook(context),
    ...checkHook(context),
    // If nothing is installed, installing comes first.
    ...(isWired ? [checkReach(context)] : []),
    checkRoot(context, root),
    ...(root === undefined
      ? []
      : [
          ...checkGit(root),
          ...checkMarkers(context, root),
          ...checkRuns(root, context.nowMs),
          ...(await checkStrays(root)),
        ]),
    ...checkLostRuns(context),
  ]
  const wrong = findings.filter((finding) => !finding.ok)
  return {
    exitCode: wrong.length > 0 ? 1 : 0,
    data: { root: root ?? null, findings },
    lines: [
      ...findings.flatMap(({ ok, what, fix }) => [
        `${ok ? paint.green('✓') : paint.red('✗')} ${inLine(what)}`,
        ...(fix === null ? [] : [`  → ${inLine(fix)}`]),
      ]),
      ...(wrong.some(({ fix }) => fix?.startsWith('postflight ')) && needsNpx(context) ? [REACH_FINDINGS.typeNpx] : []),
    ],
  }
}
