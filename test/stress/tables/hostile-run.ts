/** Asks the hook what a host asks in a session, and pastes what it prints into a shell. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { subagentStop } from '../../support/payloads.ts'
import { lineProblem } from './fuzz.ts'
import { contents, hostEnvironment, hostPayloads, printedCommand, printedFallback, printProblems } from './hostile.ts'
import { limitMs, makeSandbox, type PackageCopy, type Sandbox } from './sandbox.ts'

/** The answers to every payload of a session, through the launcher; anything that is wrong is thrown. */
export async function askAll(
  sandbox: Sandbox,
  pack: PackageCopy,
  env: Readonly<Record<string, string>>,
  transcript?: string,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const { name, words, payload } of hostPayloads(sandbox.project, transcript)) {
    const run = await sandbox.run(pack.launcher, words, { input: JSON.stringify(payload), env })
    const problems = [lineProblem(run.stdout), ...printProblems(run)].filter((problem) => problem !== undefined)
    if (run.status !== 0) problems.push(`exit code ${run.status}`)
    if (run.durationMs > limitMs(5000)) problems.push(`took ${run.durationMs} ms`)
    if (run.stderr.split('\n').length > 25) problems.push('floods stderr')
    if (problems.length > 0) throw new Error(`${name}: ${problems.join('; ')}`)
    answers[name] = run.stdout.trim()
  }
  return answers
}

/** What the noting `postflight` wrote: how many words, and each in angle brackets. */
export function readWords(text: string): string[] {
  const [count = '0', ...rest] = text.split('\n')
  const words = [...rest.join('\n').matchAll(/<([\s\S]*?)>(?:\n|$)/g)].map((match) => String(match[1]))
  if (words.length !== Number(count)) throw new Error(`${count} words: ${text}`)
  return words
}

/** Lets a folder of that name block a stop, pastes the command that clears it into sh, and says what came of it. */
export async function clearAsPrinted(pack: PackageCopy, name: string, form: 'postflight' | 'node') {
  const sandbox = makeSandbox()
  try {
    const env = hostEnvironment(sandbox, pack)
    // Elsewhere than in the root, so that the command says --root, in a folder whose name hurts as well.
    const start = sandbox.at("it's $(touch y)")
    mkdirSync(start)
    const folder = sandbox.at('specs', name)
    mkdirSync(folder)
    writeFileSync(join(folder, '.postflight-pending'), JSON.stringify({ reason: 'Mine.', steps: ['one'] }))
    mkdirSync(sandbox.at('specs', '001_other'))
    writeFileSync(sandbox.at('specs', '001_other', '.postflight-pending'), '{ "cc_session_id": "another" }')
    sandbox.hand()
    const problems: string[] = []
    const program = form === 'node' ? { ...env, PATH: '/usr/local/bin:/usr/bin:/bin' } : env
    const input = JSON.stringify(subagentStop({ cwd: start }))
    const stop = await sandbox.run(pack.launcher, [], { input, env: program })
    problems.push(...printProblems(stop))
    const { reason = '' } = JSON.parse(stop.stdout) as { reason?: string }
    const command = form === 'node' ? printedFallback(reason) : printedCommand(reason)
    if (command === '') problems.push(`no command in ${JSON.stringify(reason)}`)
    const before = contents(sandbox)

    const pasted = await sandbox.run('/bin/sh', ['-c', command], { env, cwd: start })

    problems.push(...printProblems(pasted))
    if (pasted.status !== 0) problems.push(`exit code ${pasted.status}: ${pasted.stderr} of ${JSON.stringify(command)}`)
    const after = contents(sandbox)
    const gone = Object.keys(before).filter((one) => after[one] === undefined)
    const come = Object.keys(after).filter((one) => before[one] === undefined)
    const ours = `/specs/${name}/.postflight-`
    if (!gone.includes(`${ours}pending`)) problems.push(`not cleared by ${JSON.stringify(command)}: ${pasted.stdout}`)
    problems.push(...gone.filter((one) => !one.startsWith(ours)).map((one) => `gone: ${one}`))
    problems.push(...come.map((one) => `made: ${one}`))
    const words = join(sandbox.env.HOME ?? '', 'words')
    return {
      problems,
      words: existsSync(words) ? readFileSync(words, 'utf8') : '',
      // Control characters are never printed.
      printable: name.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ''),
    }
  } finally {
    sandbox.remove()
  }
}
