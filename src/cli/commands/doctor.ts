import { inLine } from '../../kernel/text.ts'
import { findCommandRoot, projectFolder } from '../../project/command-context.ts'
import { checkReach, checkSettings, npxNote } from '../../setup/doctor/claude-findings.ts'
import * as hosts from '../../setup/doctor/host-findings.ts'
import * as projects from '../../setup/doctor/project-findings.ts'
import * as field from '../../views/documents.ts'
import type { Declaration, Run } from '../command.ts'

export const declaration = {
  free: true,
  description: 'check the installation and the markers; every problem comes with its fix',
  examples: ['doctor', 'doctor --json'],
  declare: (command) => command,
} satisfies Declaration

export const document = () =>
  field.object({
    root: field.optionalText('The folder that holds specs/; null if there is none.'),
    findings: field.objects({
      check: field.oneOf(['settings', 'hook', 'plugin', 'cli', 'root', 'git', 'marker', 'done', 'workflow']),
      ok: field.flag('False for a problem.'),
      what: field.text('The finding.'),
      fix: field.optionalText('How to fix it: a command, or what to do by hand.'),
    }),
  })

export const run: Run<typeof declaration, typeof document> = async (context) => {
  const root = findCommandRoot(context)
  const project = projectFolder(context)
  const openCode = hosts.checkOpenCode(context, project)
  const hookHosts = hosts.checkHookHosts(context, project)
  const isOfOthers = openCode.length + hookHosts.length > 0
  const settings = checkSettings(context, project, isOfOthers)
  const isWired = [...settings, ...hookHosts, ...openCode].some(({ ok }) => ok)
  const findings = [
    ...settings,
    ...hookHosts,
    ...hosts.checkUnsupportedHosts(context, project),
    ...openCode,
    ...hosts.checkReactive(context, project),
    // Without the hook it may be the only guard.
    ...(isWired ? hosts.checkShellHook(context, project) : []),
    ...hosts.checkHook(context),
    // If nothing is installed, installing comes first.
    ...(isWired ? [checkReach(context, project)] : []),
    projects.checkRoot(context, root),
    ...(root === undefined
      ? []
      : [
          ...projects.checkGit(context, root, isWired || isOfOthers),
          ...(await projects.checkDone(context, root)),
          ...projects.checkMarkers(context, root),
          ...projects.checkRuns(context, root),
          ...(await projects.checkStrays(root)),
        ]),
  ]
  const wrong = findings.filter((finding) => !finding.ok)
  const note = wrong.some(({ fix }) => fix?.includes('postflight ')) ? npxNote(context) : undefined
  return {
    exitCode: wrong.length > 0 ? 1 : 0,
    data: { root: root ?? null, findings },
    lines: [
      ...findings.flatMap(({ ok, what, fix }) => [
        `${ok ? context.paint.green('✓') : context.paint.red('✗')} ${inLine(what)}`,
        ...(fix === null ? [] : [`  → ${inLine(fix)}`]),
      ]),
      ...(note === undefined ? [] : [note]),
    ],
  }
}
