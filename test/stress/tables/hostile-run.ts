/** Sends the hook the payloads of a session, and pastes the commands that it prints into a shell. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { subagentStop } from '../../support/payloads.ts'
import type { ProcessResult } from '../../support/process.ts'
import { lineProblem } from './fuzz.ts'
import { contents, hostEnvironment, hostPayloads, printedCommand, printedFallback, printProblems } from './hostile.ts'
import { makeSandbox, type PackageCopy, type Sandbox, tookTooLong } from './sandbox.ts'

type RunHook = (words: readonly string[], options: { readonly input: string }) => Promise<ProcessResult>

/** The launcher's answers to every payload of a session. @throws {Error} for any problem. */
export function askAll(
  sandbox: Sandbox,
  pack: PackageCopy,
  env: Readonly<Record<string, string>>,
  transcript?: string,
): Promise<Record<string, string>> {
  return askHook(sandbox, (words, { input }) => sandbox.run(pack.launcher, words, { input, env }), transcript)
}

export async function askHook(
  sandbox: Sandbox,
  runHook: RunHook,
  transcript?: string,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const { name, words, payload } of hostPayloads(sandbox.project, transcript)) {
    const run = await runHook(words, { input: JSON.stringify(payload) })
    const problems = [lineProblem(run.stdout), ...printProblems(run)].filter((problem) => problem !== undefined)
    if (run.status !== 0) problems.push(`exit code ${run.status}`)
    if (tookTooLong(run.durationMs, 5000)) problems.push(`took ${run.durationMs} ms`)
    if (run.stderr.split('\n').length > 25) problems.push('floods stderr')
    if (problems.length > 0) throw new Error(`${name}: ${problems.join('; ')}`)
    answers[name] = run.stdout.trim()
  }
  return answers
}

/** The arguments that the recording `postflight` wrote: their number, then each in angle brackets. */
export function readWords(text: string): string[] {
  const [count = '0', ...rest] = text.split('\n')
  const words = [...rest.join('\n').matchAll(/<([\s\S]*?)>(?:\n|$)/g)].map((match) => String(match[1]))
  if (words.length !== Number(count)) throw new Error(`${count} words: ${text}`)
  return words
}

/** Blocks a stop with a marker in a folder of that name, and pastes the printed clear command into sh. Returns the problems. */
export async function clearAsPrinted(pack: PackageCopy, name: string, form: 'postflight' | 'node') {
  const sandbox = makeSandbox()
  try {
    const env = hostEnvironment(sandbox, pack)
    // Not the root, so that the command needs --root, and a hostile name too.
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
    if (command === '') problems.push(`no clear command in ${JSON.stringify(reason)}`)
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
    problems.push(...come.map((one) => `created: ${one}`))
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
