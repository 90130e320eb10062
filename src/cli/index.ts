import fs from 'node:fs'
import path from 'node:path'
import type { CommandContext } from './context.ts'
import { standardError, standardOutput } from './output.ts'
import { asUsageError, buildProgram } from './program.ts'
import { asPostflightError, jsonText, painterFor, printError, printResult } from './report.ts'

/** The CLI's entry: reads the world, runs the program, and is the one catch that turns errors into exit codes. */

/** How often (ms) `workflow status --watch` looks. */
const WATCH_MS = 500

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
    follow: async (json) => {
      const { followLogs } = await import('./commands/logs.ts')
      const stopped = new Promise<void>((resolve) => process.once('SIGINT', () => resolve()))
      const print = (line: string, entry: object): void => {
        standardOutput.write(`${json ? jsonText(entry) : line}\n`)
      }
      await followLogs(contextOf(program.opts().root), print, stopped)
    },
    watch: async (task) => {
      const { status } = await import('./commands/workflow/look.ts')
      const { json, quiet, root } = program.opts()
      let shown = ''
      let stopped = false
      process.once('SIGINT', () => {
        stopped = true
      })
      while (!stopped) {
        const result = status(contextOf(root), await painterFor(standardOutput, process.env.NO_COLOR), task)
        // What an age alone changes is no news.
        const text = JSON.stringify(result.data).replace(/"age_ms":-?\d+/g, '')
        if (text !== shown) printResult(result, { json: json === true, quiet: quiet === true }, standardOutput)
        shown = text
        await new Promise((resolve) => setTimeout(resolve, WATCH_MS))
      }
    },
  })
  try {
    await program.parseAsync()
  } catch (error) {
    const usage = asUsageError(error)
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
