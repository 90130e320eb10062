import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { shellWord } from '../../core/text.ts'
import type { CommandContext } from '../context.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/** Is the hook built and executable, and does it answer? Starts it, with an event of nobody's. */
export function checkHook({ packageFolder, platform }: CommandContext): DoctorFinding[] {
  const bundle = path.join(packageFolder, 'dist', 'hook.js')
  const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
  if (!fs.existsSync(bundle))
    return [bad('hook', `${bundle} is missing`, 'npm run build, or install the package again')]
  const findings: DoctorFinding[] = []
  if (platform !== 'win32') {
    try {
      fs.accessSync(launcher, fs.constants.X_OK)
    } catch {
      findings.push(bad('hook', `${launcher} is not executable`, `chmod +x ${shellWord(launcher)}`))
    }
  }
  // The bundle itself: the launcher would hide that it is broken.
  const run = spawnSync(process.execPath, [bundle, '--root', packageFolder], {
    // An event of nobody's: a stop would be counted, here and wherever this environment leads the hook.
    input: '{"hook_event_name":"doctor"}',
    encoding: 'utf8',
    timeout: 10_000,
    cwd: packageFolder,
  })
  if (run.status === 0 && run.stdout.trim() !== '')
    findings.push(good('hook', `the hook answers: ${run.stdout.trim().slice(0, 80)}`))
  else
    findings.push(
      bad(
        'hook',
        `the hook does not answer (${run.error?.message ?? run.stderr.trim()})`,
        'see that `node` is on the PATH of your agent',
      ),
    )
  return findings
}
