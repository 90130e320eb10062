import { inLine } from '../../kernel/text.ts'
import { type CommandContext, type CommandResult, findCommandRoot } from '../../project/command-context.ts'
import { checkReach, checkSettings, needsNpx } from '../../setup/doctor/claude-findings.ts'
import { REACH_FINDINGS } from '../../setup/doctor/doctor-messages.ts'
import {
  checkHook,
  checkHookHosts,
  checkOpenCode,
  checkReactive,
  checkShellHook,
  checkUnsupportedHosts,
} from '../../setup/doctor/host-findings.ts'
import { checkGit, checkMarkers, checkRoot, checkStrays } from '../../setup/doctor/project-findings.ts'
import { checkRuns } from '../../setup/doctor/run-findings.ts'
import type { DoctorDocument } from '../../views/documents/doctor.ts'
import type { Painter } from '../../views/print.ts'

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
