import fs from 'node:fs'
import path from 'node:path'
import type { CommandContext } from './context.ts'
import { standardError, standardOutput } from './output.ts'
import { buildProgram } from './program.ts'
import { asPostflightError, painterFor, printError, printResult } from './report.ts'
import { processScreen } from './screen.ts'
import { asUsageError } from './usage-error.ts'

/** The CLI's entry: reads the world, runs the program, and is the one catch that turns errors into exit codes. */

/** dist/cli/cli.js lies two folders below the package. */
const packageFolder = path.resolve(import.meta.dirname, '..', '..')

async function main(): Promise<void> {
  const program = buildProgram({
    version: JSON.parse(fs.readFileSync(path.join(packageFolder, 'package.json'), 'utf8')).version,
    stdout: standardOutput,
    stderr: standardError,
    run: async (action) => {
      const { json, quiet } = program.opts()
      const result = await action(
        contextOf(program.opts().root),
        await painterFor(standardOutput, process.env.NO_COLOR),
      )
      printResult(result, { json: json === true, quiet: quiet === true }, standardOutput)
      process.exitCode = result.exitCode
    },
    follow: async (count) => {
      const { followLogs } = await import('./commands/logs.ts')
      const { json, root } = program.opts()
      await followLogs(contextOf(root), { count }, processScreen(standardOutput, process.env.TERM), json === true)
    },
    watch: async (task) => {
      const { watchStatus } = await import('./commands/workflow/status-watch.ts')
      const { json, quiet, root } = program.opts()
      await watchStatus({
        contextNow: () => contextOf(root),
        task,
        paint: await painterFor(standardOutput, process.env.NO_COLOR),
        options: { json: json === true, quiet: quiet === true },
        screen: processScreen(standardOutput, process.env.TERM),
      })
    },
  })
  try {
    await program.parseAsync()
  } catch (error) {
    const usage = asUsageError(error, program, process.argv.slice(2))
    if (usage === 'done') return
    const json = process.argv.includes('--json')
    process.exitCode = printError(usage ?? asPostflightError(error), json, standardOutput, standardError)
  }
}

function contextOf(rootOption: string | undefined): CommandContext {
  return {
    environment: process.env,
    cwd: process.cwd(),
    nowMs: Date.now(),
    rootOption,
    packageFolder,
    findHome: () => process.getBuiltinModule('node:os').homedir(),
    platform: process.platform,
    note: (text) => standardError.write(`${text}\n`),
  }
}

void main()
