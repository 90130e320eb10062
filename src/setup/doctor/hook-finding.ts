import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { shellWord } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { HOOK_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/** Checks that the hook is built and executable, and that it answers: starts it with an event that it ignores. */
export function checkHook({ packageFolder, platform }: CommandContext): DoctorFinding[] {
  const bundle = path.join(packageFolder, 'dist', 'hook.js')
  const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
  if (!fs.existsSync(bundle)) return [bad('hook', HOOK_FINDINGS.missing(bundle), HOOK_FINDINGS.rebuild)]
  const findings: DoctorFinding[] = []
  if (platform !== 'win32') {
    try {
      fs.accessSync(launcher, fs.constants.X_OK)
    } catch {
      findings.push(bad('hook', HOOK_FINDINGS.notExecutable(launcher), `chmod +x ${shellWord(launcher)}`))
    }
  }
  // The bundle itself, because the launcher hides a broken bundle.
  const run = spawnSync(process.execPath, [bundle, '--root', packageFolder], {
    // Not a stop, which would be counted in every root that this environment leads to.
    input: '{"hook_event_name":"doctor"}',
    encoding: 'utf8',
    timeout: 10_000,
    cwd: packageFolder,
  })
  const answer = run.stdout.trim()
  const isAnswer = run.status === 0 && answer !== ''
  findings.push(
    isAnswer
      ? good('hook', HOOK_FINDINGS.answers(answer.slice(0, 80)))
      : bad('hook', HOOK_FINDINGS.noAnswer(run.error?.message ?? run.stderr.trim()), HOOK_FINDINGS.checkNode),
  )
  return findings
}
